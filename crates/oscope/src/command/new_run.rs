//! The description of a run before its first sample.

use super::resume;
use anyhow::{Context, Result};
use instrument::clock::calibrate;
use instrument::plan::Profile;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use record::{Header, Run, draw_id, now};
use std::path::{Path, PathBuf};

const NO_RANDOMNESS: &str = "the system gives no random numbers";

/// The seed that the user named, or a random one that is short enough to type.
pub fn seed(named: Option<u64>) -> Result<u64> {
    let drawn = || getrandom::u64().map(|random| random % 1_000_000);
    named.map_or_else(drawn, Ok).context(NO_RANDOMNESS)
}

/// A run on `machine` that begins now, with its files in `directory`.
pub fn describe(directory: &Path, machine: Machine, profile: Profile, seed: u64) -> Result<Run> {
    let environment = Environment::read();
    let storage = Storage::behind(directory).ok().map(|storage| Storage {
        mount_point: in_utf8(&storage.mount_point),
        ..storage
    });
    let header = Header {
        id: draw_id().context(NO_RANDOMNESS)?,
        name: None,
        tags: [].into(),
        started: now(),
        ended: None,
        interrupted: false,
        profile,
        budget_ns: 0.0,
        seed,
        command_line: resume::command_line(&environment.command_line),
        version: env!("CARGO_PKG_VERSION").into(),
        directory: in_utf8(directory),
        machine_fingerprint: machine.fingerprint(),
        proven: true,
        limited: None,
        redacted: false,
    };
    Ok(Run {
        header,
        machine,
        environment,
        storage,
        calibration: calibrate(),
        experiments: Vec::new(),
    })
}

/// A path that a record can store: invalid UTF-8 is replaced.
fn in_utf8(path: &Path) -> PathBuf {
    path.to_string_lossy().into_owned().into()
}
