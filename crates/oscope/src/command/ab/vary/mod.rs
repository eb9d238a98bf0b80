//! `oscope ab WHAT --vary KEY=A,B,…`: an experiment under two or more values of one thing.
//!
//! Each point is a separate comparison, one after the other: the worker processes of its ways
//! take turns, and it stops as soon as its first metric is decided.

mod bench;
mod duels;
mod session;

use super::programs::on_one_line;
use super::{results, verdict};
use crate::arguments::{Ab, Common, FailOn, Varied, Vary, Worker};
use crate::command::new_run;
use crate::exit::{Exit, WrongUse, first_error};
use crate::kernel_settings::{ChangedSetting, Scalar};
use crate::progress::LiveLine;
use crate::{leftovers, output, selection, setting, stored};
use anyhow::{Context, Result, anyhow};
use duels::{Duel, Recording};
use instrument::ab::{Budget, Ending, Pair, Rules, Verdict};
use instrument::plan::{Plan, Profile, Setting};
use instrument::point::Point;
use instrument::quantity::counted;
use instrument::removal::REMOVAL;
use instrument::runner::WorkerExecutor;
use platform::environment::Environment;
use platform::scratch::Scratch;
use platform::signal::{Interrupt, Signal};
use platform::startup;
use serde::Serialize;
use session::{Found, Session};
use std::path::{Path, PathBuf};

pub fn execute(arguments: &Ab, vary: &Vary, common: &Common) -> Result<Exit> {
    let chosen = selection::experiments(&arguments.commands)?;
    if arguments.programs.dir.len() > 1 {
        return Err(WrongUse("with `--vary` there is one `--dir`".into()).into());
    }
    let scalar = match &vary.varied {
        Varied::Setting(path) => Some(of_root(Scalar::new(path)?)?),
        _ => None,
    };
    let directories = directories(arguments, vary);
    let interrupt = Interrupt::install()?;
    let mut progress = LiveLine::new(common);
    let mut store = stored::open(common)?;
    for directory in &directories {
        leftovers::clear_and_report(Some(&store), directory, common)?;
    }
    let scratch = Scratch::create(&directories[0], &REMOVAL)?;
    let elsewhere = directories[1..].iter();
    let elsewhere = elsewhere.map(|directory| scratch.create_elsewhere(directory));
    let elsewhere = elsewhere.collect::<Result<Vec<Scratch>, _>>()?;
    let plain = |directory: &PathBuf| setting::plain(directory, Profile::Quick);
    let settings: Vec<Setting> = directories.iter().map(plain).collect();
    let rules = super::rules(arguments, vary.values.len());
    let seed = new_run::seed(arguments.pace.seed)?;
    let plans: Vec<Plan<'_>> = settings
        .iter()
        .map(|setting| Plan::new(&chosen, setting, None, seed))
        .collect();
    let duels = duels::duels(&plans, &vary.varied, &vary.values, &arguments.variation.at)?;
    let changed = scalar.map(|scalar| ChangedSetting::begin(scalar, &vary.values));
    let changed = changed.transpose()?;

    let (directory, machine) = (&settings[0].directory, settings[0].machine.clone());
    let mut run = new_run::describe(directory, machine, Profile::Quick, seed)?;
    run.header.budget_ns = arguments.pace.budget.map_or(0.0, |budget| budget.0);
    let recorder = store.begin(&run)?;
    let number = recorder.number();
    progress.voice.say(&announcement(&duels, vary, &rules));
    let scratches: Vec<PathBuf> = std::iter::once(&scratch)
        .chain(&elsewhere)
        .map(|scratch| scratch.path().to_owned())
        .collect();
    let mut session = Session {
        vary,
        rules,
        warmup: arguments.pace.warmup,
        seed,
        plan: &plans[0],
        scratches: &scratches,
        calibration: run.calibration.clone(),
        executor: executor(&settings[0], scratch.path(), interrupt)?,
        changed: changed.as_ref(),
        recording: Recording::new(recorder),
        progress: &mut progress,
        count: duels.len(),
    };
    let mut found = Found::default();
    let measured = session.all(&duels, &mut found);
    let Session {
        recording, rules, ..
    } = session;
    progress.end();
    let restored = changed.map(ChangedSetting::restore).transpose();
    let finished = recording.finish(interrupt.is_set());
    drop((elsewhere, scratch));
    let restored = restored.map(|remark| {
        if let Some(remark) = remark.flatten() {
            progress.voice.warn(&remark);
        }
    });
    let judged = &found.judged;
    let missing = missing(&found, duels.len(), arguments.pace.warmup);
    let shown = if judged.is_empty() && (measured.is_err() || missing.is_err()) {
        Ok(())
    } else if common.json {
        let values = &vary.values;
        output::show_json(&VariationJson {
            format: FORMAT,
            run: number,
            vary: vary.key(),
            values,
            seed,
            margin: rules.margin,
            error: rules.error,
            points: judged.iter().map(|at| PointJson::new(at, values)).collect(),
        })
    } else {
        output::show(&all(judged, &vary.values, &rules))
    };
    progress.voice.say(&format!(
        "run {number} in {}",
        stored::path(common)?.display()
    ));
    first_error([measured, missing, finished, restored, shown])?;
    Ok(exit(judged, arguments.results.fail_on, interrupt))
}

