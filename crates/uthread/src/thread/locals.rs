//! The store of a thread's own thread-local values.

struct Slot {
    key: *const (),
    value: *mut (),
    destroy: unsafe fn(*mut ()),
}

/// The thread-local values of one thread.
pub(crate) struct Locals(Vec<Slot>);

/// More values than this that destructors have created mean that they never stop.
const MOST_CREATED_AT_THE_END: usize = 10_000;

impl Locals {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn find(&self, key: *const ()) -> Option<*mut ()> {
        self.0
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

    /// Drops all values, newest first, including those that a destructor creates; `false` if there is no end of
    /// them.
    ///
    /// # Safety
    /// Only the thread itself may call this, at its end.
    #[must_use = "the thread cannot end"]
    pub(super) unsafe fn destroy(locals: *mut Self) -> bool {
        // SAFETY: only the thread itself uses its locals.
        let mut left = unsafe { (*locals).0.len() } + MOST_CREATED_AT_THE_END;
        // SAFETY: as above; the reference ends before a destructor runs, which may use them in turn.
        while let Some(slot) = unsafe { (*locals).pop() } {
            if left == 0 {
                return false;
            }
            left -= 1;
            // SAFETY: `insert` created it, and it was just taken out.
            unsafe { (slot.destroy)(slot.value) };
        }
        // SAFETY: as above; this frees the list itself.
        unsafe { *locals = Self::new() };
        true
    }
}
