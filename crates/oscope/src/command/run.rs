//! `oscope run`: measures, and writes the page of the run.

use super::live::Live;
use super::new_run;
use super::resume::{self, Stopped};
use super::run_page::RunPage;
use super::trial::{self, Trials};
use crate::arguments::{Arguments as Line, Command, Common, Run as Arguments, Worker};
use crate::exit::{Exit, WrongUse, first_error, refuse, words};
use crate::progress::{Progress, Voice};
use crate::selection::{self, Selection, TIME_OF_GLANCE};
use crate::stored::{self, AnalysedRun};
use crate::{leftovers, limits, machines, output, setting, style};
use anyhow::{Context, Result, bail};
use clap::Parser;
use files::Watch;
use instrument::at_levels::AtLevels;
use instrument::clock::SystemClock;
use instrument::definition::Definition;
use instrument::estimate::FEWEST_PROCESSES;
use instrument::experiment::Experiment;
use instrument::fitness;
use instrument::limits::{Limited, Limits, Used};
use instrument::plan::{Plan, Profile, Setting, VisitCosts};
use instrument::quantity::{Nanoseconds, counted};
use instrument::removal::REMOVAL;
use instrument::runner::{
    Earlier, Executor, LimitedExecutor, Observer, Outcome, Runner, Swap, WorkerExecutor,
};
use platform::clock::now_ns;
use platform::scratch::Scratch;
use platform::signal::Interrupt;
use platform::startup;
use record::Run;
use record::store::{Recorder, RunSelector, Store};
use report::comparison::{self, Comparison, MARGIN, Question, Side};
use report::{Analysis, terminal, view};
use std::path::Path;

/// The number of names that a profile leaves out which are printed.
const NAMED: usize = 6;

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let stopped = arguments.resume.as_ref();
    let stopped = stopped.map(|name| Stopped::find(name, arguments, common));
    let stopped = stopped.transpose()?;
    let arguments = stopped.as_ref().map_or(arguments, |it| &it.arguments);
    let selected = selection::of(arguments)?;
    let chosen = &selected.experiments;
    setting::check_named(arguments, chosen)?;
    let page = RunPage::new(arguments, common)?;
    let against = arguments.compare_with.as_ref();
    let against = against.map(|name| stored::side(common, name)).transpose()?;
    if let Some(against) = &against {
        let designs = chosen.iter().map(|experiment| experiment.design());
        let definitions: Vec<Definition> = designs.map(Definition::from).collect();
        comparison::check_comparable(against, &definitions)?;
    }
    let sessions = Sessions {
        // Who names experiments wants those alone.
        is_of_everything: arguments.what.is_empty(),
        watched: arguments.watch.then_some(&page),
        ..Sessions::new(arguments, stopped.as_ref(), Some(&selected), common)?
    };
    let mut measured = Vec::new();
    let result = sessions.measure(&mut [], &mut measured);
    let cut_off = measured.last().filter(|last| last.is_cut_off);
    let cut_off = cut_off.map(|last| last.number);
    let is_compared = matches!(result, Ok(Exit::Done | Exit::Incomplete));
    let against = against.filter(|_| is_compared);
    let mut steps = Vec::new();
    if let Some(last) = measured.last_mut() {
        let mut analysis = last.judged.analysis();
        stored::add_settings_of_system(&mut analysis, stored::open_if_there(common)?.as_ref())?;
        machines::add_to(&mut analysis, common);
        let stop = Watch::stopped_by(sessions.interrupt.flag());
        let to = (common, &sessions.voice);
        steps.push(page.write(&analysis, last.number, to, &stop));
        if against.is_none() {
            steps.push(present(&analysis, arguments, common));
        }
    }
    if let Some(against) = against {
        steps.push(compare(&against, measured, common));
    }
    let exit = match result {
        Ok(exit) => exit,
        Err(error) => {
            steps.push(Err(error));
            Exit::Incomplete
        }
    };
    if let Some(number) = cut_off {
        let command = resume::command(number, common);
        sessions.voice.say(&format!("{command} continues this run"));
    }
    first_error(steps)?;
    Ok(exit)
}

/// The options of `oscope run` in the words of its command line.
pub fn parsed(words: &[String]) -> Result<Arguments, WrongUse> {
    let words = [&["oscope".to_owned()], words].concat();
    match Line::try_parse_from(words)?.command {
        Some(Command::Run(arguments)) => Ok(*arguments),
        _ => unreachable!("each of these commands is `oscope run`"),
    }
}

