//! The results of a comparison: the files that the command line names, and the report in words or as JSON.

use super::export;
use super::launch::{Launcher, input, output_file};
use super::programs::{Program, on_one_line};
use super::runs::{Runs, Summary};
use super::single;
use crate::arguments::{Ab, Common};
use crate::exit::first_error;
use crate::output;
use crate::target::{Target, keep_apart};
use anyhow::Result;
use files::Watch;
use instrument::ab::{Ending, Outcome, Pair, Remark, Rules, Verdict};
use instrument::quantity::{Nanoseconds, counted};
use instrument::statistics::Interval;
use instrument::statistics::summary::median;
use platform::signal::Interrupt;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A comparison with at least one finished block, or one that the user stopped.
pub struct Compared {
    pub outcome: Outcome,
    pub runs: Vec<Runs>,
    pub summaries: Vec<Summary>,
    pub rules: Rules,
    pub seed: u64,
    /// Times of a command that does nothing, which ran in turn with short programs.
    pub starts_ns: Vec<f64>,
    /// Number of the run in the store.
    pub number: u64,
    /// The error that ended it, in words.
    pub failure: Option<String>,
}

/// The files that the command line names for results.
pub struct Exports {
    json: Option<Target>,
    csv: Option<Target>,
    markdown: Option<Target>,
    asciidoc: Option<Target>,
    orgmode: Option<Target>,
}

impl Exports {
    /// Checks that the files can be written, each apart from the others and from those of the programs.
    pub fn new(arguments: &Ab, common: &Common) -> Result<Self> {
        let results = &arguments.results;
        let named = [
            &results.export_json,
            &results.export_csv,
            &results.export_markdown,
            &results.export_asciidoc,
            &results.export_orgmode,
        ];
        let of_programs = [input(&arguments.programs), output_file(&arguments.programs)];
        let exports = named.into_iter().flatten().map(PathBuf::as_path);
        let all: Vec<&Path> = of_programs.into_iter().flatten().chain(exports).collect();
        keep_apart(&all, common)?;
        let target = |path: &Option<_>| Target::if_named(path.as_ref(), results.force, common);
        Ok(Self {
            json: target(&results.export_json)?,
            csv: target(&results.export_csv)?,
            markdown: target(&results.export_markdown)?,
            asciidoc: target(&results.export_asciidoc)?,
            orgmode: target(&results.export_orgmode)?,
        })
    }

    /// True if one of them goes to standard output.
    pub fn are_shown(&self) -> bool {
        let all = [
            &self.json,
            &self.csv,
            &self.markdown,
            &self.asciidoc,
            &self.orgmode,
        ];
        all.into_iter().flatten().any(Target::is_standard_output)
    }

    /// Writes each file, also if another cannot be written.
    pub fn write(
        &self,
        programs: &[Program],
        compared: &Compared,
        interrupt: Interrupt,
    ) -> Result<()> {
        let (summaries, runs) = (&compared.summaries, &compared.runs);
        let write = |target: &Option<Target>, contents: &dyn Fn() -> Result<Vec<u8>>| {
            let Some(target) = target else { return Ok(()) };
            target.write(&contents()?, &Watch::stopped_by(interrupt.flag()))
        };
        first_error([
            write(&self.json, &|| export::json(programs, summaries, runs)),
            write(&self.csv, &|| export::csv(programs, summaries)),
            write(&self.markdown, &|| {
                Ok(export::markdown(programs, summaries, &compared.outcome))
            }),
            write(&self.asciidoc, &|| {
                Ok(export::asciidoc(programs, summaries))
            }),
            write(&self.orgmode, &|| Ok(export::orgmode(programs, summaries))),
        ])
    }
}

