//! Settings of the system that administrators can change: facts of a run, and those among them that
//! a stored trial on the same machine showed to gain.

use super::stored;
use crate::lists::joined;
use crate::show;
use advice::SystemSetting;
use experiments::trial::KERNEL_SETTINGS;
use instrument::definition::{Better, Metric};
use instrument::point::{Level, Point};
use instrument::quantity::{Known, Quantity, Unit};
use instrument::results::PointResult;
use platform::environment::{Environment, System};
use record::Run;
use record::store::HistoryRun;
use std::collections::BTreeSet;

/// The axis of a comparison whose levels are the values of what varies.
const VARIANT: &str = "variant";
/// A smaller gain is none that anyone would act on.
const MARGIN: f64 = 1.02;

/// A setting of the system as a run found it.
struct Fact {
    name: &'static str,
    title: &'static str,
    now: String,
    /// The file that sets it; `*` means any text. `None` if no file does.
    path: Option<String>,
    /// The reason why it is a fact only, or the way to try it.
    untried: String,
}

/// The settings of the system that `run` found. Advised is what gained for sure in one of the
/// `trials` and lost in none.
pub fn system(run: &Run, trials: &[HistoryRun]) -> Vec<SystemSetting> {
    let facts = facts(run).into_iter();
    facts.map(|fact| fact.judged(trials)).collect()
}

/// The experiments whose trials say something about a setting of the system.
pub fn trial_experiments() -> Vec<String> {
    let ids = experiments::all().map(|experiment| format!("ab.{}", experiment.id()));
    ids.collect()
}

fn facts(run: &Run) -> Vec<Fact> {
    let (environment, storage) = (&run.environment, run.storage.as_ref());
    let device = storage.and_then(|storage| storage.block_device.as_deref());
    let is_windows = environment.system() == Some(System::Windows);
    let kernel = |name: &'static str, title, now: Option<String>| {
        if is_windows {
            return None;
        }
        let setting = KERNEL_SETTINGS
            .iter()
            .find(|setting| setting.name == name)?;
        Some(Fact {
            name,
            title,
            now: now?,
            untried: match setting.path_on(device) {
                Some(_) => format!(
                    "Not tried on this machine: `oscope advise --try {name}` measures it, as root."
                ),
                None => {
                    "A fact: no block device is behind the directory, so it cannot be tried.".into()
                }
            },
            path: setting.path_on(device),
        })
    };
    let fixed = |name, title, now: Option<String>, untried: &str| {
        Some(Fact {
            name,
            title,
            now: now?,
            path: None,
            untried: untried.into(),
        })
    };
    let read_ahead = storage.and_then(|storage| storage.read_ahead_bytes);
    let mount = storage.map(|storage| match storage.mount_options.join(",") {
        options if options.is_empty() => storage.file_system.clone(),
        options => format!("{} with {options}", storage.file_system),
    });
    let all = [
        kernel(
            "transparent_huge_pages",
            "transparent huge pages",
            environment.transparent_huge_pages.clone(),
        ),
        kernel(
            "read_ahead",
            "read-ahead of the device, in KiB",
            read_ahead.map(|bytes| (bytes >> 10).to_string()),
        ),
        kernel(
            "scheduler",
            "I/O scheduler of the device",
            storage.and_then(|storage| storage.scheduler.clone()),
        ),
        kernel(
            "governor",
            "governor of the processors' clock",
            environment.frequency.governor.clone(),
        ),
        swappiness(environment),
        fixed(
            "power_plan",
            "power plan",
            is_windows
                .then(|| environment.frequency.governor.clone())
                .flatten(),
            "A fact: `powercfg /list` shows the plans, `powercfg /setactive GUID` selects one. Measure before \
             and after, and let `oscope compare` say what it gains.",
        ),
        fixed(
            "mount_options",
            "mount of the directory",
            mount,
            "A fact: oscope remounts nothing. `oscope ab WHAT --vary dir=A,B` compares two mounts.",
        ),
        fixed(
            "mitigations",
            "mitigations of the processor's vulnerabilities",
            mitigations(run),
            if is_windows {
                "A fact: only the registry changes them. Measure before and after the restart, and let \
                 `oscope compare` say what they cost."
            } else {
                "A fact: only the command line of the kernel changes them. Measure before and after \
                 the restart, and let `oscope compare` say what they cost."
            },
        ),
    ];
    all.into_iter().flatten().collect()
}

