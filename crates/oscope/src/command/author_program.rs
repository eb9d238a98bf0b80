//! `oscope reproduce program`: the programs of the reports, called with their authors' arguments. Nothing of the
//! reports is executed: a command of oscope does the work, and prints what the program printed.

use crate::arguments::{AuthorProgram, Common};
use crate::exit::{Exit, WrongUse};
use crate::output;
use anyhow::{Context, Result};
use experiments::programs::PROGRAMS;
use platform::startup;
use serde_json::Value;
use std::process::{Command, Stdio};

pub fn execute(arguments: &AuthorProgram, common: &Common) -> Result<Exit> {
    let report = format!("{:?}", arguments.report);
    let of_report = PROGRAMS.iter().filter(|it| it.report == report);
    let programs = of_report.filter_map(|it| Some((it, it.printed?)));
    let calls = programs
        .clone()
        .filter_map(|(it, printed)| Some((it.called(&arguments.call)?, printed)));
    let calls: Vec<_> = calls.collect();
    if calls.is_empty() {
        let usages = programs.map(|(it, _)| format!("`{}`", it.usage()));
        let mut usages: Vec<_> = usages.collect();
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
        output::note(common, &format!("oscope {shown}"));
        if common.json {
            command.arg("--json");
        }
        let ended = if printed.is_empty() || common.json {
            command.status().context("cannot start oscope again")?
        } else {
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
    use super::{PROGRAMS, filled};
    use serde_json::json;

    #[test]
    fn every_value_that_a_program_printed_is_known() {
        let facts = json!({ "xor": "a7eeb2d9", "bytes": 81920, "blocks": 20, "wall_ns": 24_017_378_000_u64,
            "bytes_per_second": 1_048_576.0, "threads": 16, "block_bytes": 4096 });
        for program in PROGRAMS.iter() {
            let text = filled(program.printed.unwrap_or_default(), &facts);
            assert!(!text.contains(['{', '}', ';']), "{text}");
        }
        assert_eq!(
            filled("Runtime: {seconds};XOR: {xor_decimal}", &facts),
            "Runtime: 24.017378\nXOR: 2817438425\n"
        );
        assert_eq!(filled("size : {bytes}", &facts), "size : 81920\n");
    }
}
