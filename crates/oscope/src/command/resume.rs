//! Stopped runs that `oscope run --resume` continues: the options that they had, and whether this is
//! still the same machine in the same state.

use crate::arguments::{Arguments as Line, Command, Common, Run as Arguments};
use crate::exit::{WrongUse, refuse};
use crate::stored;
use anyhow::Result;
use clap::Parser;
use instrument::limits::{Limited, Limits, Used};
use instrument::plan::Plan;
use instrument::quantity::Nanoseconds;
use instrument::runner::Earlier;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use record::{ExperimentRecord, Header, Run};
use std::{fs, io};

/// Largest difference between two estimates of the time at which the system started, without a
/// reboot: the wall clock is corrected now and then.
const CLOCK_STEPS_S: f64 = 120.0;
/// A run with less time left than this has used up its time.
const LEAST_NS: f64 = 1e9;
/// A pass for points that were never visited, and one for all.
const FEWEST_PASSES: usize = 2;

/// A stopped run, to be continued.
pub struct Stopped {
    /// The run as it is stored.
    pub run: Run,
    /// The options that it was started with.
    pub arguments: Arguments,
    /// The time that the user gives it in addition.
    more: Option<Nanoseconds>,
}

impl Stopped {
    /// The run that the command line names, if this machine can continue it. The page's options
    /// are those of `asked`.
    ///
    /// # Errors
    /// [`WrongUse`] with the reason why it cannot be continued.
    pub fn find(name: &str, asked: &Arguments, common: &Common) -> Result<Self> {
        let store = stored::open_to_read(common)?;
        let run = store.run(&stored::selector(name)?);
        let run = run.map_err(stored::wrong_use_if_unknown)?;
        let refused = |reason: String| {
            WrongUse(format!(
                "run {name} cannot be continued: {reason}; `oscope run` measures anew"
            ))
        };
        if let Some(reason) = changed(&run) {
            return Err(refused(reason).into());
        }
        let mut arguments = arguments(&run.header).map_err(refused)?;
        arguments.resume.clone_from(&asked.resume);
        arguments.page.clone_from(&asked.page);
        (arguments.force, arguments.no_page) = (asked.force, asked.no_page);
        (arguments.open, arguments.watch) = (asked.open, asked.watch);
        Ok(Self {
            more: asked.budget,
            arguments,
            run,
        })
    }

    /// `limits` less what the run wrote before it stopped.
    pub fn left_of(&self, limits: Limits) -> Limits {
        let written_bytes = self.used().written_bytes;
        let left = |most: u64| most.saturating_sub(written_bytes);
        Limits {
            written_bytes: limits.written_bytes.map(left),
            ..limits
        }
    }

    /// The resources that the run used before it stopped.
    pub fn used(&self) -> Used {
        let limited = self.run.header.limited.as_ref();
        limited.and_then(|limited| limited.used).unwrap_or_default()
    }

    /// The part that was measured, and the rest of the time: what the user gives, or what is left of
    /// the run's own, or as much again if that is used.
    ///
    /// # Errors
    /// [`WrongUse`] if `plan` has other experiments than the run, or measures them in another way.
    pub fn earlier(&self, plan: &Plan<'_>) -> Result<Earlier, WrongUse> {
        for record in self.run.measured() {
            check_plan(record, plan)?;
        }
        let records = self.run.measured();
        let points = |it: &ExperimentRecord| (it.definition.id.clone(), it.points.clone());
        let passes_begun = self.passes_begun();
        let own_ns = self.run.header.budget_ns - self.spent_ns();
        let is_used = own_ns < LEAST_NS || self.run.is_finished();
        let passes = plan.passes();
        Ok(Earlier {
            experiments: records.map(points).collect(),
            passes_begun,
            passes_left: if is_used || self.more.is_some() {
                passes
            } else {
                passes.saturating_sub(passes_begun).max(FEWEST_PASSES)
            },
            left: match self.more {
                Some(more) => more,
                None if is_used => plan.budget(),
                None => Nanoseconds(own_ns),
            },
        })
    }

