//! The C library's locks for kernel threads, as a subject of measurement.

use crate::{Result, os};

/// A number behind a `pthread_mutex_t` with the default attributes: a thread that finds it locked
/// sleeps in the kernel
/// ([pthread_mutex_lock(3p)](https://man7.org/linux/man-pages/man3/pthread_mutex_lock.3p.html)).
#[derive(Debug)]
pub struct PthreadMutex(os::lock::PthreadMutex);

/// A number behind a `pthread_spinlock_t`: a thread that finds it locked spins until it is free
/// ([pthread_spin_lock(3p)](https://man7.org/linux/man-pages/man3/pthread_spin_lock.3p.html)).
#[derive(Debug)]
pub struct PthreadSpin(os::lock::PthreadSpin);

face! {
    os::lock;

    impl PthreadMutex {
        /// An unlocked lock around `number`.
        ///
        /// # Errors
        /// If the system has no such lock.
        pub fn new(number: u64) -> Result<Self> = refuse("pthread_mutex_t");

        /// Calls `work` with the number while the lock is held. `work` must not lock it again.
        #[inline]
        pub fn with(&self, work: impl FnOnce(&mut u64));
    }

    impl PthreadSpin {
        /// An unlocked lock around `number`.
        ///
        /// # Errors
        /// If the system has no such lock.
        pub fn new(number: u64) -> Result<Self> = refuse("pthread_spinlock_t");

        /// Calls `work` with the number while the lock is held. `work` must not lock it again.
        #[inline]
        pub fn with(&self, work: impl FnOnce(&mut u64));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{PthreadMutex, PthreadSpin};
    use std::thread;

    #[test]
    fn one_thread_at_a_time_is_inside() {
        let mutex = PthreadMutex::new(0).expect("it is there");
        let spin = PthreadSpin::new(0).expect("it is there");
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        mutex.with(|count| *count += 1);
                        spin.with(|count| *count += 1);
                    }
                });
            }
        });
        mutex.with(|count| assert_eq!(*count, 3000));
        spin.with(|count| assert_eq!(*count, 3000));
    }

    #[test]
    fn a_panic_inside_frees_the_lock() {
        let mutex = PthreadMutex::new(0).expect("it is there");
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            mutex.with(|_| panic!("inside"));
        }));
        assert!(outcome.is_err());
        mutex.with(|count| assert_eq!(*count, 0));
    }
}
