use std::path::PathBuf;

pub(crate) fn had_standard_output() -> bool {
    true
}

pub(crate) fn started_as() -> Option<PathBuf> {
    None
}
