//! Wine, which runs programs for Windows on another system.

use std::ffi::{CStr, c_char};
use std::mem::transmute;

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::core::{s, w};

/// The version of Wine, e.g. `8.0`; `None` on Windows itself.
///
/// Only Wine's `ntdll` has this function
/// ([Wine Developer's Guide](https://gitlab.winehq.org/wine/wine/-/wikis/Developer-FAQ)).
pub(super) fn version() -> Option<String> {
    // SAFETY: both names end with a zero.
    let function =
        unsafe { GetProcAddress(GetModuleHandleW(w!("ntdll.dll")), s!("wine_get_version")) }?;
    // SAFETY: Wine declares it so.
    let version: unsafe extern "C" fn() -> *const c_char = unsafe { transmute(function) };
    // SAFETY: it returns a constant string.
    let version = unsafe { CStr::from_ptr(version()) };
    Some(version.to_string_lossy().into_owned())
}
