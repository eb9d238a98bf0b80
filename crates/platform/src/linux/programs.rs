use super::parse;
use super::read::text;
use crate::programs::Program;
use std::fs;

/// All running processes visible to this one; empty if the system does not report them.
pub fn running() -> Vec<Program> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    entries
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .bytes()
                .all(|b| b.is_ascii_digit())
        })
        .filter_map(|entry| parse::program(&text(entry.path().join("stat"))?, ticks_per_second))
        .collect()
}