/// Prints the report.
pub fn present(
    compared: &Compared,
    programs: &[Program],
    launcher: &Launcher,
    common: &Common,
) -> Result<()> {
    let Compared {
        outcome,
        summaries,
        rules,
        ..
    } = compared;
    let shell = launcher.shell.as_deref();
    let mut remarks = remarks(programs, summaries, shell, median(&compared.starts_ns));
    remarks.extend(missing(outcome, summaries, rules));
    if common.json {
        let measured = programs.iter().zip(summaries);
        let rival = |pair: &Pair| programs[pair.rival].name.as_str();
        let pairs = outcome.pairs.iter();
        return output::show_json(&ComparisonJson {
            format: FORMAT,
            run: compared.number,
            shell,
            seed: compared.seed,
            margin: rules.margin,
            error: rules.error,
            ending: outcome.ending,
            blocks: outcome.blocks,
            failure: compared.failure.as_deref(),
            programs: measured.map(ProgramJson::new).collect(),
            pairs: pairs
                .map(|pair| PairJson::new(&programs[0].name, rival(pair), pair))
                .collect(),
            remarks: &remarks,
        });
    }
    let text = match (programs, &summaries[..]) {
        ([program], [summary]) => single::text(program, summary),
        _ => all(programs, summaries, outcome, rules.margin),
    };
    let notes = remarks.iter().map(|note| format!("Note: {note}.\n"));
    output::show_painted(&(text + &notes.collect::<String>()))
}

/// Version of the document.
const FORMAT: u32 = 1;

/// The comparison as JSON, as `schema/ab-1.schema.json` describes it.
#[derive(Serialize)]
struct ComparisonJson<'a> {
    format: u32,
    /// Number of the run in the store.
    run: u64,
    /// The words of the shell; `None` if programs were started directly.
    shell: Option<&'a [String]>,
    seed: u64,
    margin: f64,
    /// Probability that an equal pair is called different.
    error: f64,
    ending: Ending,
    blocks: usize,
    /// The error that ended the comparison.
    failure: Option<&'a str>,
    programs: Vec<ProgramJson<'a>>,
    pairs: Vec<PairJson<'a>>,
    remarks: &'a [String],
}

#[derive(Serialize)]
struct ProgramJson<'a> {
    name: &'a str,
    command: &'a str,
    parameters: BTreeMap<&'a str, &'a str>,
    #[serde(flatten)]
    summary: &'a Summary,
}

impl<'a> ProgramJson<'a> {
    fn new((program, summary): (&'a Program, &'a Summary)) -> Self {
        let parameters = program.parameters.iter();
        Self {
            name: &program.name,
            command: &program.command,
            parameters: parameters
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect(),
            summary,
        }
    }
}

/// In runs shorter than this, the start of the process is a large part of the time.
pub const SHORT: Nanoseconds = Nanoseconds(5e6);

/// The verdict on a pair, for a document.
#[derive(Serialize)]
pub struct PairJson<'a> {
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

