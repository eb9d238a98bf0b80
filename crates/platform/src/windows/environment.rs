use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::SystemInformation::{GetTickCount64, OSVERSIONINFOW};

use super::{memory, mitigations, power_plan, registry, scanner, token, topology, wine};
use crate::environment::{Build, Environment, System};

const CURRENT_VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";

impl System {
    pub fn here() -> System {
        System::Windows
    }
}

impl Environment {
    pub fn read() -> Environment {
        let fact = |name| registry::word(CURRENT_VERSION, name);
        let memory = memory::status();
        let version = version();
        Environment {
            os_name: Some(name(fact("ProductName"), version.dwBuildNumber)),
            // The second name was in use before version 20H2.
            os_version: fact("DisplayVersion").or_else(|| fact("ReleaseId")),
            kernel_name: Some("Windows NT".to_owned()),
            kernel_release: (version.dwMajorVersion > 0).then(|| release(&version)),
            kernel_version: fact("BuildLabEx"),
            stand_in: wine::version().map(|version| format!("Wine {version}")),
            build: Build::of_this_program(),
            command_line: std::env::args_os()
                .map(|argument| argument.to_string_lossy().into_owned())
                .collect(),
            is_root: token::is_elevated(),
            mitigations: mitigations::mitigations(),
            defender_watches: scanner::defender_watches(),
            is_on_battery: crate::power::is_on_battery(),
            frequency: power_plan::frequency(),
            smt_active: topology::smt_active(),
            // The page file's limit includes the memory itself.
            swap_total_bytes: memory
                .map(|memory| memory.ullTotalPageFile.saturating_sub(memory.ullTotalPhys)),
            memory_available_bytes: memory.map(|memory| memory.ullAvailPhys),
            uptime_seconds: Some(uptime_seconds()),
            ..Environment::default()
        }
    }
}

fn uptime_seconds() -> f64 {
    // SAFETY: the call has no arguments.
    unsafe { GetTickCount64() as f64 / 1e3 }
}

/// The registry calls Windows 11 by the name of its predecessor.
fn name(product: Option<String>, build: u32) -> String {
    const FIRST_OF_11: u32 = 22_000;
    match product {
        Some(name) if build >= FIRST_OF_11 => name.replacen("Windows 10", "Windows 11", 1),
        Some(name) => name,
        None => "Windows".to_owned(),
    }
}

/// The version of the kernel, with the number of the last update, which changes mitigations.
fn release(version: &OSVERSIONINFOW) -> String {
    let OSVERSIONINFOW {
        dwMajorVersion: major,
        dwMinorVersion: minor,
        dwBuildNumber: build,
        ..
    } = version;
    let update = registry::number(CURRENT_VERSION, "UBR");
    let update = update.map_or_else(String::new, |update| format!(".{update}"));
    format!("{major}.{minor}.{build}{update}")
}

/// All 0 if the system does not tell. Other calls report an old version to programs without a manifest.
fn version() -> OSVERSIONINFOW {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the result has the size that it names.
    unsafe { RtlGetVersion(&raw mut version) };
    version
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_11_is_called_so() {
        let home = || Some("Windows 10 Home".to_owned());
        assert_eq!(name(home(), 19_045), "Windows 10 Home");
        assert_eq!(name(home(), 22_631), "Windows 11 Home");
        let server = Some("Windows Server 2025 Standard".to_owned());
        assert_eq!(name(server, 26_100), "Windows Server 2025 Standard");
    }

    #[test]
    fn reads_this_system() {
        let environment = Environment::read();
        assert_eq!(environment.kernel_name.as_deref(), Some("Windows NT"));
        assert!(environment.kernel_release.is_some(), "{environment:?}");
        assert!(environment.uptime_seconds > Some(0.0));
        assert!(environment.memory_available_bytes > Some(0));
        assert!(!environment.command_line.is_empty());
    }
}
