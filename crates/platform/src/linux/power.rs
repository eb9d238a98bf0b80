//! Batteries from [sysfs](https://www.kernel.org/doc/Documentation/ABI/testing/sysfs-class-power).

use std::fs;
use std::path::Path;

use super::read::{number, text};
use crate::power::Battery;

/// The machine's batteries; empty if there are none, or the system does not report them.
pub fn batteries() -> Vec<Battery> {
    batteries_in(Path::new("/sys/class/power_supply"))
}

fn batteries_in(root: &Path) -> Vec<Battery> {
    let supplies = fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<Battery> = supplies
        .filter_map(|supply| {
            let (path, name) = (supply.path(), supply.file_name());
            let is = |file: &str, value: &str| text(path.join(file)).is_some_and(|it| it == value);
            let is_the_machines = is("type", "Battery") && !is("scope", "Device");
            is_the_machines.then(|| Battery {
                name: name.to_string_lossy().into_owned(),
                is_discharging: is("status", "Discharging"),
                percent: number(path.join("capacity")),
            })
        })
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supply(root: &Path, name: &str, files: &[(&str, &str)]) {
        let directory = root.join(name);
        fs::create_dir(&directory).unwrap();
        for (file, content) in files {
            fs::write(directory.join(file), format!("{content}\n")).unwrap();
        }
    }

    #[test]
    fn batteries_of_the_machine_are_found_and_no_others() {
        let root = tempfile::tempdir().unwrap();
        let discharging = [
            ("type", "Battery"),
            ("status", "Discharging"),
            ("capacity", "37"),
        ];
        supply(root.path(), "BAT1", &discharging);
        supply(
            root.path(),
            "BAT0",
            &[("type", "Battery"), ("status", "Full")],
        );
        supply(root.path(), "AC", &[("type", "Mains"), ("online", "0")]);
        let mouse = [
            ("type", "Battery"),
            ("scope", "Device"),
            ("status", "Discharging"),
        ];
        supply(root.path(), "hidpp_battery_0", &mouse);
        let battery = |name: &str, is_discharging, percent| Battery {
            name: name.into(),
            is_discharging,
            percent,
        };
        let expected = [
            battery("BAT0", false, None),
            battery("BAT1", true, Some(37)),
        ];
        assert_eq!(batteries_in(root.path()), expected);
    }

    #[test]
    fn without_any_supply_there_is_no_battery() {
        assert_eq!(batteries_in(Path::new("/no such directory")), []);
    }
}
