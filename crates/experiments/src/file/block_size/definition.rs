//! The passes that `file.block_size` times.

use crate::prelude::*;

pub(in crate::file) const PASS: AxisOf<Pass> = AxisOf::new("pass", "pass");

/// A way through the file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) enum Pass {
    /// Over existing data.
    Write,
    ReadWarm,
    ReadCold,
    /// Into a file that is empty before.
    WriteNew,
}

/// The block size of programs that do not choose one.
pub(in crate::file) const USUAL_BLOCK: Bytes = Bytes(4096);
