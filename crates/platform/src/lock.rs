//! The locks of the C library and of Windows for kernel threads, as a subject of measurement.

pub use crate::os::lock::{CriticalSection, PthreadMutex, PthreadSpin, SlimLock};

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
        super::SlimLock::new(0).expect_err("Linux has none");
    }

    #[cfg(windows)]
    #[test]
    fn locks_of_windows_let_in_one_thread_at_a_time() {
        check!(super::SlimLock::new(0));
        check!(super::CriticalSection::new(0, 0));
        check!(super::CriticalSection::new(0, 4000));
        super::PthreadMutex::new(0).expect_err("Windows has none");
    }

    #[cfg(windows)]
    #[test]
    #[should_panic(expected = "twice")]
    fn a_critical_section_is_entered_once() {
        let section = super::CriticalSection::new(0, 0).expect("it is there");
        section.with(|_| section.with(|count| *count += 1));
    }
}
