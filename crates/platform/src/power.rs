//! What the machine draws its power from.

use crate::os;

/// A battery that the machine runs on. Those of mice and other devices are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Battery {
    /// The kernel's name for it, e.g. `BAT0`.
    pub name: String,
    /// Whether the machine draws on it now.
    pub is_discharging: bool,
    /// What it still holds, in per cent.
    pub percent: Option<u8>,
}

/// The machine's batteries; none where there is none, or the system does not tell.
pub fn batteries() -> Vec<Battery> {
    os::power::batteries()
}
