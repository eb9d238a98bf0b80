//! `oscope reproduce program`: the programs of the reports, called with their authors' arguments. Nothing of the
//! reports is executed: a command of oscope does the work, and prints what the program printed.

use crate::arguments::{AuthorProgram, Common};
use crate::exit::{Exit, WrongUse};
use crate::output;
use anyhow::{Context, Result};
use platform::startup;
use serde_json::Value;
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// A program of a report: a line of `programs.txt`.
struct Program {
    /// The report's letter.
    report: &'static str,
    /// Name and arguments; those in capital letters are the caller's.
    usage: Vec<&'static str>,
    /// The command of oscope, with the same names for the caller's arguments.
    command: Vec<String>,
    /// What the program printed, with a name in braces for each value, and a line after each semicolon. `None`: what
    /// the command prints.
    printed: Option<&'static str>,
}

impl Program {
    fn all() -> impl Iterator<Item = Self> {
        include_str!("programs.txt").lines().map(|line| {
            let mut columns = line.split(" | ");
            let mut column = || columns.next();
            Self {
                report: column().unwrap_or_default(),
                usage: column().unwrap_or_default().split(' ').collect(),
                command: shlex::split(column().unwrap_or_default()).unwrap_or_default(),
                printed: column(),
            }
        })
    }

    /// The command's words for a call of the program; `None` if the program is called otherwise.
    fn command(&self, call: &[OsString]) -> Option<Vec<OsString>> {
        let pairs = self.usage.iter().zip(call);
        let is_alike = |(word, given): (&&str, &OsString)| is_variable(word) || given == word;
        if self.usage.len() != call.len() || !pairs.clone().all(is_alike) {
            return None;
        }
        let filled = |word: &String| {
            let (before, name) = word.rsplit_once('=').unwrap_or(("", word.as_str()));
            let value = pairs
                .clone()
                .find(|(variable, _)| **variable == name && is_variable(name));
            match value {
                Some((_, value)) if before.is_empty() => value.clone(),
                Some((_, value)) => {
                    let mut word = OsString::from(format!("{before}="));
                    word.push(value);
                    word
                }
                None => word.into(),
            }
        };
        Some(self.command.iter().map(filled).collect())
    }
}

/// True for the name of an argument that the caller chooses.
fn is_variable(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
}

pub fn execute(arguments: &AuthorProgram, common: &Common) -> Result<Exit> {
    let report = format!("{:?}", arguments.report);
    let of_report = || Program::all().filter(|program| program.report == report);
    let calls: Vec<_> = of_report()
        .filter_map(|program| Some((program.command(&arguments.call)?, program.printed)))
        .collect();
    if calls.is_empty() {
        let mut usages: Vec<_> = of_report()
            .map(|it| format!("`{}`", it.usage.join(" ")))
            .collect();
        usages.dedup();
        return Err(WrongUse(if usages.is_empty() {
            format!("report {report} names no program that takes arguments")
        } else {
            format!("the programs of report {report} are {}", usages.join(", "))
        })
        .into());
    }
    for (mut words, printed) in calls {
        if arguments.force && words.get(1).is_some_and(|word| word == "write") {
            words.push("--force".into());
        }
        let mut command = Command::new(startup::program()?);
        command.args(&words);
        if let Some(store) = &common.store {
            command.arg("--store").arg(store);
        }
        let shown: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let shown = shown.join(" ");
        if !common.quiet {
            output::say(&format!("oscope {shown}"));
        }
        if common.json {
            command.arg("--json");
        }
        let ended = if let Some(printed) = printed.filter(|_| !common.json) {
            let output = command
                .args(["--json", "--quiet"])
                .stderr(Stdio::inherit())
                .output();
            let output = output.context("cannot start oscope again")?;
            if output.status.success() {
                let facts: Value = serde_json::from_slice(&output.stdout)?;
                output::show(&filled(printed, facts.get(0).unwrap_or(&facts)))?;
            }
            output.status
        } else {
            command.status().context("cannot start oscope again")?
        };
        match ended.code() {
            Some(0) => {}
            Some(2) => return Ok(Exit::WrongUse),
            _ => return Ok(Exit::Incomplete),
        }
    }
    Ok(Exit::Done)
}

/// The lines of `printed`, with the values of `facts`.
fn filled(printed: &str, facts: &Value) -> String {
    let number = |name: &str| facts[name].as_f64().unwrap_or_default();
    let xor = facts["xor"].as_str().unwrap_or_default();
    let per_second = number("bytes_per_second");
    let values = [
        ("{xor}", xor.to_owned()),
        (
            "{xor_decimal}",
            u32::from_str_radix(xor, 16).unwrap_or_default().to_string(),
        ),
        ("{bytes}", number("bytes").to_string()),
        ("{blocks}", number("blocks").to_string()),
        ("{block_bytes}", number("block_bytes").to_string()),
        ("{threads}", number("threads").to_string()),
        ("{seconds}", format!("{:.6}", number("wall_ns") / 1e9)),
        ("{bytes_per_second}", format!("{per_second:.6}")),
        (
            "{mebibytes_per_second}",
            format!("{:.6}", per_second / f64::from(1 << 20)),
        ),
    ];
    let text = printed.replace(';', "\n") + "\n";
    values
        .iter()
        .fold(text, |text, (name, value)| text.replace(name, value))
}

#[cfg(test)]
mod tests {
    use super::{Program, filled, is_variable};
    use serde_json::json;
    use std::ffi::OsString;

    fn command(call: &str) -> Option<String> {
        let call: Vec<OsString> = call.split(' ').map(OsString::from).collect();
        let words = Program::all().find_map(|program| program.command(&call))?;
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        Some(words.join(" "))
    }

    #[test]
    fn a_call_becomes_a_command_with_the_callers_arguments() {
        for (call, expected) in [
            (
                "run a.iso -r 524288 10000",
                Some("file read a.iso --block-size 524288 --count 10000"),
            ),
            (
                "run FILE -w 4096 20",
                Some("file write FILE --block-size 4096 --count 20"),
            ),
            (
                "lock-vs-spinlock 30",
                Some("run threads.lock --at threads=30 --at lock=Lock --at lock=SpinLock"),
            ),
            (
                "sync-vs-async 1 10000 2 3",
                Some(
                    "run threads.io --at sweep=preemptive, by length --at io_threads=1 --at length=10000 \
                     --at computing_threads=2 --at steps=3",
                ),
            ),
            ("priority-inversion", Some("run threads.inversion")),
            ("run a.iso -x 524288 10000", None),
            ("run a.iso -r 524288", None),
            ("rm a.iso", None),
        ] {
            assert_eq!(command(call).as_deref(), expected, "{call}");
        }
    }

    #[test]
    fn every_value_that_a_program_printed_is_known() {
        let facts = json!({ "xor": "a7eeb2d9", "bytes": 81920, "blocks": 20, "wall_ns": 24_017_378_000_u64,
            "bytes_per_second": 1_048_576.0, "threads": 16, "block_bytes": 4096 });
        for program in Program::all() {
            let text = program
                .printed
                .map(|printed| filled(printed, &facts))
                .unwrap_or_default();
            assert!(!text.contains(['{', '}', ';']), "{text}");
            assert!(
                program.usage[1..]
                    .iter()
                    .all(|word| is_variable(word) || word.starts_with('-'))
            );
        }
        assert_eq!(
            filled("Runtime: {seconds};XOR: {xor_decimal}", &facts),
            "Runtime: 24.017378\nXOR: 2817438425\n"
        );
        assert_eq!(filled("size : {bytes}", &facts), "size : 81920\n");
    }
}
