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
//! The file is JSON, described by [`Advice`] and by `schema/advice-1.schema.json`, and made to be read
//! from any language. It holds those of these settings that were measured:
//!
//! | setting | value |
//! | --- | --- |
//! | `read_block_size`, `read_cold_block_size`, `write_block_size` | bytes |
//! | `read_method` | `pread` or `mmap` |
//! | `map_files_from` | block size in bytes, or `never` |
//! | `scan_threads`, `direct_queue_depth` | a count |
//! | `loop_piece_size` | bytes: pieces of repeated work, all caches considered |
//! | `loop_piece_size_l1`, `loop_piece_size_l2`, `loop_piece_size_l3` | bytes: pieces that stay in one cache, for loops within loops |
//! | `large_block_pages` | `huge` or `base` |
//! | `short_sections_by` | `spin` or `block` |
//! | `spin_in_sections_up_to` | ns; 0 where spinning gains nothing |
//! | `start_programs_by` | `posix_spawn` or `fork` |
//!
//! # What it uses
//!
//! Nothing of oscope: a program that takes its advice does not take the instrument with it.
//!
//! # What it must never do
//!
//! Measure, or know how a setting was found.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The version of the file that this library writes and reads.
pub const FORMAT: u32 = 1;
/// Names another file than the usual one.
pub const VARIABLE: &str = "OSCOPE_ADVICE";

/// What programs should use on one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// [`FORMAT`]; it is raised when a field changes its meaning or goes.
    pub format: u32,
    /// When it was measured, in ISO 8601.
    pub measured: String,
    /// The machine: its processor, for people.
    pub machine: Option<String>,
    /// The machine: oscope's fingerprint of it.
    pub machine_fingerprint: String,
    /// The run that it follows from.
    pub run: String,
    /// By name: `read_block_size`.
    pub settings: BTreeMap<String, Setting>,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// What it sets, for people.
    pub title: String,
    /// What to use.
    pub value: Value,
    /// What numbers are counted in: `bytes`, `nanoseconds` or `count`; `None` where
    /// the value is always a choice.
    pub unit: Option<String>,
    /// What programs use when nobody has thought about it.
    pub usual: Value,
    /// How many times as fast the advised value is as the usual one.
    pub gain: Option<Gain>,
    /// What it follows from, as a sentence.
    pub because: String,
    /// The experiments that were asked.
    pub experiments: Vec<String>,
}

/// What to use: a number or a named choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Bytes, nanoseconds or a count, as the unit says.
    Number(u64),
    /// As in `read` or `mmap`.
    Choice(String),
}

/// How many times as fast something is, with its 95 % confidence interval where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// The ratio of the rates.
    pub ratio: f64,
    /// The interval's lower end.
    pub low: Option<f64>,
    /// The interval's upper end.
    pub high: Option<f64>,
}

/// Why there is no advice.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The environment does not tell where a person's data are.
    #[error("there is no place for a person's data; name a file with {VARIABLE}")]
    NoPlace,
    /// The file cannot be read.
    #[error("{}: {source}; `oscope advise --save` writes it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not advice.
    #[error("{} is no advice: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The file has another format.
    #[error("{} has format {found}, and this program reads format {FORMAT}", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
}

/// The advice for this machine: that in the file that [`VARIABLE`] names, or else in
/// [`default_path`].
///
/// # Errors
/// As [`load_from`].
pub fn load() -> Result<Advice, Error> {
    match std::env::var_os(VARIABLE) {
        Some(path) => load_from(Path::new(&path)),
        None => load_from(&default_path()?),
    }
}

/// The advice in a file.
///
/// # Errors
/// Where the file cannot be read, is no advice, or has another format.
pub fn load_from(path: &Path) -> Result<Advice, Error> {
    let path_buf = || path.to_owned();
    let text = fs::read(path).map_err(|source| Error::Unreadable {
        path: path_buf(),
        source,
    })?;
    let damaged = |source| Error::Damaged {
        path: path_buf(),
        source,
    };
    // The format comes first: what else stands in a newer file may not be what this one expects.
    let format: Format = serde_json::from_slice(&text).map_err(damaged)?;
    if format.format != FORMAT {
        return Err(Error::OtherFormat {
            path: path_buf(),
            found: format.format,
        });
    }
    serde_json::from_slice(&text).map_err(damaged)
}

#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// Where advice is kept when nobody names a place: `oscope/advice.json` in the folder for a
/// person's data.
///
/// # Errors
/// [`Error::NoPlace`] if the environment does not tell.
pub fn default_path() -> Result<PathBuf, Error> {
    let folder = dirs::data_local_dir().ok_or(Error::NoPlace)?;
    Ok(folder.join("oscope").join("advice.json"))
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

#[cfg(test)]
mod tests {
    use super::{Advice, Error, FORMAT, Gain, Setting, Value, load_from};
    use std::fs;

    fn advice() -> Advice {
        let setting = |value| Setting {
            title: "block size for reading files".into(),
            value,
            unit: Some("bytes".into()),
            usual: Value::Number(4096),
            gain: Some(Gain {
                ratio: 1.5,
                low: Some(1.4),
                high: None,
            }),
            because: "It is.".into(),
            experiments: vec!["file.block_size".into()],
        };
        Advice {
            format: FORMAT,
            measured: "2026-03-01T00:00:00Z".into(),
            settings: [
                ("read_block_size".into(), setting(Value::Number(131_072))),
                ("read_method".into(), setting(Value::Choice("read".into()))),
            ]
            .into(),
            ..Advice::default()
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("advice.json");
        fs::write(&path, serde_json::to_vec(&advice()).unwrap()).unwrap();
        let read = load_from(&path).unwrap();
        assert_eq!(read, advice());
        assert_eq!(read.number("read_block_size"), Some(131_072));
        assert_eq!(read.choice("read_method"), Some("read"));
        assert_eq!(read.number("read_method"), None);
        assert_eq!(read.number("nothing"), None);
    }

    #[test]
    fn what_is_no_advice_is_told_by_its_kind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("advice.json");
        assert!(matches!(load_from(&path), Err(Error::Unreadable { .. })));
        for damaged in ["", "[]", "{}", r#"{"format": 1}"#, r#"{"format": "one"}"#] {
            fs::write(&path, damaged).unwrap();
            assert!(
                matches!(load_from(&path), Err(Error::Damaged { .. })),
                "{damaged}"
            );
        }
        fs::write(&path, r#"{"format": 2, "elsewhere": []}"#).unwrap();
        let error = load_from(&path).unwrap_err();
        assert!(matches!(error, Error::OtherFormat { found: 2, .. }));
    }
}
