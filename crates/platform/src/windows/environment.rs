use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::SystemInformation::{GetTickCount64, OSVERSIONINFOW};

use super::{memory, mitigations, processor_power, registry, scanner, token, topology, wine};
use crate::environment::{Build, Environment, System};

const CURRENT_VERSION: &str = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion";

pub(crate) fn here() -> System {
    System::Windows
}

pub(crate) fn read() -> Environment {
    let fact = |name| registry::word(CURRENT_VERSION, name);
    let memory = memory::status();
    Environment {
        os_name: fact("ProductName").or_else(|| Some("Windows".to_owned())),
        os_version: fact("DisplayVersion"),
        kernel_name: Some("Windows NT".to_owned()),
        kernel_release: release(),
        kernel_version: fact("BuildLabEx"),
        stand_in: wine::version().map(|version| format!("Wine {version}")),
        build: Build::of_this_program(),
        command_line: std::env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
        is_root: token::is_elevated(),
        mitigations: mitigations::mitigations(),
        defender_watches: scanner::defender_watches(),
        frequency: processor_power::frequency(),
        smt_active: topology::smt_active(),
        // The page file's limit includes the memory itself.
        swap_total_bytes: memory
            .map(|memory| memory.ullTotalPageFile.saturating_sub(memory.ullTotalPhys)),
        memory_available_bytes: memory.map(|memory| memory.ullAvailPhys),
        // SAFETY: the call has no arguments.
        uptime_seconds: Some(unsafe { GetTickCount64() } as f64 / 1e3),
        ..Environment::default()
    }
}

/// The version of the kernel: other calls report an old one to programs without a manifest.
fn release() -> Option<String> {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // SAFETY: the result has the size that it names.
    let status = unsafe { RtlGetVersion(&raw mut version) };
    let OSVERSIONINFOW {
        dwMajorVersion: major,
        dwMinorVersion: minor,
        dwBuildNumber: build,
        ..
    } = version;
    (status == 0).then(|| format!("{major}.{minor}.{build}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_this_system() {
        let environment = read();
        assert_eq!(environment.kernel_name.as_deref(), Some("Windows NT"));
        assert!(environment.kernel_release.is_some(), "{environment:?}");
        assert!(environment.uptime_seconds > Some(0.0));
        assert!(environment.memory_available_bytes > Some(0));
        assert!(!environment.command_line.is_empty());
    }
}
