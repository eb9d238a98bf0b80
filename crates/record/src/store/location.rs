//! The default location of the store.

use super::error::Error;
use std::path::{Path, PathBuf};

/// The default location of the store: `oscope.db` in oscope's data directory
/// ([`advice::data_folder`]).
///
/// # Errors
/// [`Error::NoPlace`] if the environment does not define it.
pub fn default_path() -> Result<PathBuf, Error> {
    let folder = advice::data_folder().map_err(|missing| Error::NoPlace { missing })?;
    Ok(folder.join("oscope.db"))
}

/// Creates the default store's directory, accessible to this user only, as the specification
/// requires.
pub(super) fn make_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
