use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::os::outcome::wide_path;

/// In UTF-16, for calls whose names end with `W`: those with `A` convert a path first.
pub struct CallPath(Vec<u16>);

impl CallPath {
    pub fn new(path: &Path) -> Result<Self> {
        let units = wide_path(path);
        match units.iter().position(|unit| *unit == 0) {
            Some(zero) if zero + 1 == units.len() => Ok(Self(units)),
            _ => Err(Error::os("convert a path")(io::ErrorKind::InvalidInput)),
        }
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *const u16 {
        self.0.as_ptr()
    }
}