/// Measures and stores, and prints nothing on standard output. `observers` see the events as well.
pub fn measure_only(
    arguments: &Arguments,
    common: &Common,
    observers: &mut [&mut dyn Observer],
) -> Result<Exit> {
    let selected = selection::of(arguments)?;
    setting::check_named(arguments, &selected.experiments)?;
    let sessions = Sessions::new(arguments, None, Some(&selected), common)?;
    sessions.measure(observers, &mut Vec::new())
}

/// Measures and stores what a glance shows, and prints nothing on standard output. Returns the run as far as it was
/// measured, and how it ended.
pub fn measure_glance(
    arguments: &Arguments,
    common: &Common,
) -> Result<(Option<AnalysedRun>, Result<Exit>)> {
    let sessions = Sessions::new(arguments, None, None, common)?;
    let mut measured = Vec::new();
    let result = sessions.measure(&mut [], &mut measured);
    Ok((measured.pop().map(|run| run.judged), result))
}

/// Sessions to measure.
struct Sessions<'s> {
    arguments: &'s Arguments,
    /// The stopped run to continue, instead of a new one.
    stopped: Option<&'s Stopped>,
    limits: Limits,
    /// What is measured; `None` for what a glance shows.
    selected: Option<&'s Selection>,
    interrupt: Interrupt,
    common: &'s Common,
    /// Lines before and after a session.
    voice: Voice,
    /// True if a session begins with what a glance measures and shows, and tries settings at its end.
    is_of_everything: bool,
    /// The page that is written after each pass.
    watched: Option<&'s RunPage>,
}

impl<'s> Sessions<'s> {
    fn new(
        arguments: &'s Arguments,
        stopped: Option<&'s Stopped>,
        selected: Option<&'s Selection>,
        common: &'s Common,
    ) -> Result<Self> {
        let voice = Progress::new(common).voice;
        Ok(Self {
            arguments,
            stopped,
            interrupt: Interrupt::install()?,
            limits: limits::apply(arguments, &voice)?,
            selected,
            common,
            voice,
            is_of_everything: false,
            watched: None,
        })
    }

    /// Measures all sessions, and passes their events to `observers`. An error ends it; `measured` has the
    /// sessions until then.
    fn measure(
        &self,
        observers: &mut [&mut dyn Observer],
        measured: &mut Vec<MeasuredRun>,
    ) -> Result<Exit> {
        let mut exit = Exit::Done;
        let count = self.arguments.session_count();
        for session in 1..=count {
            if count > 1 {
                self.voice.say(&format!("session {session} of {count}"));
            }
            let (run, outcome) = self.measure_one(session, observers)?;
            let kept_limits = run.kept_limits;
            if outcome.is_ok() || !run.judged.run.experiments.is_empty() {
                measured.push(run);
            }
            let outcome = outcome?;
            exit = worse(exit, self::exit(outcome, self.arguments, self.interrupt));
            if !kept_limits {
                exit = worse(exit, Exit::Incomplete);
            }
            if outcome.interrupted {
                break;
            }
        }
        Ok(exit)
    }
}

/// A measured run with its number in the store.
struct MeasuredRun {
    judged: AnalysedRun,
    number: u64,
    /// True if it stayed within its limits.
    kept_limits: bool,
    /// True if the user stopped it, or the time did not reach all points.
    is_cut_off: bool,
}

/// Prints the comparison of the measured sessions with those of `against`, after its page if one was asked for.
fn compare(against: &Side, measured: Vec<MeasuredRun>, common: &Common) -> Result<()> {
    let numbers = measured.iter().map(|session| session.number.to_string());
    let side = Side {
        label: numbers.collect::<Vec<_>>().join(","),
        runs: measured
            .into_iter()
            .map(|session| session.judged.run)
            .collect(),
    };
    let comparison = Comparison::new(Question {
        a: against,
        b: &side,
        baseline: None,
        margin: MARGIN,
    })?;
    let text = super::compare::shown(&[comparison], false, common)?;
    output::show_painted(&text)
}