/// An error if there was no time for some points; wrong use if there was none for any.
fn missing(found: &Found, all: usize, warmup: usize) -> Result<()> {
    if found.unreached == 0 {
        return Ok(());
    }
    let round_ns = found.round_ns.unwrap_or(0.0);
    let seconds = session::least_ns(round_ns, warmup, Rules::USUAL_RUNS) * all as f64 / 1e9;
    let reason = format!(
        "there was no time for {} of {}: `--budget {}s` has time for {} visits to each, the fewest for a verdict",
        found.unreached,
        counted(all, "point"),
        seconds.ceil(),
        Rules::USUAL_RUNS
    );
    Err(if found.judged.is_empty() {
        WrongUse(reason).into()
    } else {
        anyhow!(reason)
    })
}

/// The directories to measure in: those that are compared, or one.
fn directories(arguments: &Ab, vary: &Vary) -> Vec<PathBuf> {
    match vary.varied {
        Varied::Directory => vary.values.iter().map(PathBuf::from).collect(),
        _ => arguments.programs.dir[..1].to_vec(),
    }
}

/// The one that starts the worker processes, all on the same CPU.
fn executor(here: &Setting, scratch: &Path, interrupt: Interrupt) -> Result<WorkerExecutor> {
    let program = startup::program().context("cannot find this program's own file")?;
    Ok(WorkerExecutor {
        available_bytes: Some(here.available_bytes).filter(|available| *available > 0),
        ..WorkerExecutor::new(program, Worker::NAME, scratch, interrupt)?
    })
}

fn exit(judged: &[PointOutcome], fail_on: Option<FailOn>, interrupt: Interrupt) -> Exit {
    if interrupt.is_set() {
        return Exit::Stopped(interrupt.signal().unwrap_or(Signal::Interrupt));
    }
    match verdict(judged.iter().flat_map(PointOutcome::pairs), fail_on) {
        Exit::Done => Exit::incomplete_if(judged.iter().any(|at| at.failure.is_some())),
        found => found,
    }
}

/// The setting, if this user may change it.
fn of_root(scalar: Scalar) -> Result<Scalar, WrongUse> {
    if Environment::read().is_root == Some(true) {
        return Ok(scalar);
    }
    Err(WrongUse(format!(
        "it takes root to change {}: `sudo oscope ab …`",
        scalar.path().display()
    )))
}

fn announcement(duels: &[Duel], vary: &Vary, rules: &Rules) -> String {
    let time = match rules.budget {
        Budget::Usual => "about 30 s for each".to_owned(),
        Budget::Fixed(budget) => format!("{budget:.2} for all"),
    };
    let points = counted(duels.len(), "point");
    let ways = vary.values.join(" and ");
    format!("{points} with {} {ways}: at most {time}", vary.key())
}

/// Version of the document.
const FORMAT: u32 = 1;

/// The result at one point.
#[derive(Debug)]
struct PointOutcome {
    pub experiment: String,
    /// The levels that all ways share.
    pub point: Point,
    /// The same for readers.
    pub shown: String,
    /// `None` if it could not be measured at all.
    pub metrics: Option<Metrics>,
    /// The reason why it could not be measured, or not to its end.
    pub failure: Option<String>,
}

