//! Thread-local values of user threads.

use core::ptr::{self, NonNull};

use crate::worker::{current_worker, require_worker};

/// Declares thread-local values of user threads. Each thread's value is created at its first use
/// and dropped at the thread's end. (A `std::thread_local!` belongs to the kernel thread, so all
/// user threads of a worker share it.)
///
/// ```
/// use std::cell::Cell;
///
/// uthread::thread_local! {
///     static COUNT: Cell<u32> = Cell::new(0);
/// }
///
/// uthread::run(|| {
///     COUNT.with(|count| count.set(1));
///     let other = uthread::spawn(|| COUNT.with(Cell::get));
///     assert_eq!(other.join().unwrap(), 0);
///     assert_eq!(COUNT.with(Cell::get), 1);
/// });
/// ```
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $init:expr;)*) => {
        $($(#[$attribute])* $visibility static $name: $crate::LocalKey<$type> =
            $crate::LocalKey::new(|| $init);)*
    };
}

/// A thread-local value of user threads; see [`thread_local!`](crate::thread_local!).
///
/// ```
/// uthread::thread_local! {
///     static NAME: String = "nobody".to_owned();
/// }
/// let key: &uthread::LocalKey<String> = &NAME;
/// assert_eq!(uthread::run(|| key.with(String::len)), 6);
/// ```
#[derive(Debug)]
pub struct LocalKey<T: 'static> {
    init: fn() -> T,
    /// Gives each key its own address: keys of size zero could share one.
    _identity: u8,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init, _identity: 0 }
    }

    /// Calls `use_value` with the running thread's value, which the first use creates.
    ///
    /// # Panics
    /// Outside a runtime.
    ///
    /// ```
    /// use std::cell::RefCell;
    ///
    /// uthread::thread_local! {
    ///     static WORDS: RefCell<Vec<&'static str>> = RefCell::default();
    /// }
    /// uthread::run(|| {
    ///     WORDS.with(|words| words.borrow_mut().push("hello"));
    ///     assert_eq!(WORDS.with(|words| words.borrow().len()), 1);
    /// });
    /// ```
    pub fn with<R>(&'static self, use_value: impl FnOnce(&T) -> R) -> R {
        let locals = require_worker("LocalKey::with").current().locals.get();
        let key = ptr::from_ref(self).cast::<()>();
        // SAFETY: only the thread itself uses its locals, and no reference to them outlives a
        // statement here.
        let found = unsafe { (*locals).find(key) };
        let value = found.unwrap_or_else(|| {
            // The initializer may use other locals, or even this one.
            let value = (self.init)();
            // SAFETY: as above.
            unsafe { (*locals).insert(key, value) }
        });
        // SAFETY: `insert` created it with this key, hence it is a `T`. It is dropped after the
        // thread's function has returned, and the reference cannot outlive that.
        use_value(unsafe { &*value.cast::<T>() })
    }
}

/// The value that [`set_own_value`] has given to the running thread. Outside a runtime there is none.
#[doc(hidden)]
#[inline]
pub fn own_value() -> Option<NonNull<()>> {
    let locals = current_worker()?.current().locals.get();
    // SAFETY: only the thread itself uses its locals.
    unsafe { (*locals).own() }
}

/// Gives the running thread a value, which is destroyed after all its thread-local values. It is for one library on top of
/// this one, and takes no memory.
///
/// # Panics
/// Outside a runtime.
///
/// # Safety
/// The function must take this value, in this thread.
#[doc(hidden)]
#[inline]
pub unsafe fn set_own_value(value: NonNull<()>, destroy: unsafe fn(NonNull<()>)) {
    let locals = require_worker("set_own_value").current().locals.get();
    // SAFETY: as above.
    unsafe { (*locals).set_own((value, destroy)) };
}
