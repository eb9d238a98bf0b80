//! The C interface of [`uthread`]. Its manual is `include/uthread.h`, which names every function, its
//! contract and its errors; `include/uthread.hpp` wraps it for C++17.
//!
//! Functions return 0 or more, or a negative error number of errno(3). A panic ends at the interface:
//! its message goes to the standard error, and the caller gets an error number. Only
//! `uthread_exit` unwinds the caller's frames, as `pthread_exit` does in C++, and a wait of a terminated
//! thread, as in `pthread_cancel`.
//!
//! Guards of locks are forgotten, since C has no place for them: a lock knows its owner.

#![expect(
    unsafe_code,
    reason = "C passes pointers, and its functions have names without a crate"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of each function is in the header"
)]

mod call;
mod condition;
mod error;
mod held;
#[cfg(test)]
mod layout;
mod lock;
mod names;
mod outside;
mod record;
mod runtime;
mod select;
mod sharing;
mod socket;
mod synchronization;
mod thread;
mod transfer;
mod unwind;
mod values;
