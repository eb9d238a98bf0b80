use std::fs::File;

use crate::error::{Result, refuse};
use crate::ring::RingOptions;
pub(crate) use crate::ring::lacking::*;

impl ReadRing {
    pub(crate) fn new(_file: &File, _options: &RingOptions) -> Result<Self> {
        refuse("io_uring")
    }
}
