//! `oscope ab`: two or more commands, interleaved in one go.

mod bench;
mod document;
mod export;
mod launch;
mod programs;
mod progress;
mod recording;
mod summary;
mod timed;
mod told;
mod vary;
mod words;

use crate::arguments::{Ab, Common, FailOn};
use crate::exit::Exit;
use crate::target::Target;
use crate::{exit, output, stored};
use anyhow::{Context, Result};
use bench::Turns;
use document::{Circumstances, Document};
use files::Watch;
use instrument::ab::{Budget, Ending, Outcome, Rules, Verdict, compare};
use instrument::statistics::summary::median;
use launch::Launcher;
use platform::signal::{Interrupt, Signal};
use programs::Program;
use progress::Progress;
use recording::Recording;
use summary::Summary;
use timed::Timed;

/// Runs of a program that does nothing, to learn what the start of a process costs.
const EMPTY_RUNS: usize = 10;

pub fn execute(arguments: &Ab, common: &Common) -> Result<Exit> {
    if let Some(vary) = &arguments.variation.vary {
        return vary::execute(arguments, vary, common);
    }
    let programs = programs::programs(arguments)?;
    let shell = programs::shell(arguments, &programs)?;
    let exports = Exports::new(arguments, common)?;
    let interrupt = Interrupt::install()?;
    let force = arguments.results.force;
    let launcher = Launcher::new(shell, &arguments.programs, force, interrupt, common)?;
    let mut progress = Progress::new(common.quiet);
    let mut is_set_up = 0;
    let compared = with_set_up(
        &launcher,
        &programs,
        arguments,
        common,
        &mut progress,
        &mut is_set_up,
    );
    progress.end();
    let cleaned = clean_up(&launcher, &programs[..is_set_up]);
    if let Some(ended) = launcher.end_all_leftovers().filter(|_| !common.quiet) {
        output::say(&format!("oscope: {ended}"));
    }
    let stopped = || Exit::Stopped(interrupt.signal().unwrap_or(Signal::Interrupt));
    let Some(compared) = compared? else {
        cleaned?;
        return Ok(stopped());
    };
    present(&compared, &programs, &launcher, arguments, common)?;
    exports.write(&programs, &compared)?;
    if !common.quiet {
        output::say(&format!(
            "run {} in {}",
            compared.number,
            stored::path(common)?.display()
        ));
    }
    cleaned?;
    Ok(if compared.outcome.ending == Ending::Stopped {
        stopped()
    } else {
        verdict(&compared.outcome, arguments.results.fail_on)
    })
}

/// A finished comparison.
struct Compared {
    outcome: Outcome,
    runs: Vec<Vec<Timed>>,
    summaries: Vec<Summary>,
    rules: Rules,
    seed: u64,
    /// Number of the run in the store.
    number: u64,
}

