use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use super::memory::{self, SystemMemory};
use super::parse::{choice, colon_field, cpus_in, number, os_release_field, text, word};
use super::{cgroup, usage};
use crate::environment::{AddressRandomisation, Build, Environment, Frequency};
use crate::power::{Battery, is_on_battery};

impl Environment {
    /// Reads the current environment.
    pub fn read() -> Environment {
        let os_release = text("/etc/os-release")
            .or_else(|| text("/usr/lib/os-release"))
            .unwrap_or_default();
        let os = |name| os_release_field(&os_release, name);
        let uname = rustix::system::uname();
        let kernel = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
        let memory = SystemMemory::read();
        Environment {
            os_name: os("NAME"),
            os_version: os("VERSION").or_else(|| os("VERSION_ID")),
            kernel_name: kernel(uname.sysname()),
            kernel_release: kernel(uname.release()),
            kernel_version: kernel(uname.version()),
            stand_in: None,
            build: Build::of_this_program(),
            command_line: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            is_root: Some(rustix::process::geteuid().is_root()),
            mitigations: mitigations(),
            defender_watches: None,
            is_traced: status("TracerPid").map(|tracer: u32| tracer != 0),
            seccomp_filters: status("Seccomp_filters"),
            is_on_battery: is_on_battery(),
            memory_pressure: text("/proc/pressure/memory").and_then(|text| pressure(&text)),
            frequency: frequency(),
            smt_active: number::<u8>("/sys/devices/system/cpu/smt/active")
                .map(|active| active != 0),
            isolated_cpus: cpus_in("/sys/devices/system/cpu/isolated"),
            clock_source: word("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            transparent_huge_pages: choice("/sys/kernel/mm/transparent_hugepage/enabled"),
            free_page_reporting: memory::reports_free_pages(),
            reported_block_bytes: memory::reported_block_bytes(),
            swap_total_bytes: memory.swap_total,
            swappiness: number("/proc/sys/vm/swappiness"),
            memory_available_bytes: memory.available,
            overcommit: memory::overcommit(),
            address_randomisation: address_randomisation(),
            cgroup: cgroup::limits(),
            load_average: usage::load_average(),
            uptime_seconds: text("/proc/uptime")
                .and_then(|uptime| uptime.split(' ').next()?.parse().ok()),
        }
    }
}

/// A number about this process, from `/proc/self/status`
/// ([proc_pid_status(5)](https://man7.org/linux/man-pages/man5/proc_pid_status.5.html)).
fn status<N: FromStr>(field: &str) -> Option<N> {
    colon_field(&text("/proc/self/status")?, field)?
        .parse()
        .ok()
}

/// The share of the last minute in which some task was stalled
/// ([PSI](https://docs.kernel.org/accounting/psi.html)).
fn pressure(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let mut fields = some.split_whitespace();
    let percent: f64 = fields
        .find_map(|field| field.strip_prefix("avg60="))?
        .parse()
        .ok()?;
    Some(percent / 100.0)
}

fn mitigations() -> BTreeMap<String, String> {
    fs::read_dir("/sys/devices/system/cpu/vulnerabilities")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?.to_owned();
            Some((name, word(entry.path())?))
        })
        .collect()
}

fn frequency() -> Frequency {
    let policy = |name: &str| format!("/sys/devices/system/cpu/cpu0/cpufreq/{name}");
    let hz = |name| number(policy(name)).map(|kilohertz: f64| kilohertz * 1e3);
    Frequency {
        driver: word(policy("scaling_driver")),
        governor: word(policy("scaling_governor")),
        turbo: turbo(),
        current_hz: hz("scaling_cur_freq"),
        minimum_hz: hz("scaling_min_freq"),
        maximum_hz: hz("scaling_max_freq"),
    }
}

/// Intel's driver inverts the meaning of all other drivers.
fn turbo() -> Option<bool> {
    let off: Option<u8> = number("/sys/devices/system/cpu/intel_pstate/no_turbo");
    let on: Option<u8> = number("/sys/devices/system/cpu/cpufreq/boost");
    off.map(|off| off == 0).or(on.map(|on| on != 0))
}

fn address_randomisation() -> Option<AddressRandomisation> {
    match number("/proc/sys/kernel/randomize_va_space")? {
        0 => Some(AddressRandomisation::Off),
        1 => Some(AddressRandomisation::WithoutHeap),
        2 => Some(AddressRandomisation::Full),
        _ => None,
    }
}

// Batteries from [sysfs](https://www.kernel.org/doc/Documentation/ABI/testing/sysfs-class-power).

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

    #[test]
    fn memory_pressure_is_the_share_of_the_last_minute() {
        let text = "some avg10=0.00 avg60=12.50 avg300=0.20 total=9541350\n\
                    full avg10=0.00 avg60=3.00 avg300=0.10 total=4115862\n";
        assert_eq!(pressure(text), Some(0.125));
        assert_eq!(pressure("some avg10=0.00"), None);
        assert_eq!(pressure(""), None);
    }

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
