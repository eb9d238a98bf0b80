//! The program `dd`, as a baseline for comparison.

use crate::{Error, Result, Watch};
use platform::process::{Worker, WorkerError, WorkerOptions};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;

/// Options of a `dd` run.
#[derive(Clone, Copy, Debug)]
pub struct Dd<'a> {
    /// Input file.
    pub input: &'a Path,
    /// Output file; existing contents are overwritten.
    pub output: &'a Path,
    /// Size of a block, in bytes.
    pub block_bytes: usize,
    /// Number of blocks to copy; all if `None`.
    pub count: Option<u64>,
    /// True to overwrite the file in place, instead of truncating it first.
    pub in_place: bool,
}

/// The report of a `dd` run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DdReport {
    /// Bytes copied.
    pub bytes: u64,
    /// Wall time by dd's own clock, in ns: from opening its files to its report, without the start
    /// of its process.
    pub wall_ns: f64,
}

impl Dd<'_> {
    /// Runs `dd` and parses its report. It ends with this process, and when `watch` stops the work.
    ///
    /// # Errors
    /// [`Error::NoDd`] if it is not installed; [`Error::DdFailed`] with its message if it fails.
    pub fn run(&self, watch: &Watch<'_>) -> Result<DdReport> {
        let operand = |name: &str, path: &Path| {
            let mut operand = OsString::from(name);
            operand.push(path);
            operand
        };
        let mut command = Command::new("dd");
        command
            .arg(operand("if=", self.input))
            .arg(operand("of=", self.output))
            .arg(format!("bs={}", self.block_bytes))
            .args(self.count.map(|count| format!("count={count}")))
            .args(self.in_place.then_some("conv=notrunc"))
            .env("LC_ALL", "C");
        let ended = Worker::spawn(command, &WorkerOptions::default())
            .and_then(|mut dd| Ok((dd.wait(u64::MAX, watch.stop())?, dd.stderr_tail())));
        let (finished, words) = ended.map_err(|error| match error {
            WorkerError::Spawn(error) if error.kind() == io::ErrorKind::NotFound => Error::NoDd,
            WorkerError::Interrupted => Error::Stopped,
            error => Error::DdFailed(error.to_string()),
        })?;
        let report = finished.exit.is_success().then(|| parse(&words)).flatten();
        report.ok_or_else(|| Error::DdFailed(words.trim().replace('\n', "; ")))
    }
}

/// Parses `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.19 s, 5.6 GB/s`.
fn parse(words: &str) -> Option<DdReport> {
    let line = words.lines().find(|line| line.contains(" copied, "))?;
    let bytes = line.split(' ').next()?.parse().ok()?;
    let time = line.split(" copied, ").nth(1)?.split(" s").next()?;
    let seconds: f64 = time.parse().ok()?;
    Some(DdReport {
        bytes,
        wall_ns: seconds * 1e9,
    })
}

#[cfg(test)]
mod tests {
    use super::{DdReport, parse};

    #[test]
    fn the_report_of_dd_is_parsed() {
        let words = "8+0 records in\n8+0 records out\n4096 bytes (4.1 kB, 4.0 KiB) copied, \
                     2.5e-05 s, 164 MB/s\n";
        let report = DdReport {
            bytes: 4096,
            wall_ns: 25_000.0,
        };
        assert_eq!(parse(words), Some(report));
        assert_eq!(
            parse("0 bytes copied, 3e-05 s, 0.0 kB/s").map(|it| it.bytes),
            Some(0)
        );
        assert_eq!(parse("dd: failed to open"), None);
    }
}
