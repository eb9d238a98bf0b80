//! `oscope run`: measures.

mod written;

use super::resume::{self, Stopped};
use crate::arguments::{Common, Run as Arguments, Worker};
use crate::exit::{Exit, WrongUse, first_error, words};
use crate::progress::Progress;
use crate::stored::Judged;
use crate::{beside, given, leftovers, output, selection, setting, stored, style};
use anyhow::{Context, Result, bail};
use instrument::chosen::Chosen;
use instrument::clock::{SystemClock, calibrate};
use instrument::definition::Definition;
use instrument::estimate::FEWEST_PROCESSES;
use instrument::experiment::Experiment;
use instrument::fitness;
use instrument::limits::{Limited, Limits};
use instrument::plan::{Plan, Setting};
use instrument::quantity::{Nanoseconds, counted};
use instrument::removal::REMOVAL;
use instrument::runner::{
    Earlier, LimitedExecutor, Observer, Outcome, Runner, Surroundings, Swap, WorkerExecutor,
};
use instrument::visit_costs::VisitCosts;
use platform::environment::Environment;
use platform::placement;
use platform::scratch::Scratch;
use platform::signal::Interrupt;
use platform::startup;
use platform::storage::Storage;
use record::store::{Recorder, RunSelector, Store};
use record::{Header, Run, draw_id, now};
use report::comparison::{self, Comparison, MARGIN, Question, Side};
use report::{Analysis, terminal, view};
use std::path::{Path, PathBuf};
use std::time::Duration;
use written::Page;

/// So many of the names that a profile leaves out are told.
const NAMED: usize = 6;
const NO_RANDOMNESS: &str = "the system gives no random numbers";
/// Grace period of a worker: if it is silent for longer, it hangs and is killed.
pub const PATIENCE: Duration = Duration::from_mins(1);

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let stopped = arguments.resume.as_ref();
    let stopped = stopped.map(|name| Stopped::find(name, arguments, common));
    let stopped = stopped.transpose()?;
    let arguments = stopped.as_ref().map_or(arguments, |it| &it.arguments);
    let chosen = selection::experiments(&arguments.what)?;
    given::check(arguments, &chosen)?;
    let page = Page::new(arguments, common)?;
    let against = arguments.compare_with.as_ref();
    let against = against.map(|name| stored::side(common, name)).transpose()?;
    if let Some(against) = &against {
        let designs = chosen.iter().map(|experiment| experiment.design());
        let definitions: Vec<Definition> = designs.map(Definition::from).collect();
        comparison::check_comparable(against, &definitions)?;
    }
    let progress = Progress::new(common);
    let sessions = Sessions::new(arguments, stopped.as_ref(), &chosen, common, &progress)?;
    let (mut measured, result) = sessions.measure(&progress, &mut []);
    let cut_off = measured.last().filter(|last| last.is_cut_off);
    let cut_off = cut_off.map(|last| last.number);
    let is_compared = matches!(result, Ok(Exit::Done | Exit::Incomplete));
    let against = against.filter(|_| is_compared);
    let mut steps = Vec::new();
    if let Some(last) = measured.last_mut() {
        let mut analysis = last.judged.analysis();
        let store = stored::open_if_there(common)?;
        stored::add_settings_of_system(&mut analysis, store.as_ref())?;
        let interrupt = sessions.interrupt;
        steps.push(page.write(&analysis, last.number, interrupt, common, &progress));
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
        progress.say(&format!("{command} continues this run"));
    }
    first_error(steps)?;
    Ok(exit)
}

/// Measures and stores, and prints nothing on standard output. The run also tells `observers` its events.
pub fn measure_only(
    arguments: &Arguments,
    common: &Common,
    observers: &mut [&mut dyn Observer],
) -> Result<Exit> {
    let chosen = selection::experiments(&arguments.what)?;
    given::check(arguments, &chosen)?;
    let progress = Progress::new(common);
    let sessions = Sessions::new(arguments, None, &chosen, common, &progress)?;
    sessions.measure(&progress, observers).1
}

