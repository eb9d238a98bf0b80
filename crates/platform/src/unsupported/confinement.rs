use std::path::Path;

use crate::Result;
pub(crate) use crate::confinement::lacking::*;

pub(crate) fn is_record(_name: &str) -> bool {
    false
}

/// Nothing to undo: nothing can be created here.
#[expect(clippy::unnecessary_wraps, reason = "other systems may fail")]
pub(crate) fn undo(_scratch: &Path) -> Result<()> {
    Ok(())
}