/// No experiment has files and programs compete for memory, so none tries it by itself.
fn swappiness(environment: &Environment) -> Option<Fact> {
    let path = "/proc/sys/vm/swappiness";
    let now = environment.swappiness?;
    let other = if now == 10 { 60 } else { 10 };
    Some(Fact {
        name: "swappiness",
        title: "swappiness",
        untried: format!(
            "It counts only where memory is short. `oscope ab EXPERIMENT --vary sysfs:{path}={now},{other}` \
             tries it, as root."
        ),
        now: now.to_string(),
        path: Some(path.into()),
    })
}

/// The mitigations in use; `None` if the kernel reports no vulnerabilities.
fn mitigations(run: &Run) -> Option<String> {
    let known = &run.environment.mitigations;
    let in_use = known
        .iter()
        .filter(|(_, state)| state.starts_with("Mitigation"));
    let names: Vec<&str> = in_use.map(|(name, _)| name.as_str()).collect();
    match names.as_slice() {
        _ if known.is_empty() => None,
        [] => Some("none in use".into()),
        names => Some(names.join(", ")),
    }
}

impl Fact {
    fn judged(self, trials: &[HistoryRun]) -> SystemSetting {
        let outcomes = self.outcomes(trials);
        let best = best(&outcomes);
        let command = |value: &str| {
            let path = self.path.as_ref()?;
            Some(format!("echo {value} | sudo tee {path}"))
        };
        SystemSetting {
            name: self.name.into(),
            title: self.title.into(),
            value: best.map(|best| best.value.clone()),
            gain: best.map(|best| stored(best.gain.value, best.gain.interval)),
            because: match best {
                Some(best) => best.sentence(&self.now),
                None => self.without_gain(&outcomes, trials),
            },
            set: best.and_then(|best| command(&best.value)),
            undo: best.and_then(|_| command(&self.now)),
            now: self.now,
        }
    }

    /// The newest outcomes of each experiment for this setting, against its value now.
    fn outcomes(&self, trials: &[HistoryRun]) -> Vec<Outcome> {
        let mut seen = BTreeSet::new();
        let mut newest: Vec<&HistoryRun> = trials.iter().filter(|it| self.is_tried(it)).collect();
        newest.sort_by_key(|trial| std::cmp::Reverse(trial.number));
        let outcomes = newest.into_iter().flat_map(|trial| {
            let found = outcomes(trial, &self.now);
            let is_first = found.is_empty() || seen.insert(trial.definition.id.clone());
            if is_first { found } else { Vec::new() }
        });
        outcomes.collect()
    }

    /// True if the trial varied this setting.
    fn is_tried(&self, trial: &HistoryRun) -> bool {
        let varied = trial.definition.axis(VARIANT);
        let varied = varied.and_then(|axis| axis.title.strip_prefix("sysfs:"));
        let is_like = |path: &str| match path.split_once('*') {
            Some((before, after)) => {
                varied.is_some_and(|it| it.starts_with(before) && it.ends_with(after))
            }
            None => varied == Some(path),
        };
        self.path.as_deref().is_some_and(is_like)
    }

