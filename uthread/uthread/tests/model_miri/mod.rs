//! Replaces loom where miri runs the models: kernel threads and the standard library's types.

pub(crate) mod sync {
    pub(crate) use std::sync::{Arc, Condvar, Mutex, atomic};
}

pub(crate) mod thread {
    pub(crate) use std::thread::{spawn, yield_now};
}

pub(crate) mod cell {
    /// Miri itself tells of races on the value.
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        pub(crate) fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
            look(self.0.get())
        }

        pub(crate) fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
            change(self.0.get())
        }
    }
}