impl Sessions<'_> {
    /// Measures one session. An error that ends it comes with the part that is stored.
    fn measure_one(
        &self,
        session: u8,
        others: &mut [&mut dyn Observer],
    ) -> Result<(MeasuredRun, Result<Outcome>)> {
        let (arguments, limits, common) = (self.arguments, self.limits, self.common);
        let voice = &self.voice;
        let progress = Progress::new(common);
        let mut store = stored::open(common)?;
        let scratch = self.scratch(&store)?;
        let (given, elsewhere) = setting::take_named(arguments, &scratch, self.interrupt, voice)?;
        let swap = arguments.allow_swap_file;
        let setting = Setting {
            given,
            limits,
            ..setting::here(&arguments.dir, arguments.profile, swap)
        };
        if arguments.allow_swap_file && !(setting.is_root && setting.can_limit_memory) {
            voice.warn("no swap file will be made: that needs root, and a memory control group");
        }
        let mut run = match self.stopped {
            Some(stopped) => stopped.run.clone(),
            None => describe(arguments, session, &setting)?,
        };
        let at_levels = self.at_levels(&setting)?;
        let at_levels: Vec<&dyn Experiment> = at_levels.iter().map(|it| it as _).collect();
        let mut plan = Plan::new(&at_levels, &setting, arguments.budget, run.header.seed);
        // Who chooses levels wants those alone.
        let begins_with_glance = self.is_of_everything && arguments.levels().is_empty();
        if begins_with_glance {
            plan.put_first(&selection::of_glance(&setting)?, &setting, TIME_OF_GLANCE);
        }
        let (earlier, time) = self.earlier(&plan)?;
        warn(&run, &setting, common, voice);
        announce(&plan, time, &setting, common, voice)?;
        let full_speeds = store.full_speeds(&run.header.machine_fingerprint)?;
        let visit_costs = self.visit_costs(&store, &run, setting.profile)?;
        let budget = arguments.budget.filter(|_| self.stopped.is_none());
        refuse_too_short(budget, &plan, &visit_costs)?;

        let workers = self.workers(&setting, scratch.path())?;
        let mut recorder = self.recorder(&mut store, &mut run, &plan, &earlier)?;
        let number = recorder.number();
        let selector = RunSelector::Text(run.header.id.clone());
        let mut executor = LimitedExecutor::new(workers)?;
        let end_ns = now_ns() + time.0 as u64;
        let shows_glance = begins_with_glance && !common.json && !common.quiet;
        let mut live = Live {
            progress,
            glance_before: shows_glance.then(|| plan.first_passes()),
            ladder: None,
            page: self.watched.map(|page| (page, number)),
            selector: selector.clone(),
            common,
            stop: Watch::stopped_by(self.interrupt.flag()),
        };
        let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder, &mut live];
        observers.extend(others.iter_mut().map(|it| &mut **it as &mut dyn Observer));
        let mut runner = Runner {
            clock: &SystemClock,
            executor: &mut executor,
            observers,
            calibration: run.calibration.clone(),
            scratch: scratch.path().to_owned(),
            given: setting.given,
            topology: run.machine.topology.clone(),
            full_speeds,
            visit_costs,
        };
        let outcome = runner.resume(&plan, &earlier);
        let outcome = outcome.map_err(|error| anyhow::anyhow!(error));
        let outcome = outcome.and_then(|mut outcome| {
            if self.is_of_everything && !outcome.interrupted {
                let mut trials = Trials {
                    plan: &plan,
                    calibration: &run.calibration,
                    scratch: scratch.path(),
                    executor: &mut executor,
                    recorder: &mut recorder,
                    end_ns,
                    voice,
                };
                trials.run(&stored::open_to_read(common)?.run(&selector)?)?;
                outcome.interrupted = executor.is_interrupted();
            }
            let used = executor.finish()?;
            let used = used.map(|used| recorder.note_use(used)).transpose()?;
            recorder.finish(outcome.interrupted)?;
            Ok((outcome, used))
        });
        drop((scratch, elsewhere));
        let (outcome, used) = match outcome {
            Ok((outcome, used)) => (Ok(outcome), used),
            Err(error) => (Err(error), None),
        };
        let kept_limits = self.report_limits(&outcome, used);
        let judged = read_back(&store, &selector, &outcome, common, voice)?;
        let measured = MeasuredRun {
            judged,
            number,
            kept_limits,
            is_cut_off: outcome
                .as_ref()
                .map_or(true, |it| it.interrupted || it.unreached > 0),
        };
        Ok((measured, outcome))
    }

    /// A place for scratch files, where those of killed runs are gone. No other program may be measuring a run that is to
    /// be continued.
    fn scratch(&self, store: &Store) -> Result<Scratch> {
        let arguments = self.arguments;
        for directory in std::iter::once(&arguments.dir).chain(&arguments.remote) {
            leftovers::clear_and_report(Some(store), directory, self.common)?;
        }
        let scratch = Scratch::create(&arguments.dir, &REMOVAL)?;
        if let Some(other) = scratch.others().first()
            && self.stopped.is_some_and(|it| it.run.header.ended.is_none())
        {
            refuse!(
                "the run may still be under way: {} belongs to a program that runs; wait for its end",
                other.display()
            );
        }
        Ok(scratch)
    }

    /// The experiments at the levels that the user chose, or at those of a glance.
    fn at_levels(&self, setting: &Setting) -> Result<Vec<AtLevels<'_>>> {
        let Some(selected) = self.selected else {
            return Ok(selection::of_glance(setting)?);
        };
        let at_levels = selection::at(&selected.experiments, &selected.levels, setting)?;
        if !self.arguments.levels().is_empty() {
            for chosen in &at_levels {
                say_left_out(chosen, setting, &self.voice);
            }
        }
        Ok(at_levels)
    }

    /// What was measured earlier, with the time for the rest of the plan, and the time with that for trials.
    fn earlier(&self, plan: &Plan<'_>) -> Result<(Earlier, Nanoseconds)> {
        let mut earlier = match self.stopped {
            Some(stopped) => stopped.earlier(plan)?,
            None => Earlier::none(plan),
        };
        let time = earlier.left;
        if self.is_of_everything {
            earlier.left.0 -= trial::reserve(time).0;
        }
        Ok((earlier, time))
    }

    /// The wall time of visits in earlier runs of this machine without limits.
    fn visit_costs(&self, store: &Store, run: &Run, profile: Profile) -> Result<VisitCosts> {
        if self.limits.is_none() {
            Ok(store.visit_costs(&run.header.machine_fingerprint, profile)?)
        } else {
            Ok(VisitCosts::default())
        }
    }

    /// Reports what the limits left out and what the run used: true if it kept them.
    fn report_limits(&self, outcome: &Result<Outcome>, used: Option<Used>) -> bool {
        let beyond = outcome.as_ref().map_or(0, |outcome| outcome.beyond);
        if beyond > 0 {
            let points = counted(beyond, "point");
            self.voice
                .say(&format!("left out for the limits: {points}"));
        }
        used.is_none_or(|used| limits::report(&used, &self.limits, &self.voice))
    }

    fn workers(&self, setting: &Setting, scratch: &Path) -> Result<WorkerExecutor> {
        let limits = self.limits;
        let program = startup::program().context("cannot find this program's own file")?;
        Ok(WorkerExecutor {
            arguments: worker(self.arguments, limits),
            swap: Swap::new(self.arguments.allow_swap_file),
            limits: self.stopped.map_or(limits, |it| it.left_of(limits)),
            available_bytes: Some(setting.available_bytes).filter(|available| *available > 0),
            ..WorkerExecutor::new(program, Worker::NAME, scratch, self.interrupt)?
        })
    }

    /// Records `run`: a new one, or more of a stopped one.
    fn recorder<'s>(
        &self,
        store: &'s mut Store,
        run: &mut Run,
        plan: &Plan<'_>,
        earlier: &Earlier,
    ) -> Result<Recorder<'s>> {
        Ok(if let Some(stopped) = self.stopped {
            store.resume(&stopped.run, stopped.budget_ns(earlier.left))?
        } else {
            run.header.budget_ns = plan.budget().0;
            store.begin(run)?
        })
    }
}