    /// The reason why no other value is advised.
    fn without_gain(&self, outcomes: &[Outcome], trials: &[HistoryRun]) -> String {
        let Some(last) = outcomes.iter().max_by_key(|outcome| outcome.run) else {
            let tried = trials.iter().filter(|trial| {
                let is_now = |point: &Point| variant(point).as_ref() == Some(&self.now);
                self.is_tried(trial) && trial.points.iter().any(|(point, _)| is_now(point))
            });
            return match tried.map(|trial| trial.number).max() {
                Some(run) => {
                    format!("Run {run} tried it, and did not show which value is faster.")
                }
                None => self.untried.clone(),
            };
        };
        let slower = outcomes.iter().find(|outcome| outcome.loses());
        let shown = slower.unwrap_or(last).sentence(&self.now);
        format!("Nothing better is known. {shown}")
    }
}

/// The outcome that gains most of a value that gains somewhere and loses nowhere.
fn best(outcomes: &[Outcome]) -> Option<&Outcome> {
    let loses = |value: &str| {
        let mut of_value = outcomes.iter().filter(|outcome| outcome.value == value);
        of_value.any(Outcome::loses)
    };
    let gaining = outcomes
        .iter()
        .filter(|outcome| outcome.least() > MARGIN && !loses(&outcome.value));
    gaining.max_by(|one, other| one.least().total_cmp(&other.least()))
}

/// The speed with another value of a setting over that with its value now, at one point.
struct Outcome {
    run: u64,
    experiment: String,
    /// The point without the setting.
    place: String,
    value: String,
    gain: Quantity,
}

impl Outcome {
    /// The least gain that the interval allows.
    fn least(&self) -> f64 {
        self.gain.interval.map_or(0.0, |interval| interval.low)
    }

    fn loses(&self) -> bool {
        self.gain
            .interval
            .is_some_and(|interval| interval.high < 1.0 / MARGIN)
    }

    fn sentence(&self, now: &str) -> String {
        let Self {
            run,
            experiment,
            place,
            value,
            gain,
        } = self;
        let place = joined(", ", [experiment.as_str(), place.as_str()]);
        let gain = show::quantity(gain);
        format!("Run {run} tried it: {place} is {gain} as fast with {value} as with {now}.")
    }
}

/// The outcomes of a trial; none if it did not measure the value `now`.
fn outcomes(trial: &HistoryRun, now: &str) -> Vec<Outcome> {
    let definition = &*trial.definition;
    let has_direction = |metric: &&Metric| metric.better != Better::Neither;
    let Some(metric) = definition.metrics.iter().find(has_direction) else {
        return Vec::new();
    };
    let points = trial.points.iter();
    let points: Vec<PointResult> = points
        .map(|(point, batches)| PointResult::new(definition, point, batches, None))
        .collect();
    let mut found = Vec::new();
    for usual in points
        .iter()
        .filter(|it| variant(&it.point).as_deref() == Some(now))
    {
        let shared = without_variant(&usual.point);
        let others = points
            .iter()
            .filter(|it| without_variant(&it.point) == shared && it.point != usual.point);
        found.extend(others.filter_map(|other| {
            Some(Outcome {
                run: trial.number,
                experiment: trial.definition.id.trim_start_matches("ab.").into(),
                place: show::point(definition, &shared),
                value: variant(&other.point)?,
                gain: gain(metric, usual, other)?,
            })
        }));
    }
    found
}

/// Speed at `other` over that at `usual`.
fn gain(metric: &Metric, usual: &PointResult, other: &PointResult) -> Option<Quantity> {
    let [usual, other] =
        [usual, other].map(|of| of.estimate(&metric.name).filter(|it| it.is_sound()));
    let (usual, other) = (usual?, other?);
    let ratio = match metric.better {
        Better::Lower => usual.ratio_to(other)?,
        _ => other.ratio_to(usual)?,
    };
    let ratio = Quantity::estimated(&ratio, Unit::Ratio);
    (ratio.known() != Known::Nothing).then_some(ratio)
}

/// The value that the setting had at `point`.
fn variant(point: &Point) -> Option<String> {
    point.get(VARIANT).map(Level::to_string)
}

fn without_variant(point: &Point) -> Point {
    point.only(|axis| axis != VARIANT)
}
