use windows_sys::Win32::System::Power::{GetSystemPowerStatus, SYSTEM_POWER_STATUS};

use crate::power::Battery;

const ON_BATTERY: u8 = 0;
const NO_BATTERY: u8 = 128;
/// A flag or charge that the system does not know.
const UNKNOWN: u8 = 255;

/// The system reports the sum of all batteries.
pub fn batteries() -> Vec<Battery> {
    let mut status = SYSTEM_POWER_STATUS::default();
    // SAFETY: there is room for the result.
    let is_told = unsafe { GetSystemPowerStatus(&raw mut status) } != 0;
    if is_told {
        in_status(&status)
    } else {
        Vec::new()
    }
}

fn in_status(status: &SYSTEM_POWER_STATUS) -> Vec<Battery> {
    if status.BatteryFlag == UNKNOWN || status.BatteryFlag & NO_BATTERY != 0 {
        return Vec::new();
    }
    let percent = Some(status.BatteryLifePercent);
    vec![Battery {
        name: "battery".into(),
        is_discharging: status.ACLineStatus == ON_BATTERY,
        percent: percent.filter(|percent| *percent != UNKNOWN),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_is_there_only_if_the_system_knows_one() {
        let status = |flag, line, percent| SYSTEM_POWER_STATUS {
            BatteryFlag: flag,
            ACLineStatus: line,
            BatteryLifePercent: percent,
            ..SYSTEM_POWER_STATUS::default()
        };
        assert_eq!(in_status(&status(NO_BATTERY, 1, UNKNOWN)), []);
        assert_eq!(in_status(&status(UNKNOWN, UNKNOWN, UNKNOWN)), []);
        let [battery] = &in_status(&status(1, ON_BATTERY, 83))[..] else {
            panic!("one battery");
        };
        assert!(battery.is_discharging);
        assert_eq!(battery.percent, Some(83));
        let charging = &in_status(&status(8, 1, UNKNOWN))[0];
        assert!(!charging.is_discharging);
        assert_eq!(charging.percent, None);
    }
}
