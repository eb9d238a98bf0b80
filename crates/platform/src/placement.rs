//! CPU affinity and priorities of this thread, and of its memory.

pub use crate::os::placement::{
    allowed_cpus, be_ended_first, be_served_last, cpus_of_core, current_cpu, package, parent_cpus,
    pin_to, shared_cache_level,
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Placement belongs to a thread, so each test starts its own.
    fn in_a_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn a_pinned_thread_stays_and_can_go_where_its_parent_may() {
        in_a_thread(|| {
            let parent = parent_cpus().unwrap();
            for cpu in &parent {
                pin_to(&[*cpu]).unwrap();
                assert_eq!(allowed_cpus().unwrap(), [*cpu]);
                assert_eq!(current_cpu(), Some(*cpu));
                assert_eq!(parent_cpus().unwrap(), parent);
            }
            pin_to(&parent).unwrap();
            assert_eq!(allowed_cpus().unwrap(), parent);
        });
    }

    #[test]
    fn no_such_cpu_is_an_error() {
        in_a_thread(|| {
            pin_to(&[]).unwrap_err();
            pin_to(&[100_000]).unwrap_err();
        });
    }
}
