//! `oscope ab`: two or more commands, interleaved in one go.

mod export;
mod launch;
mod programs;
pub(super) mod recording;
mod results;
mod runs;
mod single;
mod vary;

pub use recording::{PROGRAMS, verdicts};

use super::compare::is_found;
use super::new_run;
use crate::arguments::{Ab, Common, FailOn};
use crate::exit::{self, Exit, WrongUse, refuse};
use crate::progress::LiveLine;
use crate::{output, stored};
use anyhow::{Context, Result};
use export::Exports;
use instrument::ab::{Bench, Block, Budget, Contest, Ending, Rules, Verdict, compare};
use instrument::quantity::{Nanoseconds, counted};
use launch::{Launcher, Output};
use platform::clock::now_ns;
use platform::signal::{Interrupt, Signal};
use programs::Program;
use record::store::Store;
use recording::Recording;
use results::{Compared, present};
use runs::{Runs, Summary, Timed};

pub fn execute(arguments: &Ab, common: &Common) -> Result<Exit> {
    let common = &arguments.results.styled(common);
    if let Some(vary) = &arguments.variation.vary {
        return vary::execute(arguments, vary, common);
    }
    // What can be refused without a run is refused before any command runs.
    let programs = programs::programs(arguments)?;
    let shell = programs::shell(arguments, &programs)?;
    let exports = Exports::new(arguments, common)?;
    launch::check(arguments, common)?;
    let interrupt = Interrupt::install()?;
    let is_kept = !arguments.results.no_store;
    let mut store = is_kept.then(|| stored::open(common)).transpose()?;
    let outputs = Output::open_all(arguments, common.json || exports.are_shown())?;
    let seed = new_run::seed(arguments.pace.seed)?;
    let launcher = Launcher::new(shell, &arguments.programs, outputs, seed, interrupt)?;
    let mut progress = LiveLine::new(common);
    let mut state = State::default();
    let worked = work(
        &launcher,
        &programs,
        arguments,
        seed,
        store.as_mut(),
        &mut progress,
        &mut state,
    );
    progress.end();
    let compared = state.compared.as_ref();
    // The results are written before anything else can fail.
    let written = compared.map_or(Ok(()), |it| exports.write(&programs, it, interrupt));
    let cleaned = clean_up(&launcher, &programs[..state.set_up]);
    if let Some(ended) = launcher.end_all_leftovers() {
        output::note(common, &format!("oscope: {ended}"));
    }
    let shown = compared.filter(|_| common.json || !arguments.results.is_silent());
    let shown = shown.map_or(Ok(()), |it| present(it, &programs, &launcher, common));
    if let Some(number) = compared.and_then(|it| it.number) {
        let store = stored::path(common)?;
        output::note(common, &format!("run {number} in {}", store.display()));
    }
    exit::first_error([worked, written, shown, cleaned])?;
    Ok(match compared {
        Some(Compared { outcome, .. }) if outcome.ending != Ending::Stopped => {
            let verdicts = outcome.pairs.iter().map(|pair| pair.verdict);
            exit_of(verdicts, arguments.results.fail_on)
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
    seed: u64,
    store: Option<&mut Store>,
    progress: &mut LiveLine,
    state: &mut State,
) -> Result<()> {
    for program in programs {
        state.set_up += 1;
        if !launcher.run_around(program.setup.as_deref(), program, &[])? {
            return Ok(());
        }
    }
    launcher.starter.keep_leftovers();
    let rules = rules(arguments, programs.len());
    let Some(shortest) = warm_up(launcher, programs, arguments.pace.warmup, &rules)? else {
        return Ok(());
    };
    let begin = |store| Recording::begin(store, programs, seed, arguments.pace.budget);
    let recording = store.map(begin).transpose()?;
    let number = recording.as_ref().map(Recording::number);
    let start = start_in_words(launcher);
    let time = match programs.len() {
        1 if rules.most_runs.is_none() => {
            format!("{RUNS_OF_ONE} runs or more, {TIME_OF_ONE} or more")
        }
        _ => announcement(&rules, shortest.round_ns()),
    };
    progress.voice.say(&format!(
        "{}, {start}: {time}",
        counted(programs.len(), "program")
    ));
    let mut bench = Turns {
        launcher,
        programs,
        recording,
        progress,
        pace_ns: shortest.round_ns(),
        runs: vec![Runs::default(); programs.len()],
        latest: vec![Vec::new(); programs.len()],
        starts_ns: Vec::new(),
        begin_ns: now_ns(),
    };
    let (outcome, result) = compare(programs.len(), &rules, seed, &mut bench);
    let Turns {
        recording,
        runs,
        starts_ns,
        ..
    } = bench;
    let failure = result.as_ref().err().map(exit::words);
    let ending = failure.clone().map_or(Ok(outcome.ending), Err);
    let finished = recording.map_or(Ok(()), |recording| recording.finish(ending));
    if outcome.blocks == 0 && outcome.ending == Ending::BudgetUsed {
        refuse!(
            "the time is too short: it was over before each command had run once; `--budget` gives more"
        );
    }
    if outcome.blocks > 0 || result.is_ok() {
        state.compared = Some(Compared {
            summaries: runs.iter().map(Summary::new).collect(),
            outcome,
            runs,
            rules,
            seed,
            starts_ns,
            unit: arguments.results.time_unit,
            number,
            failure,
        });
    }
    exit::first_error([result, finished])
}

/// Runs each program `warmup` times: the shortest time of each. `None` if the user asked to stop.
fn warm_up(
    launcher: &Launcher,
    programs: &[Program],
    warmup: usize,
    rules: &Rules,
) -> Result<Option<Shortest>> {
    let mut shortest = Shortest::default();
    for round in 1..=warmup {
        for (index, program) in programs.iter().enumerate() {
            let begin_ns = now_ns();
            let timed = runs::measure(launcher, program, &format!("warmup-{}", round - 1));
            if timed
                .with_context(|| format!("warm-up run {round}"))?
                .is_none()
            {
                return Ok(None);
            }
            shortest.add(index, (now_ns() - begin_ns) as f64);
            if round == warmup {
                shortest.check(programs, rules)?;
            }
        }
    }
    Ok(Some(shortest))
}

/// A single program is not compared: as with hyperfine, ten runs and three seconds are enough for its time.
const RUNS_OF_ONE: usize = 10;
const TIME_OF_ONE: Nanoseconds = Nanoseconds(3e9);

fn rules(arguments: &Ab, programs: usize) -> Rules {
    let pace = &arguments.pace;
    let runs = pace.runs.map(|runs| runs as usize);
    let (usual_runs, least_time) = match programs {
        1 => (RUNS_OF_ONE, TIME_OF_ONE),
        _ => (0, Rules::LEAST_TIME),
    };
    Rules {
        margin: pace.margin,
        budget: pace.budget.map_or(Budget::Usual, Budget::Fixed),
        least_runs: runs.unwrap_or(pace.min_runs.max(usual_runs)),
        most_runs: runs.or(pace.max_runs.map(|most| most as usize)),
        least_time,
    }
}

fn start_in_words(launcher: &Launcher) -> String {
    match &launcher.shell {
        Some(shell) => format!("run by `{} -c`", shell.join(" ")),
        None => "started directly".to_owned(),
    }
}

/// Runs the clean-up of each program, also after an error, and returns the first error.
fn clean_up(launcher: &Launcher, programs: &[Program]) -> Result<()> {
    let programs = programs.iter();
    let results: Vec<_> = programs.map(|program| launcher.clean_up(program)).collect();
    exit::first_error(results)
}

/// The outcome of a comparison with these verdicts.
fn exit_of(mut verdicts: impl Iterator<Item = Verdict>, fail_on: Option<FailOn>) -> Exit {
    Exit::found_if(verdicts.any(|it| {
        let (is_slower, is_faster) = (it == Verdict::Slower, it == Verdict::Faster);
        is_found(is_slower, is_faster, fail_on)
    }))
}

/// The shortest time of a run of each program so far, with the commands around it, in ns.
#[derive(Default)]
struct Shortest(Vec<f64>);

impl Shortest {
    /// Adds a run of a program, in the order of the programs.
    pub fn add(&mut self, program: usize, took_ns: f64) {
        match self.0.get_mut(program) {
            Some(shortest) => *shortest = shortest.min(took_ns),
            None => self.0.push(took_ns),
        }
    }

    /// Time of one run of each program; `None` without a warm-up.
    pub fn round_ns(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum())
    }

    /// Refuses a time in which one run of each program cannot end, as soon as that is known.
    pub fn check(&self, programs: &[Program], rules: &Rules) -> Result<(), WrongUse> {
        let Some(known_ns) = self
            .round_ns()
            .filter(|known_ns| rules.room(*known_ns) == 0)
        else {
            return Ok(());
        };
        let Budget::Fixed(budget) = rules.budget else {
            return Ok(());
        };
        let (which, advice) = match self.0.len() {
            all if all == programs.len() => ("one run of each command".into(), enough(known_ns)),
            1 => (format!("one run of '{}'", programs[0].name), String::new()),
            count => (
                format!("one run of each of {count} commands"),
                String::new(),
            ),
        };
        refuse!(
            "the time is too short: {which} took {:.3} in the warm-up, and `--budget` is {budget:.3} for all \
             runs.{advice} If only the first run is slow, `--warmup 2` shows the usual time",
            Nanoseconds(known_ns)
        )
    }
}

/// The time in which a verdict is possible.
fn enough(round_ns: f64) -> String {
    let seconds = (round_ns * Rules::USUAL_RUNS as f64 / 1e9).ceil();
    format!(
        " `--budget {seconds}s` has time for {} runs of each, the fewest for a verdict.",
        Rules::USUAL_RUNS
    )
}

/// The time of the comparison, and the runs for which it is enough.
fn announcement(rules: &Rules, round_ns: Option<f64>) -> String {
    let time = match rules.budget {
        Budget::Usual => "about 30 s".to_owned(),
        Budget::Fixed(budget) => format!("{budget:.2}"),
    };
    let Some(round_ns) = round_ns else {
        return format!("at most {time}");
    };
    let room = rules.room(round_ns);
    let wanted = rules.least_runs.max(Rules::USUAL_RUNS);
    let runs = counted(room, "run");
    let all = Nanoseconds(room as f64 * round_ns);
    if rules.most_runs == Some(room) {
        format!("{runs} of each in about {all:.2}")
    } else if room > wanted {
        format!("at most {time}")
    } else {
        let is_too_few = room < Rules::USUAL_RUNS;
        let few = is_too_few.then(|| format!(".{}", enough(round_ns)));
        format!(
            "at most {runs} of each in about {all:.2}{}",
            few.unwrap_or_default()
        )
    }
}

/// The programs as the subjects of a comparison.
struct Turns<'a> {
    launcher: &'a Launcher,
    programs: &'a [Program],
    recording: Option<Recording<'a>>,
    progress: &'a mut LiveLine,
    /// Time of one run of each program, if it is known from the warm-up.
    pace_ns: Option<f64>,
    /// The runs of each program in finished blocks.
    runs: Vec<Runs>,
    /// Those since the last finished block.
    latest: Vec<Vec<Timed>>,
    /// Times of a command that does nothing, next to short programs.
    starts_ns: Vec<f64>,
    begin_ns: u64,
}

/// Runs of a command that does nothing, which show the cost of a start.
const MOST_STARTS: usize = 50;

impl Bench for Turns<'_> {
    type Error = anyhow::Error;

    fn measure(&mut self, subject: usize) -> Result<Option<Vec<f64>>> {
        let number = self.runs[subject].each.len() + self.latest[subject].len() + 1;
        let iteration = (number - 1).to_string();
        let timed = runs::measure(self.launcher, &self.programs[subject], &iteration);
        let timed = timed.with_context(|| format!("run {number}"))?;
        Ok(timed.map(|timed| {
            let wall_ns = timed.ran.wall_ns as f64;
            let costs = [&[wall_ns][..], &timed.costs()].concat();
            self.latest[subject].push(timed);
            costs
        }))
    }

    fn elapsed_ns(&self) -> f64 {
        (now_ns() - self.begin_ns) as f64
    }

    fn pace_ns(&self) -> Option<f64> {
        self.pace_ns
    }

    fn keep(&mut self, block: &Block, contest: &Contest) -> Result<()> {
        let latest = self.latest.iter_mut();
        let new: Vec<Vec<Timed>> = latest
            .map(|latest| latest.drain(..block.turns()).collect())
            .collect();
        for (runs, new) in self.runs.iter_mut().zip(&new) {
            for timed in new {
                runs.add(timed);
            }
        }
        if let Some(recording) = &mut self.recording {
            recording.add(block, &new)?;
        }
        let is_short = |timed: &Timed| (timed.ran.wall_ns as f64) < results::SHORT.0;
        if self.starts_ns.len() < MOST_STARTS && new.iter().flatten().any(is_short) {
            self.starts_ns.extend(self.launcher.idle_ns());
        }
        let (programs, elapsed_ns) = (self.programs, self.elapsed_ns());
        let kept = self.runs[0].each.len();
        self.progress.update(|| {
            let runs = counted(kept, "run");
            if let Some(pair) = contest.pairs(elapsed_ns).first() {
                return format!("{runs} of each: {}", results::pair(programs, pair));
            }
            let mean = Nanoseconds(elapsed_ns / kept.max(1) as f64);
            format!("{runs}, {mean:.3} each")
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::announcement;
    use instrument::ab::{Budget, Rules};
    use instrument::quantity::Nanoseconds;

    #[test]
    fn the_announcement_names_the_runs_that_fit_into_the_time() {
        for (budget_s, runs, round_s, expected) in [
            (None, None, 0.01, "at most about 30 s"),
            (None, None, 10.0, "at most 12 runs of each in about 2.0 min"),
            (None, Some(3), 1.0, "3 runs of each in about 3.0 s"),
            (
                Some(10.0),
                None,
                4.0,
                "at most 2 runs of each in about 8.0 s. `--budget 48s` has time for 12 runs of each, the fewest for a \
                 verdict.",
            ),
            (Some(10.0), None, 0.1, "at most 10 s"),
            (Some(5.0), Some(1), 4.0, "1 run of each in about 4.0 s"),
        ] {
            let fixed = |seconds: f64| Budget::Fixed(Nanoseconds(seconds * 1e9));
            let rules = Rules {
                least_runs: runs.unwrap_or(0),
                most_runs: runs,
                ..Rules::new(0.01, budget_s.map_or(Budget::Usual, fixed))
            };
            assert_eq!(announcement(&rules, Some(round_s * 1e9)), expected);
        }
    }
}