/// Reads a run from the store when it is over, also if an error ended it.
fn read_back(
    store: &Store,
    selector: &RunSelector,
    outcome: &Result<Outcome>,
    common: &Common,
    voice: &Voice,
) -> Result<AnalysedRun> {
    let judged = match (stored::judged_in(store, selector), outcome) {
        // The end of the run has the better reason.
        (Err(_), Err(error)) => bail!("{}", words(error)),
        (judged, _) => judged?,
    };
    let path = stored::path(common)?;
    if matches!(path.try_exists(), Ok(false)) {
        voice.warn(&format!(
            "the store was removed during the run: nothing of this run is kept in {}",
            path.display()
        ));
    }
    Ok(judged)
}

/// Names in one line what a longer profile would measure at the chosen levels.
fn say_left_out(chosen: &AtLevels<'_>, setting: &Setting, voice: &Voice) {
    let left_out = chosen.left_out(setting);
    if left_out.is_empty() {
        return;
    }
    let more = left_out.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    let shown = &left_out[..left_out.len().min(NAMED)];
    voice.say(&format!(
        "the {} profile leaves out of {}: {}{more}. `--at` with such a name, or a longer profile, measures it",
        setting.profile,
        chosen.id(),
        shown.join("; "),
    ));
}

/// Warns in one line of work that a run without limits may disturb.
fn warn(run: &Run, setting: &Setting, common: &Common, voice: &Voice) {
    if !setting.limits.is_none() {
        return;
    }
    let environment = &run.environment;
    let busy = limits::busy_now();
    let supplies = limits::supplies(&setting.directory, common, &run.machine, environment, busy);
    if let Some(harm) = fitness::harm_line(&fitness::harms(&supplies)) {
        voice.warn(&format!(
            "{harm}: `oscope doctor` explains it, `--gentle` takes less"
        ));
    }
}

