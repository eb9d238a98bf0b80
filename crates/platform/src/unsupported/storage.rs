use std::path::Path;

use super::refuse;
use crate::Result;
use crate::storage::Storage;

pub(crate) fn behind(_path: &Path) -> Result<Storage> {
    refuse("the storage behind a path")
}