/// Sessions to measure.
struct Sessions<'s> {
    arguments: &'s Arguments,
    /// The stopped run to continue, instead of a new one.
    stopped: Option<&'s Stopped>,
    limits: Limits,
    chosen: &'s [&'static dyn Experiment],
    interrupt: Interrupt,
    common: &'s Common,
}

impl<'s> Sessions<'s> {
    fn new(
        arguments: &'s Arguments,
        stopped: Option<&'s Stopped>,
        chosen: &'s [&'static dyn Experiment],
        common: &'s Common,
        progress: &Progress,
    ) -> Result<Self> {
        Ok(Self {
            arguments,
            stopped,
            interrupt: Interrupt::install()?,
            limits: beside::limits(arguments, progress)?,
            chosen,
            common,
        })
    }

    /// Measures all sessions, and passes their events to `observers`. An error ends it, and what was measured
    /// until then is returned next to it.
    fn measure(
        &self,
        progress: &Progress,
        observers: &mut [&mut dyn Observer],
    ) -> (Vec<Measured>, Result<Exit>) {
        let mut measured = Vec::new();
        let exit = self.measure_all(progress, observers, &mut measured);
        (measured, exit)
    }

    fn measure_all(
        &self,
        progress: &Progress,
        observers: &mut [&mut dyn Observer],
        measured: &mut Vec<Measured>,
    ) -> Result<Exit> {
        let mut exit = Exit::Done;
        let count = self.arguments.session_count();
        for session in 1..=count {
            if count > 1 {
                progress.say(&format!("session {session} of {count}"));
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
struct Measured {
    judged: Judged,
    number: u64,
    /// True if it stayed within its limits.
    kept_limits: bool,
    /// True if the user stopped it, or the time did not reach all points.
    is_cut_off: bool,
}

/// Prints the comparison of the measured sessions with those of `against`, after its page if one was asked for.
fn compare(against: &Side, measured: Vec<Measured>, common: &Common) -> Result<()> {
    let numbers = measured.iter().map(|session| session.number.to_string());
    let side = Side {
        label: numbers.collect::<Vec<_>>().join(","),
        runs: measured
            .into_iter()
            .map(|session| session.judged.run)
            .collect(),
        is_reported: false,
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
    ) -> Result<(Measured, Result<Outcome>)> {
        let (arguments, limits, common) = (self.arguments, self.limits, self.common);
        let mut progress = Progress::new(common);
        let mut store = stored::open(common)?;
        for directory in std::iter::once(&arguments.dir).chain(&arguments.remote) {
            leftovers::clear_and_report(Some(&store), directory, common)?;
        }
        let scratch = Scratch::create(&arguments.dir, &REMOVAL)?;
        if let Some(stopped) = self.stopped {
            check_stopped(&stopped.run, &scratch)?;
        }
        let (given, elsewhere) = given::take(arguments, &scratch, self.interrupt, &progress)?;
        let setting = setting::here(
            &arguments.dir,
            given,
            arguments.profile.into(),
            arguments.allow_swap_file,
            limits,
        );
        if arguments.allow_swap_file && !(setting.is_root && setting.can_limit_memory) {
            progress.warn("no swap file will be made: that needs root, and a memory control group");
        }
        let mut run = match self.stopped {
            Some(stopped) => stopped.run.clone(),
            None => describe(arguments, session, &setting)?,
        };
        let at_levels = selection::at(self.chosen, &arguments.levels(), &setting)?;
        for chosen in &at_levels {
            tell_left_out(chosen, &setting, &progress);
        }
        let at_levels: Vec<&dyn Experiment> = at_levels.iter().map(|it| it as _).collect();
        let plan = Plan::new(&at_levels, &setting, arguments.budget, run.header.seed);
        let earlier = match self.stopped {
            Some(stopped) => stopped.earlier(&plan)?,
            None => Earlier::none(&plan),
        };
        warn(&run, &setting, common, &progress);
        announce(&plan, earlier.left, &setting, common, &progress)?;
        let fingerprint = &run.header.machine_fingerprint;
        let full_speeds = store.full_speeds(fingerprint)?;
        if self.stopped.is_none() {
            run.environment.is_first_run = Some(full_speeds.is_empty());
        }
        let visit_costs = if limits.is_none() {
            store.visit_costs(fingerprint, setting.profile)?
        } else {
            VisitCosts::default()
        };
        if self.stopped.is_none()
            && let Some(budget) = arguments.budget
        {
            refuse_too_short(budget, &plan, &visit_costs)?;
        }

        let workers = self.workers(&setting, scratch.path())?;
        let mut recorder = self.recorder(&mut store, &mut run, &plan, &earlier)?;
        let number = recorder.number();
        let mut executor = LimitedExecutor::new(workers)?;
        let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder, &mut progress];
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
        let outcome = outcome.and_then(|outcome| {
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
        let beyond = outcome.as_ref().map_or(0, |outcome| outcome.beyond);
        if beyond > 0 {
            let points = counted(beyond, "point");
            progress.say(&format!("left out for the limits: {points}"));
        }
        let kept_limits = used.is_none_or(|used| beside::tell(&used, &limits, &progress));

        let judged = read_back(&store, run.header.id, &outcome, common, &progress)?;
        let measured = Measured {
            judged,
            number,
            kept_limits,
            is_cut_off: outcome
                .as_ref()
                .map_or(true, |it| it.interrupted || it.unreached > 0),
        };
        Ok((measured, outcome))
    }

    fn workers(&self, setting: &Setting, scratch: &Path) -> Result<WorkerExecutor> {
        let limits = self.limits;
        Ok(WorkerExecutor {
            program: startup::program().context("cannot find this program's own file")?,
            arguments: worker(self.arguments, limits),
            environment: Vec::new(),
            cpu: placement::allowed_cpus()?.last().copied(),
            scratch: scratch.to_owned(),
            swap: Swap::new(self.arguments.allow_swap_file),
            patience: PATIENCE,
            interrupt: self.interrupt,
            surroundings: Surroundings::default(),
            limits: self.stopped.map_or(limits, |it| it.left_of(limits)),
            available_bytes: Some(setting.available_bytes).filter(|available| *available > 0),
            group_peak_bytes: None,
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
    id: String,
    outcome: &Result<Outcome>,
    common: &Common,
    progress: &Progress,
) -> Result<Judged> {
    let judged = match (stored::judged_in(store, &RunSelector::Text(id)), outcome) {
        // The end of the run has the better reason.
        (Err(_), Err(error)) => bail!("{}", words(error)),
        (judged, _) => judged?,
    };
    let path = stored::path(common)?;
    if matches!(path.try_exists(), Ok(false)) {
        progress.warn(&format!(
            "the store was removed meanwhile: nothing of this run is kept in {}",
            path.display()
        ));
    }
    Ok(judged)
}

/// Checks that no other process is measuring the run that is to be continued.
fn check_stopped(run: &Run, scratch: &Scratch) -> Result<(), WrongUse> {
    match scratch.others().first() {
        Some(other) if run.header.ended.is_none() => Err(WrongUse(format!(
            "the run may still be under way: {} belongs to a program that runs; wait for its end",
            other.display()
        ))),
        _ => Ok(()),
    }
}

/// Names in one line what a longer profile would measure at the chosen levels.
fn tell_left_out(chosen: &Chosen<'_>, setting: &Setting, progress: &Progress) {
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
    progress.say(&format!(
        "the {} profile leaves out of {}: {}{more}. `--at` with such a name, or a longer profile, measures it",
        setting.profile,
        chosen.id(),
        shown.join("; "),
    ));
}

/// Warns in one line of work that a run without limits may disturb.
fn warn(run: &Run, setting: &Setting, common: &Common, progress: &Progress) {
    if !setting.limits.is_none() {
        return;
    }
    let environment = &run.environment;
    let busy = beside::busy_now();
    let supplies = beside::supplies(&setting.directory, common, &run.machine, environment, busy);
    if let Some(harm) = fitness::told(&fitness::harms(&supplies)) {
        progress.warn(&format!(
            "{harm}: `oscope doctor` says more, `--gentle` takes less"
        ));
    }
}

/// The run's description before the measurement.
fn describe(arguments: &Arguments, session: u8, setting: &Setting) -> Result<Run> {
    let is_one_of_several = arguments.session_count() > 1;
    let environment = Environment::read();
    let header = Header {
        id: draw_id().context(NO_RANDOMNESS)?,
        name: arguments.name.as_ref().map(|name| {
            if is_one_of_several {
                format!("{name}-{session}")
            } else {
                name.clone()
            }
        }),
        tags: arguments.tags.iter().cloned().collect(),
        started: now(),
        ended: None,
        interrupted: false,
        profile: setting.profile,
        budget_ns: 0.0,
        seed: match arguments.seed {
            // Each session has a different order.
            Some(seed) => seed.wrapping_add(u64::from(session) - 1),
            // Short enough to type.
            None => getrandom::u64().context(NO_RANDOMNESS)? % 1_000_000,
        },
        command_line: resume::command_line(&environment.command_line),
        version: env!("CARGO_PKG_VERSION").into(),
        directory: legible(&setting.directory),
        machine_fingerprint: setting.machine.fingerprint(),
        proven: true,
        limited: (!setting.limits.is_none()).then_some(Limited {
            limits: setting.limits,
            used: None,
        }),
        redacted: false,
    };
    Ok(Run {
        header,
        machine: setting.machine.clone(),
        environment,
        storage: storage(&setting.directory),
        calibration: calibrate(),
        experiments: Vec::new(),
    })
}

fn storage(directory: &Path) -> Option<Storage> {
    let storage = Storage::behind(directory).ok()?;
    Some(Storage {
        mount_point: legible(&storage.mount_point),
        ..storage
    })
}

/// A path that a record can store: invalid UTF-8 is replaced.
fn legible(path: &Path) -> PathBuf {
    path.to_string_lossy().into_owned().into()
}

/// Announces plan, duration and directories before the run starts.
fn announce(
    plan: &Plan<'_>,
    time: Nanoseconds,
    setting: &Setting,
    common: &Common,
    progress: &Progress,
) -> Result<()> {
    let experiments = counted(plan.experiments.len(), "experiment");
    let points = counted(plan.point_count(), "point");
    let rests = if setting.limits.stretch() > 1.0 {
        ", rests included"
    } else {
        ""
    };
    progress.say(&format!(
        "{experiments}, {points}, {} profile: at most {:.2}{rests}",
        setting.profile, time
    ));
    progress.say(&format!(
        "scratch files in {}, results in {}",
        setting.directory.display(),
        stored::path(common)?.display()
    ));
    Ok(())
}

/// Refuses a time that is too short for any estimate.
fn refuse_too_short(budget: Nanoseconds, plan: &Plan<'_>, costs: &VisitCosts) -> Result<()> {
    let (one, all) = plan.least_times(costs);
    if budget.0 >= one.0 || plan.point_count() == 0 {
        return Ok(());
    }
    let enough = |least: Nanoseconds| format!("{}s", (least.0 / 1e9).ceil());
    let advice = match all {
        Some(all) => format!("`--budget {}` would do for all points", enough(all)),
        None => format!("a point needs at least {one:.2}"),
    };
    Err(WrongUse(format!(
        "the time is too short for any estimate, which rests on {FEWEST_PROCESSES} visits to a point: \
         {advice}"
    ))
    .into())
}

/// Prints the summary.
fn present(analysis: &Analysis<'_>, arguments: &Arguments, common: &Common) -> Result<()> {
    let text = if common.json {
        serde_json::to_string_pretty(&report::json::analysis(analysis))? + "\n"
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
    let lacks_what_was_named =
        !arguments.what.is_empty() && outcome.skipped + outcome.missing + outcome.unreached > 0;
    let had_too_little_time = arguments.budget.is_some() && outcome.unreached > 0;
    match interrupt.signal() {
        Some(signal) if outcome.interrupted => Exit::Stopped(signal),
        _ if outcome.failed > 0 || outcome.started == 0 => Exit::Incomplete,
        _ if lacks_what_was_named || had_too_little_time => Exit::Incomplete,
        _ => Exit::Done,
    }
}