    /// The budget of the whole run, if `left` is added.
    pub fn budget_ns(&self, left: Nanoseconds) -> f64 {
        self.run.header.budget_ns.max(self.spent_ns() + left.0)
    }

    fn passes_begun(&self) -> usize {
        let points = self.run.measured().flat_map(|it| &it.points);
        let batches = points.flat_map(|point| &point.batches);
        let last = batches.filter_map(|batch| batch.pass).max();
        last.map_or(0, |last| last as usize + 1)
    }

    /// Wall time that the run has used for its visits, and for the rests that limits require.
    fn spent_ns(&self) -> f64 {
        let visits = self.run.batches().map(|batch| batch.wall_ns as f64);
        visits.sum::<f64>().max(self.used().wall_ns as f64)
    }
}

/// True if this machine can continue the run.
pub fn is_possible(run: &Run) -> bool {
    changed(run).is_none() && arguments(&run.header).is_ok()
}

/// The command that continues a run of the store, as a sentence's subject.
pub fn command(number: u64, common: &Common) -> String {
    let store = common.store.as_ref();
    let store = store.map_or_else(String::new, |path| format!(" --store {}", path.display()));
    format!("`oscope run --resume {number}{store}`")
}

/// The command line as a record keeps it: with whole paths, since `--resume` may be typed elsewhere.
pub fn command_line(words: &[String]) -> Vec<String> {
    const TAKE_A_PATH: [&str; 2] = ["--remote", "--token-file"];
    let whole = |path: &str| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        path.to_string_lossy().into_owned()
    };
    let mut before = "";
    let words = words.iter().map(|word| {
        let option = std::mem::replace(&mut before, word);
        match word.split_once('=') {
            _ if TAKE_A_PATH.contains(&option) => whole(word),
            Some((option, path)) if TAKE_A_PATH.contains(&option) => {
                format!("{option}={}", whole(path))
            }
            _ => word.clone(),
        }
    });
    words.collect()
}

/// The options that the run was started with, its directory and limits as they were then.
fn arguments(header: &Header) -> Result<Arguments, String> {
    let parsed = Line::try_parse_from(&header.command_line);
    let command = parsed.map(|line| line.command.unwrap_or_else(Command::usual));
    let Ok(Command::Run(mut then)) = command else {
        return Err(format!(
            "it was not measured by `oscope run`, but by `{}`",
            header.command_line.join(" ")
        ));
    };
    if header.limited.as_ref().is_some_and(is_uncounted) {
        return Err(
            "it was killed before it stored how much it wrote, which its limits bound".into(),
        );
    }
    if then.remote.as_ref().is_some_and(|path| path.is_relative()) {
        return Err("its record does not say where the directory of `--remote` was".into());
    }
    then.dir.clone_from(&header.directory);
    then.restraint.gentle = false;
    then.restraint.limit = header.limited.as_ref().map(|limited| limited.limits);
    then.name = None;
    then.sessions = None;
    then.compare_with = None;
    Ok(*then)
}

/// True if the run has a limit on what it writes, but no record of how much it wrote.
fn is_uncounted(limited: &Limited) -> bool {
    limited.limits.written_bytes.is_some() && limited.used.is_none()
}

/// The first difference between the conditions then and now that would change the measurement.
fn changed(run: &Run) -> Option<String> {
    let header = &run.header;
    if Machine::read().fingerprint() != header.machine_fingerprint {
        return Some("it was measured on another machine".into());
    }
    if header.version != env!("CARGO_PKG_VERSION") {
        return Some(format!("oscope {} measured it", header.version));
    }
    let directory = header.directory.display();
    match fs::metadata(&header.directory) {
        Ok(found) if found.is_dir() => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Some(format!("its directory {directory} cannot be used: {error}"));
        }
        _ => return Some(format!("its directory {directory} is gone")),
    }
    let storage = Storage::behind(&header.directory).ok();
    let device = |storage: &Storage| (storage.mount_point.clone(), storage.file_system.clone());
    if run.storage.as_ref().map(device) != storage.as_ref().map(device) {
        return Some(format!("{directory} is on another file system now"));
    }
    let now = Environment::read();
    let then_s = header.started.as_millisecond() as f64 / 1e3;
    let now_s = record::now().as_millisecond() as f64 / 1e3;
    let then = (then_s, run.environment.uptime_seconds);
    if was_started_again(then, (now_s, now.uptime_seconds)) {
        return Some("the system has been started again since".into());
    }
    let changed = differences(&run.environment, &now);
    (!changed.is_empty()).then(|| format!("changed since: {}", changed.join(", ")))
}

