//! The report of a comparison, in words or as JSON.

use super::launch::Launcher;
use super::programs::{Program, on_one_line};
use super::runs::{COSTS, Runs, Summary, time};
use super::single;
use crate::arguments::{Common, TimeUnit};
use crate::{output, style};
use anyhow::Result;
use instrument::ab::{Ending, Outcome, Pair, Remark, Rules, Verdict};
use instrument::quantity::{Nanoseconds, counted};
use instrument::statistics::Interval;
use instrument::statistics::summary::median;
use report::document::{Blocks, Piece, Table};
use report::show::ratio_with_range;
use serde::Serialize;
use std::collections::BTreeMap;

/// A comparison with at least one finished block, or one that the user stopped.
pub struct Compared {
    pub outcome: Outcome,
    pub runs: Vec<Runs>,
    pub summaries: Vec<Summary>,
    pub rules: Rules,
    pub seed: u64,
    /// Times of a command that does nothing, which ran in turn with short programs.
    pub starts_ns: Vec<f64>,
    /// Unit of the times for readers, if they ask for one.
    pub unit: Option<TimeUnit>,
    /// Number of the run in the store, if it is kept.
    pub number: Option<u64>,
    /// The error that ended it, in words.
    pub failure: Option<String>,
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
    let mut remarks = remarks(programs, compared, launcher);
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
            error: Rules::ERROR,
            ending: outcome.ending,
            blocks: outcome.blocks,
            failure: compared.failure.as_deref(),
            programs: measured.map(ProgramJson::new).collect(),
            pairs: pairs
                .map(|pair| PairJson {
                    others: others(&outcome.others, pair)
                        .map(|(cost, other)| (COSTS[cost].0, other.into()))
                        .collect(),
                    ..PairJson::new(&programs[0].name, rival(pair), pair)
                })
                .collect(),
            remarks: &remarks,
        });
    }
    let report = match (programs, &summaries[..]) {
        ([program], [summary]) => single::report(program, summary, compared.unit),
        _ => report(programs, compared),
    };
    let notes = remarks.iter().map(|note| format!("{note}."));
    let report = report.remark(notes).document("");
    output::show_painted(&style::painted(&report, common))
}

/// Version of the document.
const FORMAT: u32 = 1;

/// The comparison as JSON, as `schema/ab-1.schema.json` describes it.
#[derive(Serialize)]
struct ComparisonJson<'a> {
    format: u32,
    /// Number of the run in the store, if it is kept.
    run: Option<u64>,
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
#[derive(Debug, Serialize)]
pub struct PairJson<'a> {
    first: &'a str,
    rival: &'a str,
    #[serde(flatten)]
    pub ratio: RatioJson,
    /// Further time that a verdict would take, in ns.
    needed_ns: Option<f64>,
    pub sentence: String,
    /// The other costs of the rival's runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<&'static str, RatioJson>,
}

/// The rival's cost over that of the first.
#[derive(Debug, Serialize)]
pub struct RatioJson {
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    pub verdict: Verdict,
}

impl From<&Pair> for RatioJson {
    fn from(pair: &Pair) -> Self {
        Self {
            ratio: pair.ratio,
            low: pair.interval.map(|interval| interval.low),
            high: pair.interval.map(|interval| interval.high),
            verdict: pair.verdict,
        }
    }
}

/// Each further cost of a pair, by its index, with the verdict on it.
fn others<'o>(outcomes: &'o [Vec<Pair>], pair: &Pair) -> impl Iterator<Item = (usize, &'o Pair)> {
    let rival = pair.rival;
    let of_rival = move |pairs: &'o Vec<Pair>| pairs.iter().find(|other| other.rival == rival);
    let all = outcomes.iter().enumerate();
    all.filter_map(move |(cost, pairs)| Some((cost, of_rival(pairs)?)))
}

