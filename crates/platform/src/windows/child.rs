//! Windows cannot copy a process.

use crate::Result;
use crate::error::refuse;

pub fn value(_compute: impl FnOnce() -> u64) -> Result<u64> {
    refuse("fork")
}