/// Sets the programs up, warms them up and compares them. Counts in `is_set_up` how many need a
/// clean-up. `None` if the user stopped it before there was anything to tell.
fn with_set_up(
    launcher: &Launcher,
    programs: &[Program],
    arguments: &Ab,
    common: &Common,
    progress: &mut Progress,
    is_set_up: &mut usize,
) -> Result<Option<Compared>> {
    for program in programs {
        *is_set_up += 1;
        if !timed::beside(launcher, program.setup.as_deref())? {
            return Ok(None);
        }
    }
    launcher.keep_leftovers();
    for _ in 0..arguments.pace.warmup {
        for program in programs {
            if timed::measure(launcher, program)?.is_none() {
                return Ok(None);
            }
        }
    }
    let rules = rules(arguments);
    let seed = match arguments.pace.seed {
        Some(seed) => seed,
        // Short enough to type.
        None => getrandom::u64().context("the system gives no random numbers")? % 1_000_000,
    };
    let mut store = stored::open(common)?;
    let recording = Recording::begin(&mut store, programs, seed, arguments.pace.budget)?;
    let number = recording.number();
    progress.say(&announcement(programs, launcher, &rules));
    let mut bench = Turns::new(launcher, programs, recording, progress);
    let outcome = compare(programs.len(), &rules, seed, &mut bench);
    let (recording, runs) = bench.end();
    let ending = outcome.as_ref().map(|outcome| outcome.ending);
    let finished = recording.finish(ending.map_err(exit::words));
    let outcome = outcome?;
    finished?;
    Ok(Some(Compared {
        summaries: runs.iter().map(|runs| Summary::new(runs)).collect(),
        outcome,
        runs,
        rules,
        seed,
        number,
    }))
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

fn announcement(programs: &[Program], launcher: &Launcher, rules: &Rules) -> String {
    let way = match &launcher.shell {
        Some(shell) => format!("run by `{} -c`", shell.join(" ")),
        None => "started directly".to_owned(),
    };
    let time = match rules.budget {
        Budget::Usual => "about 30 s".to_owned(),
        Budget::Fixed(budget) => format!("{budget:.2}"),
    };
    format!("{} programs, {way}: at most {time}", programs.len())
}

/// Runs the clean-up of each program, also after an error, and returns the first error.
fn clean_up(launcher: &Launcher, programs: &[Program]) -> Result<()> {
    let commands = programs
        .iter()
        .filter_map(|program| program.cleanup.as_deref());
    let results: Vec<_> = commands.map(|command| launcher.clean_up(command)).collect();
    results.into_iter().collect()
}

fn present(
    compared: &Compared,
    programs: &[Program],
    launcher: &Launcher,
    arguments: &Ab,
    common: &Common,
) -> Result<()> {
    let Compared {
        outcome, summaries, ..
    } = compared;
    let shell = launcher.shell.as_deref();
    let start_ns = if summaries.iter().any(told::is_short) {
        start_ns(launcher)
    } else {
        None
    };
    let remarks = told::remarks(programs, summaries, shell, start_ns);
    if common.json {
        let around = Circumstances {
            run: compared.number,
            shell,
            seed: compared.seed,
            rules: &compared.rules,
            remarks: &remarks,
        };
        let document = Document::new(programs, summaries, outcome, &around);
        return output::show(&(serde_json::to_string_pretty(&document)? + "\n"));
    }
    let text = told::all(programs, summaries, outcome, arguments.pace.margin);
    let notes: Vec<String> = remarks
        .iter()
        .map(|note| format!("Note: {note}.\n"))
        .collect();
    output::show(&(text + &notes.concat()))
}

/// Median time of a command that does nothing, in ns; `None` if there is none.
fn start_ns(launcher: &Launcher) -> Option<f64> {
    let runs = (0..EMPTY_RUNS).map(|_| launcher.start_ns());
    median(&runs.collect::<Option<Vec<_>>>()?)
}

/// The files that the command line names for results.
struct Exports {
    json: Option<Target>,
    csv: Option<Target>,
    markdown: Option<Target>,
}

impl Exports {
    /// Checks that the files can be written, before the measurement starts.
    fn new(arguments: &Ab, common: &Common) -> Result<Self> {
        let results = &arguments.results;
        let target = |path: &Option<_>| Target::if_named(path.as_ref(), results.force, common);
        Ok(Self {
            json: target(&results.export_json)?,
            csv: target(&results.export_csv)?,
            markdown: target(&results.export_markdown)?,
        })
    }

    fn write(&self, programs: &[Program], compared: &Compared) -> Result<()> {
        let Compared {
            outcome,
            runs,
            summaries,
            ..
        } = compared;
        let watch = Watch::default();
        if let Some(target) = &self.json {
            target.write(&export::json(programs, summaries, runs)?, &watch)?;
        }
        if let Some(target) = &self.csv {
            target.write(&export::csv(programs, summaries)?, &watch)?;
        }
        if let Some(target) = &self.markdown {
            target.write(&export::markdown(programs, summaries, outcome), &watch)?;
        }
        Ok(())
    }
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
