//! Replaces the module of the same name in the library. The library creates its objects in constant
//! functions, and loom cannot: here an atomic value comes to life at its first use. The first thread
//! of a model uses each before the others begin ([`Touch`](crate::Touch)).

use std::ops::Deref;

pub(crate) use loom::sync::atomic::Ordering;

pub(crate) struct Late<T, A>(T, std::cell::OnceCell<A>);

// SAFETY: loom runs all threads of a model on one kernel thread.
unsafe impl<T, A> Sync for Late<T, A> {}
// SAFETY: as above.
unsafe impl<T, A> Send for Late<T, A> {}

impl<T, A> Late<T, A> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value, std::cell::OnceCell::new())
    }
}

macro_rules! late {
    ($name:ident, $value:ty) => {
        impl Deref for Late<$value, loom::sync::atomic::$name> {
            type Target = loom::sync::atomic::$name;

            fn deref(&self) -> &Self::Target {
                self.1
                    .get_or_init(|| loom::sync::atomic::$name::new(self.0))
            }
        }
    };
}

late!(AtomicBool, bool);
late!(AtomicU32, u32);
late!(AtomicUsize, usize);

impl<T> Deref for Late<*mut T, loom::sync::atomic::AtomicPtr<T>> {
    type Target = loom::sync::atomic::AtomicPtr<T>;

    fn deref(&self) -> &Self::Target {
        self.1
            .get_or_init(|| loom::sync::atomic::AtomicPtr::new(self.0))
    }
}

pub(crate) type AtomicBool = Late<bool, loom::sync::atomic::AtomicBool>;
pub(crate) type AtomicU32 = Late<u32, loom::sync::atomic::AtomicU32>;
pub(crate) type AtomicUsize = Late<usize, loom::sync::atomic::AtomicUsize>;
pub(crate) type AtomicPtr<T> = Late<*mut T, loom::sync::atomic::AtomicPtr<T>>;

pub(crate) fn pause(_attempt: u32) {
    loom::thread::yield_now();
}
