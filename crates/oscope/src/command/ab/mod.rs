//! `oscope ab`: two or more commands, interleaved in one go.

mod bench;
mod document;
mod export;
mod launch;
mod pace;
mod places;
mod programs;
mod progress;
mod recording;
mod results;
mod runs;
mod stretch;
mod summary;
mod timed;
mod told;
mod vary;
mod words;

use crate::arguments::{Ab, Common, FailOn};
use crate::exit::{Exit, WrongUse};
use crate::{exit, output, stored};
use anyhow::{Context, Result};
use bench::Turns;
use instrument::ab::{Budget, Ending, Outcome, Rules, Verdict, compare};
use launch::Launcher;
use pace::Pace;
use places::Output;
use platform::clock::now_ns;
use platform::signal::{Interrupt, Signal};
use programs::Program;
use progress::Progress;
use record::store::Store;
use recording::Recording;
use results::{Compared, Exports, present};
use summary::Summary;

pub fn execute(arguments: &Ab, common: &Common) -> Result<Exit> {
    if let Some(vary) = &arguments.variation.vary {
        return vary::execute(arguments, vary, common);
    }
    // All refusals come before a command runs.
    let programs = programs::programs(arguments)?;
    let shell = programs::shell(arguments, &programs)?;
    let exports = Exports::new(arguments, common)?;
    places::check(arguments, common)?;
    let interrupt = Interrupt::install()?;
    let mut store = stored::open(common)?;
    let output = Output::open(arguments, common.json || exports.are_shown())?;
    let launcher = Launcher::new(shell, &arguments.programs, output, interrupt)?;
    let mut progress = Progress::new(common.quiet);
    let mut state = State::default();
    let worked = work(
        &launcher,
        &programs,
        arguments,
        &mut store,
        &mut progress,
        &mut state,
    );
    progress.end();
    let compared = state.compared.as_ref();
    // The results are written before anything else can fail.
    let written = compared.map_or(Ok(()), |it| exports.write(&programs, it, interrupt));
    let cleaned = clean_up(&launcher, &programs[..state.set_up]);
    if let Some(ended) = launcher.end_all_leftovers().filter(|_| !common.quiet) {
        output::say(&format!("oscope: {ended}"));
    }
    let shown = compared.map_or(Ok(()), |it| present(it, &programs, &launcher, common));
    if let Some(compared) = compared.filter(|_| !common.quiet) {
        output::say(&format!(
            "run {} in {}",
            compared.number,
            stored::path(common)?.display()
        ));
    }
    exit::first_error([worked, written, shown, cleaned])?;
    Ok(match compared {
        Some(Compared { outcome, .. }) if outcome.ending != Ending::Stopped => {
            verdict(outcome, arguments.results.fail_on)
        }
        _ => Exit::Stopped(interrupt.signal().unwrap_or(Signal::Interrupt)),
    })
}

/// A comparison under way.
#[derive(Default)]
struct State {
    /// The number of programs that need a clean-up.
    set_up: usize,
    /// The results; `None` until there is something to report.
    compared: Option<Compared>,
}

/// Sets the programs up, warms them up and compares them. Ends early, without an error, if the user asks for it.
fn work(
    launcher: &Launcher,
    programs: &[Program],
    arguments: &Ab,
    store: &mut Store,
    progress: &mut Progress,
    state: &mut State,
) -> Result<()> {
    for program in programs {
        state.set_up += 1;
        if !timed::beside(launcher, program.setup.as_deref())? {
            return Ok(());
        }
    }
    launcher.keep_leftovers();
    let rules = rules(arguments);
    let Some(pace) = warm_up(launcher, programs, arguments.pace.warmup, &rules)? else {
        return Ok(());
    };
    let seed = match arguments.pace.seed {
        Some(seed) => seed,
        // Short enough to type.
        None => getrandom::u64().context("the system gives no random numbers")? % 1_000_000,
    };
    let recording = Recording::begin(store, programs, seed, arguments.pace.budget)?;
    let number = recording.number();
    let way = way(launcher);
    let time = pace::announcement(&rules, pace.round_ns());
    progress.say(&format!("{} programs, {way}: {time}", programs.len()));
    let mut bench = Turns::new(launcher, programs, recording, progress, pace.round_ns());
    let (outcome, result) = compare(programs.len(), &rules, seed, &mut bench);
    let (recording, runs) = bench.end();
    let failure = result.as_ref().err().map(exit::words);
    let finished = recording.finish(failure.clone().map_or(Ok(outcome.ending), Err));
    if outcome.blocks == 0 && outcome.ending == Ending::BudgetUsed {
        return Err(WrongUse(
            "the time is too short: it was over before each command had run once; `--budget` gives more".into(),
        )
        .into());
    }
    if outcome.blocks > 0 || result.is_ok() {
        state.compared = Some(Compared {
            summaries: runs.iter().map(Summary::new).collect(),
            outcome,
            runs,
            rules,
            seed,
            number,
            failure,
        });
    }
    exit::first_error([result, finished])
}

/// Runs each program `warmup` times: the time that they take. `None` if the user asked to stop.
fn warm_up(
    launcher: &Launcher,
    programs: &[Program],
    warmup: usize,
    rules: &Rules,
) -> Result<Option<Pace>> {
    let mut pace = Pace::default();
    for round in 1..=warmup {
        for (index, program) in programs.iter().enumerate() {
            let begin_ns = now_ns();
            let timed = timed::measure(launcher, program);
            if timed
                .with_context(|| format!("warm-up run {round}"))?
                .is_none()
            {
                return Ok(None);
            }
            pace.add(index, (now_ns() - begin_ns) as f64);
            if round == warmup {
                pace.check(programs, rules)?;
            }
        }
    }
    Ok(Some(pace))
}

fn rules(arguments: &Ab) -> Rules {
    let pace = &arguments.pace;
    let runs = pace.runs.map(|runs| runs as usize);
    Rules {
        error: Rules::ERROR,
        margin: pace.margin,
        budget: pace.budget.map_or(Budget::Usual, Budget::Fixed),
        least_runs: runs.unwrap_or(pace.min_runs),
        most_runs: runs.or(pace.max_runs.map(|most| most as usize)),
    }
}

fn way(launcher: &Launcher) -> String {
    match &launcher.shell {
        Some(shell) => format!("run by `{} -c`", shell.join(" ")),
        None => "started directly".to_owned(),
    }
}

/// Runs the clean-up of each program, also after an error, and returns the first error.
fn clean_up(launcher: &Launcher, programs: &[Program]) -> Result<()> {
    let commands = programs
        .iter()
        .filter_map(|program| program.cleanup.as_deref());
    let results: Vec<_> = commands.map(|command| launcher.clean_up(command)).collect();
    exit::first_error(results)
}

fn verdict(outcome: &Outcome, fail_on: Option<FailOn>) -> Exit {
    let mut pairs = outcome.pairs.iter();
    if pairs.any(|pair| is_found(pair.verdict, fail_on)) {
        Exit::Found
    } else {
        Exit::Done
    }
}

/// True if `fail_on` names `verdict`.
fn is_found(verdict: Verdict, fail_on: Option<FailOn>) -> bool {
    match fail_on {
        None => false,
        Some(FailOn::Slower) => verdict == Verdict::Slower,
        Some(FailOn::Different) => matches!(verdict, Verdict::Slower | Verdict::Faster),
    }
}
