//! The locks of the C library and of Windows for kernel threads, as a subject of measurement.

use std::cell::UnsafeCell;

pub use crate::os::lock::{CriticalSection, PthreadMutex, PthreadSpin, SlimLock};

/// A lock type of the system.
pub trait Raw {
    /// Does not return to a thread that holds it already.
    ///
    /// # Safety
    /// The lock must not move.
    unsafe fn lock(&self);

    /// # Safety
    /// The calling thread must hold it.
    unsafe fn unlock(&self);
}

/// A number behind a lock. What the system identifies by its address is boxed in `L`.
#[derive(Debug)]
pub struct Locked<L> {
    raw: L,
    number: UnsafeCell<u64>,
}

// SAFETY: one thread at a time uses the number. Locks of the system may be shared, and may be
// moved while nothing borrows them: the part with an address stays in its box.
unsafe impl<L> Sync for Locked<L> {}
// SAFETY: as above.
unsafe impl<L> Send for Locked<L> {}

impl<L: Raw> Locked<L> {
    pub(crate) fn around(number: u64, raw: L) -> Self {
        Self {
            raw,
            number: UnsafeCell::new(number),
        }
    }

    /// Calls `work` with the number while the lock is held. `work` must not lock it again.
    #[inline]
    pub fn with(&self, work: impl FnOnce(&mut u64)) {
        struct Unlock<'l, L: Raw>(&'l L);
        impl<L: Raw> Drop for Unlock<'_, L> {
            fn drop(&mut self) {
                // SAFETY: locked below by the same thread.
                unsafe { self.0.unlock() };
            }
        }
        // SAFETY: it stays in its box.
        unsafe { self.raw.lock() };
        let _unlock = Unlock(&self.raw);
        // SAFETY: only this thread holds the lock, and has entered it once.
        work(unsafe { &mut *self.number.get() });
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