impl<'a> PairJson<'a> {
    pub fn new(first: &'a str, rival: &'a str, pair: &Pair) -> Self {
        Self {
            first,
            rival,
            ratio: pair.into(),
            needed_ns: pair.needed.map(|needed| needed.0),
            sentence: sentence(first, rival, pair),
            others: BTreeMap::new(),
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
fn report<'a>(programs: &[Program], compared: &Compared) -> Blocks<'a> {
    let Compared { outcome, rules, .. } = compared;
    let mut verdicts: Vec<String> = Vec::new();
    for judged in &outcome.pairs {
        verdicts.push(pair(programs, judged));
        verdicts.extend(differences(programs, compared, judged));
    }
    if verdicts.is_empty() {
        verdicts.push("nothing is decided: no round of all programs was finished".into());
    }
    Blocks::default()
        .table(table(programs, compared))
        .say(verdicts.into_iter().map(Piece::from))
        .say([ending(outcome, rules.margin)])
}

/// What else differs in a pair, in words.
fn differences(programs: &[Program], compared: &Compared, pair: &Pair) -> Option<String> {
    let differ = others(&compared.outcome.others, pair)
        .filter(|(_, other)| matches!(other.verdict, Verdict::Faster | Verdict::Slower));
    let one = |(cost, other): (usize, &Pair)| {
        let (_, name) = COSTS[cost];
        // Nothing is a multiple of nothing.
        let mut both = [0, pair.rival].into_iter();
        match both.find(|program| compared.runs[*program].mean_of(cost) < 1.0) {
            Some(program) => format!("{name} (next to none in '{}')", programs[program].name),
            None => format!("{name} {}", ratio_with_range(other.ratio, other.interval)),
        }
    };
    let all: Vec<String> = differ.map(one).collect();
    (!all.is_empty()).then(|| {
        let [first, rival] = [0, pair.rival].map(|index| &programs[index].name);
        format!(
            "What else differs, '{rival}' over '{first}': {}.",
            all.join("; ")
        )
    })
}

fn ending(outcome: &Outcome, margin: f64) -> String {
    let why = match outcome.ending {
        Ending::Decided => "Stopped when all was decided",
        Ending::BudgetUsed => "Stopped at the end of the time (`--budget`)",
        Ending::RunsUsed => "Stopped at the number of runs",
        Ending::Stopped => "Stopped by a signal",
        Ending::Failed => "Stopped by an error",
    };
    let blocks = counted(outcome.blocks, "block");
    format!("{why}, after {blocks}. {}", certainty(margin))
}

/// What a verdict means.
pub fn certainty(margin: f64) -> String {
    format!(
        "Margin {} %. Each interval holds in 199 of 200 comparisons, at whatever moment they stop.",
        margin * 100.0
    )
}

fn table(programs: &[Program], compared: &Compared) -> Table {
    let rows: Vec<(&Program, &Summary)> = programs.iter().zip(&compared.summaries).collect();
    let of = |read: fn(&Summary) -> Option<f64>| {
        move |row: &(&Program, &Summary)| time(read(row.1), compared.unit)
    };
    let sum = |one: Option<f64>, other: Option<f64>| match one.zip(other) {
        Some((one, other)) => format!("{:.0}", one + other),
        None => "–".to_owned(),
    };
    Table::of("The programs", &rows)
        .name("program", |row| Piece::from(row.0.name.clone()))
        .number("wall", of(|summary| summary.median_ns))
        .number("fastest", of(|summary| summary.min_ns))
        .number("user", of(|summary| summary.user_ns))
        .number("system", of(|summary| summary.system_ns))
        .number("memory", |row| row.1.memory())
        .number("faults", |row| sum(row.1.minor_faults, row.1.major_faults))
        .number("switches", |row| {
            sum(row.1.voluntary_switches, row.1.involuntary_switches)
        })
        .number("runs", |row| row.1.runs.to_string())
        .into()
}

/// Remarks on the runs for readers.
fn remarks(programs: &[Program], compared: &Compared, launcher: &Launcher) -> Vec<String> {
    let summaries = &compared.summaries;
    let mut all = Vec::new();
    if let Some(shell) = &launcher.shell {
        let shell = shell.join(" ");
        all.push(launcher.subtracted_ns.map_or_else(
            || {
                format!(
                    "all commands were run by `{shell} -c`, whose start is part of every time; `--subtract-shell` \
                     takes it off, `--shell none` starts programs directly"
                )
            },
            |ns| {
                let start = time(Some(ns), compared.unit);
                format!("the start of `{shell} -c`, {start}, is taken off every time")
            },
        ));
    }
    if summaries.iter().any(is_short) {
        let start_ns = median(&compared.starts_ns);
        let start = start_ns.map_or_else(String::new, |ns| {
            let start = time(Some(ns), compared.unit);
            format!(". A command that does nothing (`true`), in turn with them, took {start}")
        });
        let ratio = if programs.len() > 1 {
            ". The ratio is that of whole runs; the work alone differs by more"
        } else {
            ""
        };
        all.push(format!(
            "in runs below {SHORT}, the start of the process is a large part of the time{start}{ratio}"
        ));
    }
    let each = programs.iter().zip(summaries).zip(&compared.runs);
    for ((Program { name, .. }, summary), runs) in each {
        let all_runs = counted(summary.runs, "run");
        if summary.failures > 0 {
            let ends = runs.failed_with();
            let ends: Vec<String> = ends.values().map(ToString::to_string).collect();
            let apart = runs.medians_by_end().map_or_else(String::new, |medians| {
                let [failed, others] = medians.map(|ns| time(Some(ns), compared.unit));
                format!(": their median is {failed}, that of the others {others}")
            });
            all.push(format!(
                "'{name}' failed in {} of {all_runs}, with {}; they count{apart}",
                summary.failures,
                ends.join(", ")
            ));
        }
        if runs.over_limit > 0 {
            let further = counted(runs.over_limit, "further run");
            all.push(format!(
                "the time limit ended {further} of '{name}', which do not count"
            ));
        }
        if runs.leftovers > 0 {
            all.push(format!(
                "{all_runs} of '{name}' left {} of their processes behind, which were ended after each run",
                runs.leftovers
            ));
        }
        let found = instrument::ab::remarks(&runs.walls(|_| true));
        all.extend(found.iter().map(|remark| self::remark(name, remark)));
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
