//! `oscope ab WHAT --vary KEY=A,B,…`: an experiment under two or more values of one thing.
//!
//! Each point is a separate comparison, one after the other: the worker processes of its ways
//! take turns, and it stops as soon as its first metric is decided.

mod duels;
mod session;

use super::exit_of;
use super::programs::on_one_line;
use super::results::{self, certainty};
use crate::arguments::{Ab, Common, FailOn, Varied, Vary, Worker};
use crate::command::new_run;
use crate::exit::{Exit, WrongUse, first_error, refuse};
use crate::kernel_settings::{ChangedSetting, Scalar};
use crate::progress::LiveLine;
use crate::{leftovers, output, selection, setting, stored};
use anyhow::{Context, Result, anyhow};
use duels::{Duel, Recording};
use instrument::ab::{Budget, Ending, Rules, Verdict};
use instrument::at_levels::AtLevels;
use instrument::experiment::Experiment;
use instrument::plan::{Plan, Profile, Setting};
use instrument::point::{Level, Point};
use instrument::quantity::counted;
use instrument::removal::REMOVAL;
use instrument::runner::WorkerExecutor;
use platform::environment::Environment;
use platform::scratch::Scratch;
use platform::signal::{Interrupt, Signal};
use platform::startup;
use serde::Serialize;
use session::{Found, Session};
use std::iter;
use std::path::{Path, PathBuf};

pub fn execute(arguments: &Ab, vary: &Vary, common: &Common) -> Result<Exit> {
    let chosen = selection::experiments(&arguments.commands)?;
    if arguments.programs.dir.len() > 1 {
        refuse!("with `--vary` there is one `--dir`");
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
    let here = |directory: &PathBuf| setting::here(directory, Profile::Quick, false);
    let settings: Vec<Setting> = directories.iter().map(here).collect();
    let rules = super::rules(arguments, vary.values.len());
    let seed = new_run::seed(arguments.pace.seed)?;
    let levels = vary.levels();
    let at: Vec<(String, Level)> = [arguments.variation.at.as_slice(), &levels].concat();
    let at = |setting| selection::at(&chosen, &at, setting);
    let chosen = settings.iter().map(at);
    let chosen: Vec<Vec<AtLevels<'static>>> = chosen.collect::<Result<_, _>>()?;
    let plans: Vec<Plan<'_>> = iter::zip(&chosen, &settings)
        .map(|(chosen, setting)| {
            let chosen: Vec<&dyn Experiment> = chosen.iter().map(|it| it as _).collect();
            Plan::new(&chosen, setting, None, seed)
        })
        .collect();
    let levels: Vec<Level> = levels.into_iter().map(|(_, level)| level).collect();
    let duels = duels::duels(&plans, &vary.varied, vary.values.len(), &levels)?;
    let changed = scalar.map(|scalar| ChangedSetting::begin(scalar, &vary.values));
    let changed = changed.transpose()?;

    let (directory, machine) = (&settings[0].directory, settings[0].machine.clone());
    let mut run = new_run::describe(directory, machine, Profile::Quick, seed)?;
    run.header.budget_ns = arguments.pace.budget.map_or(0.0, |budget| budget.0);
    let recorder = store.begin(&run)?;
    let number = recorder.number();
    progress.voice.say(&announcement(&duels, vary, &rules));
    let scratches: Vec<PathBuf> = iter::once(&scratch)
        .chain(&elsewhere)
        .map(|scratch| scratch.path().to_owned())
        .collect();
    let mut session = Session {
        vary,
        rules,
        warmup: arguments.pace.warmup,
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
        output::show_json(&VariationJson {
            format: FORMAT,
            run: number,
            vary: vary.key(),
            values: &vary.values,
            seed,
            margin: rules.margin,
            error: Rules::ERROR,
            points: judged,
        })
    } else {
        output::show(&all(judged, &rules))
    };
    progress.voice.say(&format!(
        "run {number} in {}",
        stored::path(common)?.display()
    ));
    first_error([measured, missing, finished, restored, shown])?;
    Ok(exit(judged, arguments.results.fail_on, interrupt))
}

/// An error if there was no time for some points; wrong use if there was none for any.
fn missing(found: &Found<'_>, all: usize, warmup: usize) -> Result<()> {
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

fn exit(judged: &[PointOutcome<'_>], fail_on: Option<FailOn>, interrupt: Interrupt) -> Exit {
    if interrupt.is_set() {
        return Exit::Stopped(interrupt.signal().unwrap_or(Signal::Interrupt));
    }
    match exit_of(judged.iter().flat_map(PointOutcome::verdicts), fail_on) {
        Exit::Done => Exit::incomplete_if(judged.iter().any(|at| at.failed.is_some())),
        found => found,
    }
}

/// The setting, if this user may change it.
fn of_root(scalar: Scalar) -> Result<Scalar, WrongUse> {
    if Environment::read().is_root == Some(true) {
        return Ok(scalar);
    }
    refuse!(
        "it takes root to change {}: `sudo oscope ab …`",
        scalar.path().display()
    )
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
#[derive(Debug, Serialize)]
struct PointOutcome<'v> {
    experiment: String,
    /// The levels that all ways share.
    point: Point,
    /// The experiment and the point for readers.
    #[serde(skip)]
    place: String,
    /// The reason why it could not be measured, or not to its end.
    failed: Option<String>,
    /// `None` if it could not be measured at all.
    ending: Option<Ending>,
    blocks: usize,
    pairs: Vec<MetricPair<'v>>,
}

/// The verdict on a metric of a pair.
#[derive(Debug, Serialize)]
struct MetricPair<'v> {
    metric: String,
    #[serde(flatten)]
    pair: results::PairJson<'v>,
}

impl PointOutcome<'_> {
    fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.pairs.iter().map(|it| it.pair.ratio.verdict)
    }

    /// A line for each pair of each metric.
    fn lines(&self) -> Vec<String> {
        let place = &self.place;
        let pairs = self.pairs.iter();
        let mut lines: Vec<String> = pairs
            .map(|it| format!("{place}, {}: {}\n", it.metric, it.pair.sentence))
            .collect();
        if self.ending.is_some() && lines.is_empty() {
            lines.push(format!(
                "{place}: nothing is decided, no round of all was finished\n"
            ));
        }
        let reason = on_one_line(self.failed.as_deref().unwrap_or_default());
        if self.ending.is_none() {
            lines.push(format!("{place}: could not be measured: {reason}\n"));
        } else if self.failed.is_some() {
            let blocks = counted(self.blocks, "block");
            lines.push(format!(
                "{place}: ended after {blocks} by an error: {reason}\n"
            ));
        }
        lines
    }
}

/// The whole comparison for readers.
fn all(judged: &[PointOutcome<'_>], rules: &Rules) -> String {
    let lines: String = judged.iter().flat_map(PointOutcome::lines).collect();
    let count = |wanted| {
        let verdicts = judged.iter().flat_map(PointOutcome::verdicts);
        verdicts.filter(|verdict| *verdict == wanted).count()
    };
    format!(
        "{lines}\n{} faster, {} slower, {} equivalent, {} not yet decided. {}\n",
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::Equivalent),
        count(Verdict::Undecided),
        certainty(rules.margin)
    )
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
    points: &'a [PointOutcome<'a>],
}
