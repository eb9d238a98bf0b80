use super::refuse;
use crate::Result;

pub(crate) fn value(_compute: impl FnOnce() -> u64) -> Result<u64> {
    refuse("fork")
}
