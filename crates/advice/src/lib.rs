//! Settings for programs on this machine, as oscope measured them.
//!
//! # What it is
//!
//! `oscope advise --save` writes what a program should use here: block sizes, numbers of threads,
//! ways to read. A program that loads them when it starts is tuned to the machine it runs on without
//! measuring anything itself:
//!
//! ```
//! let advice = oscope_advice::load().unwrap_or_default();
//! let block_size = advice.number("read_block_size").unwrap_or(64 << 10);
//! # assert!(block_size > 0);
//! ```
//!
//! The file is JSON. [`Advice`] and `schema/advice-1.schema.json` describe it, and any language can
//! read it. It holds those of the following settings that were measured:
//!
//! | setting | value |
//! | --- | --- |
//! | `read_block_size`, `write_block_size` | bytes |
//! | `read_method` | `pread` or `mmap` |
//! | `scan_threads`, `direct_queue_depth` | a count |
//! | `loop_piece_size` | bytes: pieces of repeated work on a large block |
//! | `large_block_pages` | `huge` or `base` |
//! | `spin_in_sections_up_to` | ns; 0 where spinning gains nothing |
//! | `start_programs_by` | `posix_spawn` or `fork` |
//! | `safe_write_by` | `fsync`, `fdatasync`, `o_sync` or `o_dsync` |
//! | `log_blocks` | `allocated` or `appended` |
//! | `log_wait` | `shared` or `own` |
//! | `large_reads_through` | `direct` (`O_DIRECT`) or `page_cache` |
//!
//! # What it uses
//!
//! No other crate of oscope: a program that loads advice does not link the instrument.
//!
//! # What it must never do
//!
//! Measure, or know how a setting was found.

mod folder;

pub use folder::data_folder;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Version of the file format that this library writes and reads.
pub const FORMAT: u32 = 1;
/// Environment variable with the path of the advice file, instead of the default path.
pub const VARIABLE: &str = "OSCOPE_ADVICE";

/// Recommended settings for programs on one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Always [`FORMAT`]; it increases when a field changes its meaning or is removed.
    pub format: u32,
    /// Time of the measurement, in ISO 8601.
    pub measured: String,
    /// The machine's processor, as text for people.
    pub machine: Option<String>,
    /// oscope's fingerprint of the machine.
    pub machine_fingerprint: String,
    /// Identifier of the run on which the advice is based.
    pub run: String,
    /// Settings by name, e.g. `read_block_size`.
    pub settings: BTreeMap<String, Setting>,
    /// Settings of the system, for administrators: facts, and those that a trial showed to gain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<SystemSetting>,
}

/// A setting of the system, which takes an administrator to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemSetting {
    /// Name, the same in every version: `read_ahead`.
    pub name: String,
    /// Description for people.
    pub title: String,
    /// Its value when the run was measured.
    pub now: String,
    /// The value that gains; `None` if none is known to gain on this machine.
    pub value: Option<String>,
    /// Speed with that value as a multiple of the speed as it was.
    pub gain: Option<Gain>,
    /// The trial that shows it, or the way to try it, as a sentence.
    pub because: String,
    /// The command that sets the advised value; `None` without one.
    pub set: Option<String>,
    /// The command that takes it back; `None` without an advised value.
    pub undo: Option<String>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Description for people.
    pub title: String,
    /// The recommended value.
    pub value: Value,
    /// Unit of numbers: `bytes`, `nanoseconds` or `count`; `None` if the value is always a choice.
    pub unit: Option<String>,
    /// The value that programs commonly use without tuning.
    pub usual: Value,
    /// Speed of the advised value as a multiple of the common value's.
    pub gain: Option<Gain>,
    /// The reason, as a sentence.
    pub because: String,
    /// The experiments that gave the evidence.
    pub experiments: Vec<String>,
}

/// A recommended value: a number or a named choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Bytes, nanoseconds or a count, as the unit says.
    Number(u64),
    /// A named choice, e.g. `pread` or `mmap`.
    Choice(String),
}

/// A speed-up, with its 95 % confidence interval if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// Ratio of the rates.
    pub ratio: f64,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
}

/// The reason for missing advice.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The environment does not name the user's data directory.
    #[error("the environment names no directory for the user's data; name a file with {VARIABLE}")]
    NoPlace,
    /// The file cannot be read.
    #[error("{}: {source}; `oscope advise --save` writes it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is no valid advice.
    #[error("{} is no advice: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The parse error.
        source: serde_json::Error,
    },
    /// The file has an unsupported format version.
    #[error("{} has format {found}, and this program reads format {FORMAT}", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u32,
    },
}

/// Loads the advice for this machine: from the file that [`VARIABLE`] names, or from
/// [`default_path`].
///
/// # Errors
/// As [`load_from`] and [`default_path`].
pub fn load() -> Result<Advice, Error> {
    match std::env::var_os(VARIABLE) {
        Some(path) => load_from(Path::new(&path)),
        None => load_from(&default_path()?),
    }
}

/// Loads the advice in a file.
///
/// # Errors
/// If the file cannot be read, is not advice, or has another format.
pub fn load_from(path: &Path) -> Result<Advice, Error> {
    let path_buf = || path.to_owned();
    let text = read(path).map_err(|source| Error::Unreadable {
        path: path_buf(),
        source,
    })?;
    let damaged = |source| Error::Damaged {
        path: path_buf(),
        source,
    };
    // The format is checked first: other fields of a newer file may have changed.
    let format: Format = serde_json::from_slice(&text).map_err(damaged)?;
    if format.format != FORMAT {
        return Err(Error::OtherFormat {
            path: path_buf(),
            found: format.format,
        });
    }
    serde_json::from_slice(&text).map_err(damaged)
}

/// The contents of a regular file. Others, such as a pipe without a writer, might never end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() {
        fs::read(path)
    } else {
        Err(io::Error::other("it is no regular file"))
    }
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// The default path of the advice file: `oscope/advice.json` in the user's data directory.
///
/// # Errors
/// [`Error::NoPlace`] if the environment does not name that directory.
pub fn default_path() -> Result<PathBuf, Error> {
    let folder = data_folder().map_err(|_| Error::NoPlace)?;
    Ok(folder.join("advice.json"))
}

impl Advice {
    /// The number advised for `setting`; `None` if there is no such advice or it is a choice.
    pub fn number(&self, setting: &str) -> Option<u64> {
        match self.settings.get(setting)?.value {
            Value::Number(number) => Some(number),
            Value::Choice(_) => None,
        }
    }

    /// The choice advised for `setting`; `None` if there is no such advice or it is a number.
    pub fn choice(&self, setting: &str) -> Option<&str> {
        match &self.settings.get(setting)?.value {
            Value::Number(_) => None,
            Value::Choice(choice) => Some(choice),
        }
    }
}