/// The pairs of each metric.
#[derive(Debug)]
struct Metrics {
    pub ending: Ending,
    pub blocks: usize,
    pub pairs: Vec<(String, Vec<Pair>)>,
}

impl PointOutcome {
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        let metrics = self.metrics.iter().flat_map(|it| &it.pairs);
        metrics.flat_map(|(_, pairs)| pairs)
    }
}

/// The whole comparison for readers.
fn all(judged: &[PointOutcome], values: &[String], rules: &Rules) -> String {
    let lines: String = judged.iter().flat_map(|at| lines(at, values)).collect();
    let pairs = || judged.iter().flat_map(PointOutcome::pairs);
    let count = |verdict| pairs().filter(|pair| pair.verdict == verdict).count();
    format!(
        "{lines}\n{} faster, {} slower, {} equivalent, {} not yet decided. Margin {} %. Each interval \
         holds in 199 of 200 comparisons, at whatever moment they stop.\n",
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::Equivalent),
        count(Verdict::Undecided),
        rules.margin * 100.0
    )
}

/// A line for each pair of each metric at one point.
fn lines(at: &PointOutcome, values: &[String]) -> Vec<String> {
    let comma = if at.shown.is_empty() { "" } else { ", " };
    let place = format!("{}{comma}{}", at.experiment, at.shown);
    let failure = at.failure.as_deref();
    let Some(metrics) = &at.metrics else {
        let reason = failure.unwrap_or_default();
        return vec![format!("{place}: could not be measured: {reason}\n")];
    };
    let of_metric = |(metric, pairs): &(String, Vec<Pair>)| -> Vec<String> {
        if pairs.is_empty() {
            return vec![format!(
                "{place}, {metric}: nothing is decided, no round of all was finished\n"
            )];
        }
        let sentence = |pair: &Pair| results::sentence(&values[0], &values[pair.rival], pair);
        let line = |pair| format!("{place}, {metric}: {}\n", sentence(pair));
        pairs.iter().map(line).collect()
    };
    let ended = failure.map(|reason| {
        let blocks = counted(metrics.blocks, "block");
        format!(
            "{place}: ended after {blocks} by an error: {}\n",
            on_one_line(reason)
        )
    });
    let pairs = metrics.pairs.iter().flat_map(of_metric);
    pairs.chain(ended).collect()
}

/// The document that `--json` prints, as `schema/ab-vary-1.schema.json` describes it.
#[derive(Serialize)]
struct VariationJson<'a> {
    format: u32,
    /// Number of the run in the store.
    run: u64,
    /// The thing that varied, as it was named.
    vary: String,
    values: &'a [String],
    seed: u64,
    margin: f64,
    /// Probability that an equal pair is called different, for each point and metric.
    error: f64,
    points: Vec<PointJson<'a>>,
}

#[derive(Serialize)]
struct PointJson<'a> {
    experiment: &'a str,
    point: &'a Point,
    /// The reason why it could not be measured, or not to its end.
    failed: Option<&'a str>,
    ending: Option<Ending>,
    blocks: usize,
    pairs: Vec<MetricJson<'a>>,
}

#[derive(Serialize)]
struct MetricJson<'a> {
    metric: &'a str,
    #[serde(flatten)]
    pair: results::PairJson<'a>,
}

impl<'a> PointJson<'a> {
    fn new(at: &'a PointOutcome, values: &'a [String]) -> Self {
        let found = at.metrics.as_ref();
        let metrics = found.into_iter().flat_map(|it| &it.pairs);
        let pairs = metrics.flat_map(|(metric, pairs)| {
            pairs.iter().map(move |pair| MetricJson {
                metric,
                pair: results::PairJson::new(&values[0], &values[pair.rival], pair),
            })
        });
        Self {
            experiment: &at.experiment,
            point: &at.point,
            failed: at.failure.as_deref(),
            ending: found.map(|it| it.ending),
            blocks: found.map_or(0, |it| it.blocks),
            pairs: pairs.collect(),
        }
    }
}
