//! `oscope ab WHAT --vary KEY=A,B,…`: an experiment under two or more values of one thing.
//!
//! Each point is a comparison of its own, one after the other: the worker processes of its ways
//! take turns, and it stops as soon as its first metric is decided.

mod arms;
mod bench;
mod recording;
mod session;
mod told;

use super::progress::Progress;
use super::{is_found, recording as programs};
use crate::arguments::{Ab, Common, FailOn, Varied, Vary, Worker};
use crate::command::run::PATIENCE;
use crate::exit::{Exit, WrongUse, first_error};
use crate::settings::{Changed, Scalar};
use crate::{leftovers, output, selection, setting, stored};
use anyhow::{Context, Result, anyhow};
use arms::Duel;
use instrument::ab::{Budget, Rules};
use instrument::given::Givens;
use instrument::limits::Limits;
use instrument::plan::{Plan, Profile, Setting};
use instrument::quantity::counted;
use instrument::removal::REMOVAL;
use instrument::runner::{Surroundings, Swap, WorkerExecutor};
use platform::environment::Environment;
use platform::placement;
use platform::scratch::Scratch;
use platform::signal::{Interrupt, Signal};
use platform::startup;
use recording::Recording;
use session::{Found, Session};
use std::path::{Path, PathBuf};
use told::{Document, Judged};

pub fn execute(arguments: &Ab, vary: &Vary, common: &Common) -> Result<Exit> {
    let chosen = selection::experiments(&arguments.commands)?;
    let scalar = match &vary.varied {
        Varied::Setting(path) => Some(of_root(Scalar::new(path)?)?),
        _ => None,
    };
    let directories = directories(arguments, vary);
    let interrupt = Interrupt::install()?;
    let mut progress = Progress::new(common.quiet);
    let mut store = stored::open(common)?;
    for directory in &directories {
        leftovers::clear_and_report(Some(&store), directory, common)?;
    }
    let scratch = Scratch::create(&directories[0], &REMOVAL)?;
    let elsewhere = directories[1..].iter();
    let elsewhere = elsewhere.map(|directory| scratch.create_elsewhere(directory));
    let elsewhere = elsewhere.collect::<Result<Vec<Scratch>, _>>()?;
    let settings: Vec<Setting> = directories
        .iter()
        .map(|at| {
            setting::here(
                at,
                Givens::default(),
                Profile::Quick,
                false,
                Limits::default(),
            )
        })
        .collect();
    let rules = super::rules(arguments);
    let seed = match arguments.pace.seed {
        Some(seed) => seed,
        // Short enough to type.
        None => getrandom::u64().context("the system gives no random numbers")? % 1_000_000,
    };
    let plans: Vec<Plan<'_>> = settings
        .iter()
        .map(|setting| Plan::new(&chosen, setting, None, seed))
        .collect();
    let duels = arms::duels(&plans, &vary.varied, &vary.values, &arguments.variation.at)?;
    let changed = scalar.map(|scalar| Changed::begin(scalar, &vary.values));
    let changed = changed.transpose()?;

    let blank = programs::run(seed, arguments.pace.budget)?;
    let mut run = blank;
    run.header.directory = settings[0].directory.to_string_lossy().into_owned().into();
    let recorder = store.begin(&run)?;
    let number = recorder.number();
    progress.say(&announcement(&duels, vary, &rules));
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
    let restored = changed.map(Changed::restore).transpose();
    let finished = recording.finish(interrupt.is_set());
    drop((elsewhere, scratch));
    let restored = restored.map(|remark| {
        if let Some(remark) = remark.flatten() {
            progress.warn(&remark);
        }
    });
    let judged = &found.judged;
    let missing = missing(&found, duels.len(), arguments.pace.warmup);
    let shown = if judged.is_empty() && (measured.is_err() || missing.is_err()) {
        Ok(())
    } else if common.json {
        let key = vary.key();
        let document = Document::new(judged, &key, vary, &rules, (number, seed));
        output::show(&(serde_json::to_string_pretty(&document)? + "\n"))
    } else {
        output::show(&told::all(judged, &vary.values, &rules))
    };
    progress.say(&format!(
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
        _ => vec![arguments.variation.dir.clone()],
    }
}

/// The one that starts the worker processes, all on the same CPU.
fn executor(here: &Setting, scratch: &Path, interrupt: Interrupt) -> Result<WorkerExecutor> {
    Ok(WorkerExecutor {
        program: startup::program().context("cannot find this program's own file")?,
        arguments: vec![Worker::NAME.into()],
        environment: Vec::new(),
        cpu: placement::allowed_cpus()?.last().copied(),
        scratch: scratch.to_owned(),
        swap: Swap::new(false),
        patience: PATIENCE,
        interrupt,
        surroundings: Surroundings::default(),
        limits: Limits::default(),
        available_bytes: Some(here.available_bytes).filter(|available| *available > 0),
        group_peak_bytes: None,
    })
}

fn exit(judged: &[Judged], fail_on: Option<FailOn>, interrupt: Interrupt) -> Exit {
    let mut pairs = judged.iter().flat_map(Judged::pairs);
    if interrupt.is_set() {
        Exit::Stopped(interrupt.signal().unwrap_or(Signal::Interrupt))
    } else if pairs.any(|pair| is_found(pair.verdict, fail_on)) {
        Exit::Found
    } else {
        Exit::incomplete_if(judged.iter().any(|at| at.failure().is_some()))
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
