use std::ffi::{CString, c_char};
use std::path::Path;

use crate::error::{Error, Result};

/// A path as the system's calls take it. It is made beforehand, so that calls which are measured convert
/// nothing.
pub struct CallPath(CString);

impl CallPath {
    /// Converts a path.
    ///
    /// # Errors
    /// If it contains a zero.
    pub fn new(path: &Path) -> Result<Self> {
        CString::new(path.as_os_str().as_encoded_bytes())
            .map(Self)
            .map_err(Error::os("convert a path"))
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *const c_char {
        self.0.as_ptr()
    }
}
