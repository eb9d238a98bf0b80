//! Preemptive user-level threads.
