//! The comparison in words.

use super::programs::Program;
use super::summary::Summary;
use super::words::on_one_line;
use instrument::ab::{Ending, Outcome, Pair, Remark, Rules, Verdict};
use instrument::quantity::{Bytes, Nanoseconds, counted};
use instrument::statistics::Interval;
use serde::Serialize;

/// In runs shorter than this, the start of the process is a large part of the time.
const SHORT: Nanoseconds = Nanoseconds(5e6);

/// The verdict on a pair, for a document.
#[derive(Serialize)]
pub struct Judged<'a> {
    first: &'a str,
    rival: &'a str,
    /// The rival's cost over that of the first.
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    verdict: Verdict,
    /// Further time that a verdict would take, in ns.
    needed_ns: Option<f64>,
    sentence: String,
}

impl<'a> Judged<'a> {
    pub fn new(first: &'a str, rival: &'a str, pair: &Pair) -> Self {
        Self {
            first,
            rival,
            ratio: pair.ratio,
            low: pair.interval.map(|interval| interval.low),
            high: pair.interval.map(|interval| interval.high),
            verdict: pair.verdict,
            needed_ns: pair.needed.map(|needed| needed.0),
            sentence: sentence(first, rival, pair),
        }
    }
}

/// The verdict on a pair, as a sentence.
pub fn pair(programs: &[Program], pair: &Pair) -> String {
    sentence(&programs[0].name, &programs[pair.rival].name, pair)
}

/// The verdict on `rival` beside `first`, as a sentence.
pub fn sentence(first: &str, rival: &str, pair: &Pair) -> String {
    let (first, rival) = (on_one_line(first), on_one_line(rival));
    let Some(interval) = pair.interval else {
        return format!("'{rival}' and '{first}': too few runs to tell anything");
    };
    let digits = digits(interval);
    let range = |interval: Interval| {
        let Interval { low, high } = interval;
        format!("({low:.digits$} to {high:.digits$})")
    };
    let ratio = pair.ratio;
    match pair.verdict {
        Verdict::Slower => format!(
            "'{first}' is {ratio:.digits$} times as fast as '{rival}' {}",
            range(interval)
        ),
        Verdict::Faster => format!(
            "'{rival}' is {:.digits$} times as fast as '{first}' {}",
            1.0 / ratio,
            range(Interval {
                low: 1.0 / interval.high,
                high: 1.0 / interval.low
            })
        ),
        Verdict::Equivalent => format!(
            "'{rival}' takes as long as '{first}', within the margin: {ratio:.digits$} times {}",
            range(interval)
        ),
        Verdict::Untold => format!(
            "not yet told: '{rival}' takes {ratio:.digits$} times as long as '{first}' {}{}",
            range(interval),
            needed(pair)
        ),
    }
}

/// The time that a verdict would take.
fn needed(pair: &Pair) -> String {
    pair.needed.map_or_else(String::new, |needed| {
        format!("; about {needed:.2} more would tell at this spread")
    })
}

/// Decimals that show the width of an interval with two digits, and that an end is not quite 1.
fn digits(interval: Interval) -> usize {
    const MOST: usize = 6;
    let width = (interval.high - interval.low).max(1e-5);
    let fewest = (1.0 - width.log10().floor()).clamp(2.0, 5.0) as usize;
    let looks_like_one =
        |end: f64, digits| format!("{end:.digits$}") == format!("{:.digits$}", 1.0);
    let is_clear = |digits: &usize| {
        let Interval { low, high } = interval;
        !looks_like_one(low, *digits) && !looks_like_one(high, *digits)
    };
    (fewest..MOST).find(is_clear).unwrap_or(MOST)
}

/// The whole comparison for readers.
pub fn all(programs: &[Program], summaries: &[Summary], outcome: &Outcome, margin: f64) -> String {
    let mut verdicts: Vec<String> = outcome
        .pairs
        .iter()
        .map(|judged| pair(programs, judged))
        .collect();
    if verdicts.is_empty() {
        verdicts.push("nothing is decided: no round of all programs was finished".into());
    }
    format!(
        "{}\n{}\n\n{}\n",
        table(programs, summaries),
        verdicts.join("\n"),
        ending(outcome, margin)
    )
}

fn ending(outcome: &Outcome, margin: f64) -> String {
    let why = match outcome.ending {
        Ending::Told => "Stopped when all was told",
        Ending::BudgetUsed => "Stopped at the end of the time (`--budget`)",
        Ending::RunsUsed => "Stopped at the number of runs",
        Ending::Stopped => "Stopped by a signal",
        Ending::Failed => "Stopped by an error",
    };
    format!(
        "{why}, after {}. Margin {} %. Each interval holds in 199 of 200 comparisons, at \
         whatever moment they stop.",
        counted(outcome.blocks, "block"),
        margin * 100.0
    )
}

