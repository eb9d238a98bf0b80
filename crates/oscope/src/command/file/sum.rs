//! `oscope file sum`: the exclusive or of files, as fast as possible.

use super::live;
use super::outcome::{Outcome, speed};
use crate::arguments::Common;
use crate::arguments::file::Sum as Arguments;
use crate::exit::Exit;
use crate::output;
use anyhow::Result;
use choice::Choice as _;
use files::cache::make_cold;
use files::choose::{Choice, Wishes, sum_fastest};
use files::sum::Sum;
use files::{Error, Source, Timed, Watch, timed};
use instrument::quantity::{Bytes, Nanoseconds};
use platform::signal::Interrupt;
use std::path::Path;

pub fn execute(arguments: &Arguments, common: &Common, interrupt: Interrupt) -> Result<Exit> {
    let wishes = Wishes {
        method: arguments.method,
        block_bytes: arguments.block_size.map(super::block_bytes),
        threads: arguments.threads.map(usize::from),
    };
    let mut exit = Exit::Done;
    let mut list = Vec::new();
    for path in &arguments.paths {
        match sum(path, &wishes, arguments.cold, common, interrupt) {
            Ok(timed) if common.json => list.push(to_json(path, &timed)),
            Ok(timed) => {
                let (sum, _) = &timed.value;
                // Before the sum, so that the sum is the last line on the terminal.
                if !common.quiet {
                    output::say(&explain(path, &timed));
                }
                let name = escaped(path);
                output::show(&format!("{:08x} {} {name}\n", sum.xor.0, sum.bytes))?;
            }
            Err(error) if arguments.paths.len() == 1 || matches!(error, Error::Stopped) => {
                return Err(error.into());
            }
            Err(error) => {
                output::say(&format!("oscope: {error}"));
                exit = Exit::Incomplete;
            }
        }
    }
    if common.json {
        output::show(&(serde_json::to_string_pretty(&list)? + "\n"))?;
    }
    Ok(exit)
}

fn sum(
    path: &Path,
    wishes: &Wishes,
    cold: bool,
    common: &Common,
    interrupt: Interrupt,
) -> files::Result<Timed<(Sum, Choice)>> {
    let source = Source::open(path)?;
    if cold {
        make_cold(&source)?;
    }
    let watch = Watch::stopped_by(interrupt.flag());
    live::while_doing(&watch, source.size(), common, || {
        timed(|| sum_fastest(&source, wishes, &watch))
    })
}

/// Time, speed and the way that was chosen.
fn explain(path: &Path, timed: &Timed<(Sum, Choice)>) -> String {
    let (sum, choice) = &timed.value;
    let options = &choice.options;
    let threads = if options.threads == 1 {
        "thread"
    } else {
        "threads"
    };
    format!(
        "{}: {:.4}, {:.4} by {}, {} {threads}, blocks of {}: {}",
        escaped(path),
        Nanoseconds(timed.wall_ns as f64),
        speed(sum.bytes, timed.wall_ns as f64),
        options.method.name(),
        options.threads,
        Bytes(options.block_bytes as u64),
        choice.reason.words()
    )
}

fn to_json(path: &Path, timed: &Timed<(Sum, Choice)>) -> serde_json::Value {
    let (sum, choice) = &timed.value;
    let outcome = Outcome::default().field("path", path.to_string_lossy());
    let outcome = match path.to_str() {
        Some(_) => outcome,
        None => outcome.field("path_bytes", path.as_os_str().as_encoded_bytes()),
    };
    outcome
        .timed(sum.bytes, timed.wall_ns, timed.cpu_ns)
        .xor(sum.xor)
        .field("method", choice.options.method.name())
        .field("block_bytes", choice.options.block_bytes)
        .field("threads", choice.options.threads)
        .field("reason", choice.reason.words())
        .into_json()
}

/// An unambiguous name of the file on one line: backslashes, control characters and invalid UTF-8
/// are escaped, as in `ls --escape`.
fn escaped(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => shown += r"\\",
                '\n' => shown += r"\n",
                control if control.is_control() => {
                    let mut bytes = [0; 4];
                    octal(control.encode_utf8(&mut bytes).as_bytes(), &mut shown);
                }
                other => shown.push(other),
            }
        }
        octal(chunk.invalid(), &mut shown);
    }
    shown
}

fn octal(bytes: &[u8], shown: &mut String) {
    for byte in bytes {
        shown.push('\\');
        let digits = [6, 3, 0].map(|shift| (byte >> shift) & 7);
        shown.extend(digits.map(|digit| char::from(b'0' + digit)));
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    #[test]
    fn a_name_is_one_line_and_means_no_other() {
        let shown = |bytes: &[u8]| escaped(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(shown("Größe 1".as_bytes()), "Größe 1");
        assert_eq!(shown(b"a\nb\tc\\n"), r"a\nb\011c\\n");
        assert_eq!(shown(b"odd \xff\xc3"), r"odd \377\303");
        assert_eq!(shown("\u{85}".as_bytes()), r"\302\205");
    }
}
