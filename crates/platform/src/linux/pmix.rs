//! The library of PMIx: those of its types and functions that a job needs. Layouts and constants are those of
//! the [standard, version 4](https://pmix.github.io/pmix-standard/), chapter 3, and of `pmix_common.h`.

use crate::job::{JobError, Result};
use libc::{c_char, c_int, c_void};
use std::ffi::CStr;

/// `PMIX_SUCCESS`.
pub(super) const SUCCESS: c_int = 0;
/// `PMIX_ERR_TIMEOUT`.
pub(super) const TIMEOUT: c_int = -24;
/// `PMIX_ERR_NOT_FOUND`.
pub(super) const NOT_FOUND: c_int = -46;
/// `PMIX_OPERATION_SUCCEEDED`: done at once, and no callback will follow.
pub(super) const DONE_AT_ONCE: c_int = -157;
/// `PMIX_RANK_WILDCARD`: all processes of a namespace.
pub(super) const ALL_RANKS: u32 = u32::MAX - 1;
/// `PMIX_GLOBAL`: for processes on any node.
pub(super) const GLOBAL: u8 = 3;

/// `PMIX_JOB_SIZE`, of type `PMIX_UINT32`.
pub(super) const JOB_SIZE: &CStr = c"pmix.job.size";
/// `PMIX_LOCAL_RANK`, of type `PMIX_UINT16`.
pub(super) const LOCAL_RANK: &CStr = c"pmix.lrank";
/// `PMIX_HOSTNAME`, of type `PMIX_STRING`.
pub(super) const HOST_NAME: &CStr = c"pmix.hname";

/// `PMIX_STRING`.
const STRING: u16 = 3;
/// `PMIX_UINT16`.
const UINT16: u16 = 13;
/// `PMIX_UINT32`.
const UINT32: u16 = 14;
/// `PMIX_BYTE_OBJECT`.
const BYTE_OBJECT: u16 = 27;

/// `pmix_proc_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Process {
    pub(super) namespace: [c_char; 256],
    pub(super) rank: u32,
}

/// `pmix_byte_object_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct ByteObject {
    bytes: *mut c_char,
    size: usize,
}

/// The `data` of [`Value`].
#[repr(C)]
union Data {
    string: *const c_char,
    uint16: u16,
    uint32: u32,
    bytes: ByteObject,
    /// As large and aligned as the largest member, `pmix_envar_t`: two pointers and a character.
    _largest: [*const c_void; 3],
}

/// `pmix_value_t`.
#[repr(C)]
pub(super) struct Value {
    kind: u16,
    data: Data,
}

/// The content of a [`Value`].
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Number(u32),
    Text(String),
    Bytes(Vec<u8>),
    /// A type that no question here has as its answer.
    Other,
}

impl Value {
    /// A value that borrows `bytes`: they must outlive it.
    pub(super) fn bytes(bytes: &[u8]) -> Self {
        let bytes = ByteObject {
            bytes: bytes.as_ptr().cast_mut().cast(),
            size: bytes.len(),
        };
        let mut data = Data {
            _largest: [std::ptr::null(); 3],
        };
        data.bytes = bytes;
        Self {
            kind: BYTE_OBJECT,
            data,
        }
    }

    /// A copy of the content.
    ///
    /// # Safety
    /// The value must be one that the library made, or that [`Value::bytes`] made of bytes that live.
    pub(super) unsafe fn content(&self) -> Content {
        match self.kind {
            // SAFETY: `kind` shows which member the library has set.
            UINT16 => Content::Number(unsafe { self.data.uint16 }.into()),
            // SAFETY: as above.
            UINT32 => Content::Number(unsafe { self.data.uint32 }),
            STRING => {
                // SAFETY: as above; it is a string that ends with a zero.
                let text = unsafe { CStr::from_ptr(self.data.string) };
                Content::Text(text.to_string_lossy().into_owned())
            }
            BYTE_OBJECT => {
                // SAFETY: as above.
                let ByteObject { bytes, size } = unsafe { self.data.bytes };
                if size == 0 {
                    return Content::Bytes(Vec::new());
                }
                // SAFETY: `size` bytes lie there for as long as the value.
                Content::Bytes(unsafe { std::slice::from_raw_parts(bytes.cast(), size) }.to_vec())
            }
            _ => Content::Other,
        }
    }
}

