//! The circumstances in which experiments choose their points, looked up here and now.

use instrument::plan::{Profile, Setting};
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use std::path::Path;

/// The circumstances in `directory`. What the system does not tell counts as not there.
pub fn here(directory: &Path, profile: Profile) -> Setting {
    let directory = directory
        .canonicalize()
        .unwrap_or_else(|_| directory.to_owned());
    Setting {
        profile,
        free_bytes: Storage::behind(&directory).map_or(0, |storage| storage.free_bytes),
        available_bytes: platform::memory::available_bytes().unwrap_or(0),
        is_root: Environment::read().is_root.unwrap_or(false),
        machine: Machine::read(),
        directory,
    }
}
