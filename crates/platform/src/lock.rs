//! The C library's locks for kernel threads, as a subject of measurement.

use std::fmt;

use crate::{Result, os};

/// A value behind a `pthread_mutex_t` with the default attributes: a thread that finds it locked
/// sleeps in the kernel
/// ([pthread_mutex_lock(3p)](https://man7.org/linux/man-pages/man3/pthread_mutex_lock.3p.html)).
pub struct PthreadMutex<T>(os::lock::Mutex<T>);

impl<T: Send> PthreadMutex<T> {
    /// An unlocked lock around `value`.
    ///
    /// # Errors
    /// If the system has no such lock.
    pub fn new(value: T) -> Result<Self> {
        os::lock::Mutex::new(value).map(Self)
    }

    /// Calls `work` with the value while the lock is held. `work` must not lock it again.
    #[inline]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        self.0.with(work)
    }
}

impl<T> fmt::Debug for PthreadMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PthreadMutex").finish_non_exhaustive()
    }
}

/// A value behind a `pthread_spinlock_t`: a thread that finds it locked spins until it is free
/// ([pthread_spin_lock(3p)](https://man7.org/linux/man-pages/man3/pthread_spin_lock.3p.html)).
pub struct PthreadSpin<T>(os::lock::Spin<T>);

impl<T: Send> PthreadSpin<T> {
    /// An unlocked lock around `value`.
    ///
    /// # Errors
    /// If the system has no such lock.
    pub fn new(value: T) -> Result<Self> {
        os::lock::Spin::new(value).map(Self)
    }

    /// Calls `work` with the value while the lock is held. `work` must not lock it again.
    #[inline]
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        self.0.with(work)
    }
}

impl<T> fmt::Debug for PthreadSpin<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PthreadSpin").finish_non_exhaustive()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{PthreadMutex, PthreadSpin};
    use std::thread;

    #[test]
    fn one_thread_at_a_time_is_inside() {
        let mutex = PthreadMutex::new(0_u64).expect("it is there");
        let spin = PthreadSpin::new(0_u64).expect("it is there");
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
        assert_eq!(mutex.with(|count| *count), 3000);
        assert_eq!(spin.with(|count| *count), 3000);
    }

    #[test]
    fn a_panic_inside_frees_the_lock() {
        let mutex = PthreadMutex::new(0_u64).expect("it is there");
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            mutex.with(|_| panic!("inside"));
        }));
        assert!(outcome.is_err());
        assert_eq!(mutex.with(|count| *count), 0);
    }
}
