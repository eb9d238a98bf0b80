//! Values that each thread has of its own.

use core::cell::{Cell, RefCell};
use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::call::{caught, created, destroy, finished};
use crate::error::object;
use crate::record::with_own;

type Destructor = unsafe extern "C-unwind" fn(*mut c_void);

/// `uthread_key_t`.
pub struct Key {
    /// Never the number of another key, unlike the address.
    number: u64,
    destructor: Option<Destructor>,
}

/// The value of a thread under a key.
struct Value {
    key: u64,
    pointer: *mut c_void,
    destructor: Option<Destructor>,
}

/// The values of a thread, which end with it, the newest first.
struct Values(RefCell<Vec<Value>>);

uthread::thread_local! {
    static VALUES: Values = Values(RefCell::new(Vec::new()));
    /// Number of times that the thread, which ends, has destroyed all its values. The destructors may have set
    /// new ones.
    static ROUNDS: Cell<u32> = Cell::new(0);
}

/// As many as of `PTHREAD_DESTRUCTOR_ITERATIONS`.
const MOST_ROUNDS: u32 = 4;

impl Drop for Values {
    fn drop(&mut self) {
        // A destructor that waits must not unwind: nothing is left that could catch it.
        with_own(|own| own.held_off.fetch_add(1, Ordering::Relaxed));
        ROUNDS.with(|rounds| rounds.set(rounds.get() + 1));
        while let Some(value) = self.0.get_mut().pop() {
            if let Some(destructor) = value.destructor
                && !value.pointer.is_null()
            {
                // SAFETY: the header says that it takes the values of its key.
                unsafe { destructor(value.pointer) };
            }
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_key_create(destructor: Option<Destructor>) -> *mut Key {
    static KEYS: AtomicU64 = AtomicU64::new(0);
    created(|| Key {
        number: KEYS.fetch_add(1, Ordering::Relaxed),
        destructor,
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_key_destroy(key: *mut Key) {
    // SAFETY: the header asks for a key that nobody uses.
    unsafe { destroy(key) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_set(key: *const Key, value: *mut c_void) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a living key.
        let key = unsafe { object(key) }?;
        VALUES.with(|values| {
            let mut values = values.0.borrow_mut();
            match values.iter_mut().find(|old| old.key == key.number) {
                Some(old) => old.pointer = value,
                None if ROUNDS.with(Cell::get) >= MOST_ROUNDS => return Err(libc::EAGAIN),
                None => values.push(Value {
                    key: key.number,
                    pointer: value,
                    destructor: key.destructor,
                }),
            }
            Ok(0)
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_get(key: *const Key) -> *mut c_void {
    // SAFETY: the header asks for a living key.
    let found = unsafe { key.as_ref() };
    let Some(key) = found.filter(|_| uthread::is_user_thread()) else {
        return ptr::null_mut();
    };
    finished(VALUES.with(|values| {
        let values = values.0.borrow();
        let mine = values.iter().find(|value| value.key == key.number);
        mine.map_or(ptr::null_mut(), |value| value.pointer)
    }))
}
