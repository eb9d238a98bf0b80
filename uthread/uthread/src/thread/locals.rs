//! The store of a thread's own thread-local values.

use core::ptr::NonNull;

struct Slot {
    key: *const (),
    value: *mut (),
    destroy: unsafe fn(*mut ()),
}

/// The thread-local values of one thread.
pub(crate) struct Locals {
    values: Vec<Slot>,
    /// That of a library on top of this one, which is there from the first to the last moment.
    own: Option<Own>,
}

/// A value and the function that destroys it.
pub(super) type Own = (NonNull<()>, unsafe fn(NonNull<()>));

/// More values than this that destructors have created mean that they never stop.
const MOST_CREATED_AT_THE_END: usize = 10_000;

impl Locals {
    pub(super) const fn new() -> Self {
        Self {
            values: Vec::new(),
            own: None,
        }
    }

    pub(super) fn find(&self, key: *const ()) -> Option<*mut ()> {
        self.values
            .iter()
            .find(|slot| slot.key == key)
            .map(|slot| slot.value)
    }

    pub(super) fn insert<T>(&mut self, key: *const (), value: T) -> *mut () {
        unsafe fn destroy<T>(value: *mut ()) {
            // SAFETY: created below from a box of this type, and destroyed once.
            drop(unsafe { Box::from_raw(value.cast::<T>()) });
        }
        let value = Box::into_raw(Box::new(value)).cast();
        self.values.push(Slot {
            key,
            value,
            destroy: destroy::<T>,
        });
        value
    }

    #[inline]
    pub(super) fn own(&self) -> Option<NonNull<()>> {
        self.own.map(|(value, _)| value)
    }

    #[inline]
    pub(super) fn set_own(&mut self, own: Own) {
        self.own = Some(own);
    }

    fn pop(&mut self) -> Option<Slot> {
        self.values.pop()
    }

    /// Drops all values, newest first, including those that a destructor creates; `false` if there is no end of
    /// them.
    ///
    /// # Safety
    /// Only the thread itself may call this, at its end.
    #[must_use = "the thread cannot end"]
    pub(super) unsafe fn destroy(locals: *mut Self) -> bool {
        // SAFETY: only the thread itself uses its locals.
        let mut left = unsafe { (*locals).values.len() } + MOST_CREATED_AT_THE_END;
        // SAFETY: as above; the reference ends before a destructor runs, which may use them in turn.
        while let Some(slot) = unsafe { (*locals).pop() } {
            if left == 0 {
                return false;
            }
            left -= 1;
            // SAFETY: `insert` created it, and it was just taken out.
            unsafe { (slot.destroy)(slot.value) };
        }
        // SAFETY: as above; this frees the list itself. The last value has its own destructor.
        unsafe {
            let own = (*locals).own.take();
            *locals = Self::new();
            if let Some((value, destroy)) = own {
                destroy(value);
            }
        }
        true
    }
}