/// The names of the conditions that differ, of those that change the measurement.
fn differences(then: &Environment, now: &Environment) -> Vec<&'static str> {
    let kernel = |of: &Environment| (of.kernel_release.clone(), of.kernel_version.clone());
    let frequency = |of: &Environment| (of.frequency.governor.clone(), of.frequency.turbo);
    let facts = [
        ("kernel", kernel(then) == kernel(now)),
        ("user's rights", then.is_root == now.is_root),
        ("clock source", then.clock_source == now.clock_source),
        ("governor or turbo", frequency(then) == frequency(now)),
        (
            "transparent huge pages",
            then.transparent_huge_pages == now.transparent_huge_pages,
        ),
        ("hyperthreads in use", then.smt_active == now.smt_active),
        ("limits of the control group", then.cgroup == now.cgroup),
    ];
    let changed = facts.into_iter().filter(|(_, is_same)| !is_same);
    changed.map(|(name, _)| name).collect()
}

/// True if the system was started between two times, each given with its uptime; all in seconds.
fn was_started_again(then: (f64, Option<f64>), now: (f64, Option<f64>)) -> bool {
    let start = |(at, uptime): (f64, Option<f64>)| Some(at - uptime?);
    let apart = start(then).zip(start(now)).map(|(then, now)| now - then);
    apart.is_some_and(|apart| apart.abs() > CLOCK_STEPS_S)
}

/// Checks that `plan` measures the experiment of `record` in the same way.
fn check_plan(record: &ExperimentRecord, plan: &Plan<'_>) -> Result<(), WrongUse> {
    let id = &record.definition.id;
    let planned = plan.experiments.iter().find(|it| it.definition.id == *id);
    let reason = match planned {
        None => "is no longer measured here".to_owned(),
        Some(planned) if planned.definition != record.definition => {
            "is measured in another way by this oscope".to_owned()
        }
        Some(planned) => match &planned.points {
            Err(reason) if record.skipped.is_none() => {
                format!("can no longer be measured here: {reason}")
            }
            _ => return Ok(()),
        },
    };
    refuse!("the run cannot be continued: {id} {reason}")
}

#[cfg(test)]
mod tests {
    use super::{command_line, differences, was_started_again};
    use platform::environment::Environment;

    #[test]
    fn another_kernel_is_a_difference_and_another_load_is_not() {
        let then = Environment {
            kernel_release: Some("6.1.0".into()),
            load_average: Some([0.1, 0.1, 0.1]),
            ..Environment::default()
        };
        let busy = Environment {
            load_average: Some([4.0, 2.0, 1.0]),
            ..then.clone()
        };
        assert_eq!(differences(&then, &busy), [""; 0]);
        let newer = Environment {
            kernel_release: Some("6.2.0".into()),
            is_root: Some(true),
            ..then.clone()
        };
        assert_eq!(differences(&then, &newer), ["kernel", "user's rights"]);
    }

    #[test]
    fn a_recorded_command_line_has_whole_paths() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let here = std::env::current_dir().expect("tests have one");
        let here = here.display();
        assert_eq!(
            command_line(&words(
                "oscope run --remote there --dir d --token-file=../t process=x"
            )),
            words(&format!(
                "oscope run --remote {here}/there --dir d --token-file={here}/../t process=x"
            ))
        );
        let whole = words("oscope run --remote /mnt/there");
        assert_eq!(command_line(&whole), whole);
    }

    #[test]
    fn a_start_of_the_system_shows_in_its_uptime() {
        let then = (1e6, Some(500.0));
        assert!(!was_started_again(then, (1e6 + 900.0, Some(1400.0))));
        assert!(was_started_again(then, (1e6 + 900.0, Some(300.0))));
        assert!(!was_started_again(then, (1e6 + 900.0, None)));
    }
}
