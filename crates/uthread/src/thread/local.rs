//! Values that every thread has for itself.

use core::ptr;

use crate::worker::require_worker;

/// Declares values of which every user thread has its own, made at the first use and dropped at
/// the thread's end. (A `std::thread_local!` belongs to the kernel thread, hence to all user
/// threads of a worker together.)
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

/// A value of which every thread has its own; see [`thread_local!`](crate::thread_local!).
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
    /// Makes the address of the key its identity: a type of size zero might share it.
    _identity: u8,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init, _identity: 0 }
    }

    /// Calls `use_value` with the running thread's value, which is made first if need be.
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
            // It may itself use other locals, or even this one.
            let value = (self.init)();
            // SAFETY: as above.
            unsafe { (*locals).insert(key, value) }
        });
        // SAFETY: made by `insert` with this key, hence a `T`; it is dropped when the thread's
        // function has returned, and the reference given out cannot outlive that.
        use_value(unsafe { &*value.cast::<T>() })
    }
}

struct Slot {
    key: *const (),
    value: *mut (),
    destroy: unsafe fn(*mut ()),
}

/// The values of one thread.
pub(crate) struct Locals(Vec<Slot>);

impl Locals {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    fn find(&self, key: *const ()) -> Option<*mut ()> {
        self.0
            .iter()
            .find(|slot| slot.key == key)
            .map(|slot| slot.value)
    }

    fn insert<T>(&mut self, key: *const (), value: T) -> *mut () {
        unsafe fn destroy<T>(value: *mut ()) {
            // SAFETY: made below from a box of this type, and destroyed once.
            drop(unsafe { Box::from_raw(value.cast::<T>()) });
        }
        let value = Box::into_raw(Box::new(value)).cast();
        self.0.push(Slot {
            key,
            value,
            destroy: destroy::<T>,
        });
        value
    }

    fn pop(&mut self) -> Option<Slot> {
        self.0.pop()
    }

    /// Drops all, the newest first; what a destructor makes anew is dropped as well.
    ///
    /// # Safety
    /// To be called by the thread itself, at its end.
    pub(super) unsafe fn destroy(locals: *mut Self) {
        // SAFETY: only the thread itself uses its locals; the reference ends before a destructor
        // runs, which may use them in turn.
        while let Some(slot) = unsafe { (*locals).pop() } {
            // SAFETY: made by `insert`, and just taken out.
            unsafe { (slot.destroy)(slot.value) };
        }
        // SAFETY: as above; frees the list itself.
        unsafe { *locals = Self::new() };
    }
}
