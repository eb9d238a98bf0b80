//! Exceptions of C++ that a thread handles, or that unwind it. The C++ library keeps them for the kernel
//! thread (*Itanium C++ ABI: Exception Handling*, 2.2.2), so a thread takes its own along.

use core::ffi::c_uint;
use core::fmt;
use core::ptr;

/// `__cxa_eh_globals`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Globals {
    caught: *mut (),
    uncaught: c_uint,
}

const NOTHING: Globals = Globals {
    caught: ptr::null_mut(),
    uncaught: 0,
};

type GetGlobals = unsafe extern "C" fn() -> *mut Globals;

/// The function of the C++ library; `None` if the program has none.
#[inline]
fn get_globals() -> Option<GetGlobals> {
    let address = crate::weak_symbol!("__cxa_get_globals");
    // SAFETY: the ABI gives the function this type, and a null pointer is `None`.
    unsafe { core::mem::transmute::<*const (), Option<GetGlobals>>(address) }
}

/// The exceptions of the running thread, put aside while others may run on its kernel thread. They are
/// back when this is dropped.
pub struct Exceptions {
    place: *mut Globals,
    own: Globals,
}

impl Exceptions {
    /// Puts the exceptions of the running thread aside.
    #[inline]
    pub fn put_aside() -> Self {
        let Some(get_globals) = get_globals() else {
            return Self {
                place: ptr::null_mut(),
                own: NOTHING,
            };
        };
        // SAFETY: the function returns the state of this kernel thread, which lives as long as that, and
        // on which the user thread stays.
        unsafe {
            let place = get_globals();
            Self {
                place,
                own: place.replace(NOTHING),
            }
        }
    }

    /// True if an exception unwinds the running thread, so that this is in a destructor.
    pub fn in_flight() -> bool {
        // SAFETY: as above.
        get_globals().is_some_and(|get_globals| unsafe { (*get_globals()).uncaught > 0 })
    }
}

impl Drop for Exceptions {
    #[inline]
    fn drop(&mut self) {
        if !self.place.is_null() {
            // SAFETY: as above; no other thread uses the state now, since it puts its own aside.
            unsafe { self.place.write(self.own) };
        }
    }
}

impl fmt::Debug for Exceptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exceptions").finish_non_exhaustive()
    }
}