/// The run's description before the measurement.
fn describe(arguments: &Arguments, session: u8, setting: &Setting) -> Result<Run> {
    // Each session has a different order.
    let named = arguments.seed;
    let named = named.map(|seed| seed.wrapping_add(u64::from(session) - 1));
    let machine = setting.machine.clone();
    let seed = new_run::seed(named)?;
    let mut run = new_run::describe(&setting.directory, machine, setting.profile, seed)?;
    run.header.name = arguments.name.as_ref().map(|name| {
        if arguments.session_count() > 1 {
            format!("{name}-{session}")
        } else {
            name.clone()
        }
    });
    run.header.tags = arguments.tags.iter().cloned().collect();
    run.header.limited = (!setting.limits.is_none()).then_some(Limited {
        limits: setting.limits,
        used: None,
    });
    Ok(run)
}

/// Announces plan, duration and directories before the run starts.
fn announce(
    plan: &Plan<'_>,
    time: Nanoseconds,
    setting: &Setting,
    common: &Common,
    voice: &Voice,
) -> Result<()> {
    let experiments = counted(plan.experiments.len(), "experiment");
    let points = counted(plan.point_count(), "point");
    let rests = if setting.limits.stretch() > 1.0 {
        ", rests included"
    } else {
        ""
    };
    voice.say(&format!(
        "{experiments}, {points}, {} profile: at most {:.2}{rests}",
        setting.profile, time
    ));
    voice.say(&format!(
        "scratch files in {}, results in {}",
        setting.directory.display(),
        stored::path(common)?.display()
    ));
    Ok(())
}

/// Refuses a time that is too short for any estimate.
fn refuse_too_short(
    budget: Option<Nanoseconds>,
    plan: &Plan<'_>,
    costs: &VisitCosts,
) -> Result<()> {
    let Some(budget) = budget else { return Ok(()) };
    let (one, all) = plan.least_times(costs);
    if budget.0 >= one.0 || plan.point_count() == 0 {
        return Ok(());
    }
    let enough = |least: Nanoseconds| format!("{}s", (least.0 / 1e9).ceil());
    let advice = match all {
        Some(all) => format!("`--budget {}` would do for all points", enough(all)),
        None => format!("a point needs at least {one:.2}"),
    };
    refuse!(
        "the time is too short for any estimate, which rests on {FEWEST_PROCESSES} visits to a point: \
         {advice}"
    )
}

/// Prints the summary.
fn present(analysis: &Analysis<'_>, arguments: &Arguments, common: &Common) -> Result<()> {
    let text = if common.json {
        output::json(&report::json::analysis(analysis))?
    } else if arguments.what.is_empty() {
        terminal::brief(analysis, &style::of_stdout(common))
    } else {
        style::painted(&view::summary(analysis), common)
    };
    output::show_painted(&text)
}

/// The command line of a worker process.
fn worker(arguments: &Arguments, limits: Limits) -> Vec<String> {
    let mut words = vec![Worker::NAME.to_owned()];
    if !limits.is_none() {
        words.push("--spare-caches".into());
    }
    #[cfg(feature = "extra-work")]
    words.push(format!("--extra-work={}", arguments.extra_work));
    #[cfg(not(feature = "extra-work"))]
    let _ = arguments;
    words
}

/// The more serious of two exit codes. A run that was stopped early may not have rested enough for its
/// limits, so the signal counts.
fn worse(first: Exit, second: Exit) -> Exit {
    match (first, second) {
        (Exit::Stopped(_), _) | (_, Exit::Done) => first,
        _ => second,
    }
}

/// Experiments that the user named must be complete. A run of everything measures as much as the
/// machine supports, and reports the rest.
fn exit(outcome: Outcome, arguments: &Arguments, interrupt: Interrupt) -> Exit {
    let has_gaps =
        !arguments.what.is_empty() && outcome.skipped + outcome.missing + outcome.unreached > 0;
    let had_too_little_time = arguments.budget.is_some() && outcome.unreached > 0;
    match interrupt.signal() {
        Some(signal) if outcome.interrupted => Exit::Stopped(signal),
        _ if outcome.failed > 0 || outcome.started == 0 => Exit::Incomplete,
        _ if has_gaps || had_too_little_time => Exit::Incomplete,
        _ => Exit::Done,
    }
}