/// `pmix_op_cbfunc_t`.
pub(super) type Finished = unsafe extern "C" fn(c_int, *mut c_void);
/// `pmix_value_cbfunc_t`. The value belongs to the library.
pub(super) type Answered = unsafe extern "C" fn(c_int, *mut Value, *mut c_void);
/// `pmix_info_t`, of which nothing is passed.
type NoInfo = *const c_void;

/// The functions of the library, which stays loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Library {
    pub(super) init: unsafe extern "C" fn(*mut Process, NoInfo, usize) -> c_int,
    pub(super) finalize: unsafe extern "C" fn(NoInfo, usize) -> c_int,
    pub(super) put: unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int,
    pub(super) commit: unsafe extern "C" fn() -> c_int,
    pub(super) fence:
        unsafe extern "C" fn(*const Process, usize, NoInfo, usize, Finished, *mut c_void) -> c_int,
    pub(super) get: unsafe extern "C" fn(
        *const Process,
        *const c_char,
        NoInfo,
        usize,
        Answered,
        *mut c_void,
    ) -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
}

impl Library {
    /// Loads it.
    pub(super) fn load() -> Result<Self> {
        // The library's plug-ins look for its symbols among those of the whole process.
        let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL;
        // SAFETY: the library's own start code runs, as in each program that is linked with it.
        let library = unsafe { libc::dlopen(c"libpmix.so.2".as_ptr(), flags) };
        if library.is_null() {
            return Err(no_library());
        }
        // SAFETY: each type is the one that the standard declares for the function.
        unsafe {
            Ok(Self {
                init: function(library, c"PMIx_Init")?,
                finalize: function(library, c"PMIx_Finalize")?,
                put: function(library, c"PMIx_Put")?,
                commit: function(library, c"PMIx_Commit")?,
                fence: function(library, c"PMIx_Fence_nb")?,
                get: function(library, c"PMIx_Get_nb")?,
                error_string: function(library, c"PMIx_Error_string")?,
            })
        }
    }

    /// The error for a status, if it is one.
    pub(super) fn check(&self, action: &'static str, status: c_int) -> Result<()> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: the library returns a constant string for any status.
        let reason = unsafe { CStr::from_ptr((self.error_string)(status)) };
        let reason = reason.to_string_lossy();
        Err(JobError::Failed(format!("PMIx cannot {action}: {reason}")))
    }
}

/// The function called `name`.
///
/// # Safety
/// `F` must be the type of a pointer to that function.
unsafe fn function<F: Copy>(library: *mut c_void, name: &CStr) -> Result<F> {
    // SAFETY: the library is loaded.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    if address.is_null() {
        return Err(no_library());
    }
    // SAFETY: the caller's contract; pointers to functions and to data are alike here.
    Ok(unsafe { std::mem::transmute_copy(&address) })
}

/// The last failure of the loader.
fn no_library() -> JobError {
    // SAFETY: it returns null or a string, which stays until the next call in this thread.
    let reason = unsafe { libc::dlerror() };
    let reason = if reason.is_null() {
        "no reason given".into()
    } else {
        // SAFETY: as above.
        unsafe { CStr::from_ptr(reason) }.to_string_lossy()
    };
    JobError::Failed(format!("cannot load the library of PMIx: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::{Content, Data, Process, UINT16, Value};

    #[test]
    fn the_layouts_are_those_of_64_bit_systems() {
        if cfg!(target_pointer_width = "64") {
            assert_eq!(size_of::<Process>(), 260);
            assert_eq!(size_of::<Value>(), 32);
            assert_eq!(align_of::<Value>(), 8);
        }
    }

    #[test]
    fn a_value_is_copied_by_its_type() {
        let value = |kind, number| Value {
            kind,
            data: Data { uint16: number },
        };
        // SAFETY: the member of each type is set, or none is read.
        unsafe {
            assert_eq!(
                Value::bytes(b"run").content(),
                Content::Bytes(b"run".into())
            );
            assert_eq!(Value::bytes(b"").content(), Content::Bytes(Vec::new()));
            assert_eq!(value(UINT16, 7).content(), Content::Number(7));
            assert_eq!(value(1, 7).content(), Content::Other);
        }
    }
}