fn table(programs: &[Program], summaries: &[Summary]) -> String {
    let header = [
        "program", "wall", "fastest", "user", "system", "memory", "runs",
    ];
    let mut rows = vec![header.map(str::to_owned)];
    for (program, summary) in programs.iter().zip(summaries) {
        let time = |ns: Option<f64>| {
            ns.map_or_else(|| "–".to_owned(), |ns| format!("{:.3}", Nanoseconds(ns)))
        };
        rows.push([
            program.name.clone(),
            time(summary.median_ns),
            time(summary.min_ns),
            time(summary.user_ns),
            time(summary.system_ns),
            memory(summary),
            summary.runs.to_string(),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..header.len()).filter_map(width).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

fn memory(summary: &Summary) -> String {
    match (summary.peak_bytes, summary.least_peak_bytes) {
        (Some(peak), _) => format!("{:.3}", Bytes(peak)),
        (None, Some(least)) => format!("< {:.2}", Bytes(least)),
        (None, None) => "–".to_owned(),
    }
}

/// Remarks on the runs for readers. `start_ns` is the time of a program that does nothing.
pub fn remarks(
    programs: &[Program],
    summaries: &[Summary],
    shell: Option<&[String]>,
    start_ns: Option<f64>,
) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(shell) = shell {
        let shell = shell.join(" ");
        told.push(format!(
            "all commands were run by `{shell} -c`, whose start is part of every time; `--shell none` \
             starts programs directly"
        ));
    }
    if summaries.iter().any(is_short) {
        let start = start_ns.map_or_else(String::new, |ns| {
            format!(
                " A command that does nothing (`true`) takes {:.2} here.",
                Nanoseconds(ns)
            )
        });
        told.push(format!(
            "in runs below {SHORT}, the start of the process is a large part of the time.{start} The ratio \
             is that of whole runs; the work alone differs by more"
        ));
    }
    for (Program { name, .. }, summary) in programs.iter().zip(summaries) {
        if summary.failures > 0 {
            let ends: Vec<String> = summary
                .failed_with
                .iter()
                .map(ToString::to_string)
                .collect();
            told.push(format!(
                "'{name}' failed in {} of {}, with {}; they count",
                summary.failures,
                counted(summary.runs, "run"),
                ends.join(", ")
            ));
        }
        if summary.leftovers > 0 {
            let (left, runs) = (summary.leftovers, summary.runs);
            told.push(format!(
                "{runs} runs of '{name}' left {left} of their processes behind, which were ended after each run"
            ));
        }
        told.extend(
            summary
                .remarks
                .iter()
                .map(|remark| self::remark(name, remark)),
        );
    }
    told
}

/// The runs for which there was no time.
pub fn missing(outcome: &Outcome, summaries: &[Summary], rules: &Rules) -> Option<String> {
    let done = summaries.iter().map(|summary| summary.runs).min()?;
    let is_short = outcome.ending == Ending::BudgetUsed && done < rules.least_runs;
    is_short.then(|| {
        let wanted = counted(rules.least_runs, "run");
        format!("there was time for {done} of {wanted} of each command; a longer `--budget` makes the rest")
    })
}

/// True if the start of a process is a good part of the program's time.
pub fn is_short(summary: &Summary) -> bool {
    summary.median_ns.is_some_and(|median| median < SHORT.0)
}

fn remark(name: &str, remark: &Remark) -> String {
    match *remark {
        Remark::Outliers { count, worst } => format!(
            "'{name}' had {}, up to {worst:.2} times the median: something else was busy. Outliers hardly \
             move the ratio",
            counted(count, "outlier")
        ),
        Remark::SlowStart { factor } => format!(
            "the first run of '{name}' took {factor:.2} times the median: something was cold. \
             `--warmup` leaves it out"
        ),
        Remark::Drift { factor } => format!(
            "the time of '{name}' changed by {:+.1} % from the first third of its runs to the last. \
             The pairs share what the machine does, and the ratio stays",
            (factor - 1.0) * 100.0
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{remark, sentence};
    use instrument::ab::{Pair, Remark, Verdict};

    #[test]
    fn one_outlier_is_no_outliers() {
        let said = |count| remark("x", &Remark::Outliers { count, worst: 3.0 });
        assert!(
            said(1).starts_with("'x' had 1 outlier, up to"),
            "{}",
            said(1)
        );
        assert!(
            said(2).starts_with("'x' had 2 outliers, up to"),
            "{}",
            said(2)
        );
    }

    #[test]
    fn a_sentence_is_on_one_line() {
        let pair = Pair {
            rival: 1,
            ratio: 1.0,
            interval: None,
            verdict: Verdict::Untold,
            needed: None,
            spread: None,
        };
        let said = sentence("a\nb", "c\td", &pair);
        assert_eq!(said, "'c d' and 'a b': too few runs to tell anything");
    }
}
