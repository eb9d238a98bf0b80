//! The machine's power source.

pub use crate::os::environment::batteries;

/// A battery that powers the machine. Batteries of mice and other devices are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Battery {
    /// The kernel's name for it, e.g. `BAT0`.
    pub name: String,
    /// True if the machine currently draws power from it.
    pub is_discharging: bool,
    /// Charge, in per cent.
    pub percent: Option<u8>,
}

/// True if a battery powers the machine now; `None` if no battery is known.
pub fn is_on_battery() -> Option<bool> {
    let batteries = batteries();
    let is_discharging = batteries.iter().any(|battery| battery.is_discharging);
    (!batteries.is_empty()).then_some(is_discharging)
}