impl<'a> PairJson<'a> {
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

/// The verdict on `rival` against `first`, as a sentence.
pub fn sentence(first: &str, rival: &str, pair: &Pair) -> String {
    let (first, rival) = (on_one_line(first), on_one_line(rival));
    let Some(interval) = pair.interval else {
        return so_far(&first, &rival, pair);
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
        Verdict::Undecided => format!(
            "not yet decided: '{rival}' takes {ratio:.digits$} times as long as '{first}' {}{}",
            range(interval),
            needed(pair)
        ),
    }
}

/// The estimate before there are enough runs for an interval.
fn so_far(first: &str, rival: &str, pair: &Pair) -> String {
    let missing = Rules::USUAL_RUNS.saturating_sub(pair.runs);
    let more = match missing {
        0 => "more runs are needed for a verdict".to_owned(),
        1 => "about one more run of each for a verdict".to_owned(),
        _ => format!("about {missing} more runs of each for a verdict"),
    };
    format!(
        "not yet decided: '{rival}' takes {:.3} times as long as '{first}' so far, and {} of {} \
         agree; {more}",
        pair.ratio,
        pair.agreeing,
        counted(pair.runs, "pair"),
    )
}

/// More time than this for a verdict is not worth a number: the two may well be equal.
const LONG: Nanoseconds = Nanoseconds(600e9);
/// Less time than this is a run or two.
const AT_ONCE: Nanoseconds = Nanoseconds(0.5e9);

/// The time that a verdict would take.
fn needed(pair: &Pair) -> String {
    match pair.needed {
        None => String::new(),
        Some(needed) if needed.0 > LONG.0 => {
            "; if they differ at all, then by too little to find soon".into()
        }
        Some(needed) if needed.0 < AT_ONCE.0 => "; a few more runs would decide it".into(),
        Some(needed) => format!("; about {needed:.2} more would decide it at this spread"),
    }
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
fn all(programs: &[Program], summaries: &[Summary], outcome: &Outcome, margin: f64) -> String {
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
        Ending::Decided => "Stopped when all was decided",
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
        "program", "wall", "fastest", "user", "system", "memory", "faults", "switches", "runs",
    ];
    let mut rows = vec![header.map(str::to_owned)];
    let sum = |one: Option<f64>, other: Option<f64>| match one.zip(other) {
        Some((one, other)) => format!("{:.0}", one + other),
        None => "–".to_owned(),
    };
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
            summary.memory(),
            sum(summary.minor_faults, summary.major_faults),
            sum(summary.voluntary_switches, summary.involuntary_switches),
            summary.runs.to_string(),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..header.len()).filter_map(width).collect();
    let line = |row: &[String; 9]| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

/// Remarks on the runs for readers. `start_ns` is the time of a program that does nothing.
fn remarks(
    programs: &[Program],
    summaries: &[Summary],
    shell: Option<&[String]>,
    start_ns: Option<f64>,
) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(shell) = shell {
        let shell = shell.join(" ");
        all.push(format!(
            "all commands were run by `{shell} -c`, whose start is part of every time; `--shell none` \
             starts programs directly"
        ));
    }
    if summaries.iter().any(is_short) {
        let start = start_ns.map_or_else(String::new, |ns| {
            format!(
                " A command that does nothing (`true`), in turn with them, took {:.3}.",
                Nanoseconds(ns)
            )
        });
        let ratio = if programs.len() > 1 {
            " The ratio is that of whole runs; the work alone differs by more"
        } else {
            ""
        };
        all.push(format!(
            "in runs below {SHORT}, the start of the process is a large part of the time.{start}{ratio}"
        ));
    }
    for (Program { name, .. }, summary) in programs.iter().zip(summaries) {
        if summary.failures > 0 {
            let ends: Vec<String> = summary
                .failed_with
                .iter()
                .map(ToString::to_string)
                .collect();
            all.push(format!(
                "'{name}' failed in {} of {}, with {}; they count",
                summary.failures,
                counted(summary.runs, "run"),
                ends.join(", ")
            ));
        }
        if summary.leftovers > 0 {
            let (left, runs) = (summary.leftovers, summary.runs);
            all.push(format!(
                "{runs} runs of '{name}' left {left} of their processes behind, which were ended after each run"
            ));
        }
        all.extend(
            summary
                .remarks
                .iter()
                .map(|remark| self::remark(name, remark)),
        );
    }
    all
}

/// The runs for which there was no time.
fn missing(outcome: &Outcome, summaries: &[Summary], rules: &Rules) -> Option<String> {
    let done = summaries.iter().map(|summary| summary.runs).min()?;
    let is_short = outcome.ending == Ending::BudgetUsed && done < rules.least_runs;
    is_short.then(|| {
        let wanted = counted(rules.least_runs, "run");
        format!("there was time for {done} of {wanted} of each command; a longer `--budget` makes the rest")
    })
}

/// True if the start of a process is a good part of the program's time.
fn is_short(summary: &Summary) -> bool {
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
