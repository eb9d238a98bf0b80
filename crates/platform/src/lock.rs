//! The locks of the C library and of Windows for kernel threads, as a subject of measurement.

use crate::{Result, os};

/// A number behind a `pthread_mutex_t` with the default attributes: a thread that finds it locked
/// sleeps in the kernel
/// ([pthread_mutex_lock(3p)](https://man7.org/linux/man-pages/man3/pthread_mutex_lock.3p.html)).
pub struct PthreadMutex(os::lock::PthreadMutex);

/// A number behind a `pthread_spinlock_t`: a thread that finds it locked spins until it is free
/// ([pthread_spin_lock(3p)](https://man7.org/linux/man-pages/man3/pthread_spin_lock.3p.html)).
pub struct PthreadSpin(os::lock::PthreadSpin);

/// A number behind an `SRWLOCK`, which one thread at a time holds exclusively: a thread that finds it locked spins for
/// a moment, then sleeps in the kernel
/// ([Slim reader/writer locks](https://learn.microsoft.com/en-us/windows/win32/sync/slim-reader-writer--srw--locks)).
pub struct SlimLock(os::lock::SlimLock);

/// A number behind a `CRITICAL_SECTION`: a thread that finds it locked looks again as often as its spin count says,
/// then sleeps in the kernel
/// ([Critical section objects](https://learn.microsoft.com/en-us/windows/win32/sync/critical-section-objects)).
pub struct CriticalSection(os::lock::CriticalSection);

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

    impl SlimLock {
        /// An unlocked lock around `number`.
        ///
        /// # Errors
        /// If the system has no such lock.
        pub fn new(number: u64) -> Result<Self> = refuse("SRWLOCK");

        /// Calls `work` with the number while the lock is held. `work` must not lock it again.
        #[inline]
        pub fn with(&self, work: impl FnOnce(&mut u64));
    }

    impl CriticalSection {
        /// An unlocked lock around `number`, for which threads look `spin_count` times again before they sleep.
        ///
        /// # Errors
        /// If the system has no such lock.
        pub fn new(number: u64, spin_count: u32) -> Result<Self> = refuse("CRITICAL_SECTION");

        /// Calls `work` with the number while the lock is held. `work` panics if it locks it again.
        #[inline]
        pub fn with(&self, work: impl FnOnce(&mut u64));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    /// Checks that a lock of this type lets in one thread at a time, and that a panic inside frees it.
    macro_rules! check {
        ($lock:expr) => {
            let lock = $lock.expect("it is there");
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| (0..1000).for_each(|_| lock.with(|count| *count += 1)));
                }
            });
            lock.with(|count| assert_eq!(*count, 3000));
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                lock.with(|_| panic!("inside"));
            }));
            assert!(outcome.is_err());
            lock.with(|count| assert_eq!(*count, 3000));
        };
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn locks_of_the_c_library_let_in_one_thread_at_a_time() {
        check!(super::PthreadMutex::new(0));
        check!(super::PthreadSpin::new(0));
        super::SlimLock::new(0).err().expect("Linux has none");
    }

    #[cfg(windows)]
    #[test]
    fn locks_of_windows_let_in_one_thread_at_a_time() {
        check!(super::SlimLock::new(0));
        check!(super::CriticalSection::new(0, 0));
        check!(super::CriticalSection::new(0, 4000));
        super::PthreadMutex::new(0).err().expect("Windows has none");
    }

    #[cfg(windows)]
    #[test]
    #[should_panic(expected = "twice")]
    fn a_critical_section_is_entered_once() {
        let section = super::CriticalSection::new(0, 0).expect("it is there");
        section.with(|_| section.with(|count| *count += 1));
    }
}
