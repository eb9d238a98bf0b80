//! The circumstances in which experiments choose their points, as found on this machine.

use instrument::given::Givens;
use instrument::limits::Limits;
use instrument::plan::{Profile, Setting};
use platform::confinement;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::free_bytes;
use std::path::Path;

/// Usable swap is the free space divided by this: the swap file takes twice its size.
const SHARE_OF_ROOM: u64 = 8;

/// The circumstances in `directory`: permission for a swap file, what the user named, and limits.
/// Facts that the system does not report count as absent.
pub fn here(
    directory: &Path,
    given: Givens,
    profile: Profile,
    allow_swap_file: bool,
    limits: Limits,
) -> Setting {
    let directory = dunce::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let free_bytes = free_bytes(&directory).unwrap_or(0);
    let is_root = Environment::read().is_root.unwrap_or(false);
    let can_limit_memory = confinement::can_limit_memory();
    let swap_file_bytes = if allow_swap_file && is_root && can_limit_memory {
        free_bytes / SHARE_OF_ROOM
    } else {
        0
    };
    Setting {
        profile,
        free_bytes,
        available_bytes: platform::memory::available_bytes().unwrap_or(0),
        swap_bytes: confinement::free_swap_bytes().max(swap_file_bytes),
        can_limit_memory,
        is_root,
        machine: Machine::read(),
        limits,
        given,
        time_scale: 1.0,
        directory,
    }
}
