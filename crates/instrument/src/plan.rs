//! Plans: the points to measure, their target precision, and their time.

pub use crate::setting::{Precision, Profile, Setting};

use crate::estimate::{FEWEST_PASSES, FEWEST_PROCESSES};
use crate::experiment::{Definition, Experiment};
use crate::limits::Bound;
use crate::need::{self, Need};
use crate::point::Point;
use crate::quantity::Nanoseconds;
use std::collections::BTreeMap;

/// The files of all experiments together may take one part in this many of the free space.
const MOST_OF_THE_DISK: u64 = 2;

/// No visit takes less wall time: a process starts, and times its clock first.
const LEAST_VISIT_NS: f64 = 1e6;

/// A time that is reported as sufficient has this much to spare: visits vary.
pub(crate) const SPARE: f64 = 1.2;

/// The measurements of one run.
pub struct Plan<'a> {
    /// The experiments in the order of execution.
    pub experiments: Vec<Planned<'a>>,
    /// The precision that the profile asks for.
    pub precision: Precision,
    /// Seed for the random order of the points; the same seed gives the same order.
    pub seed: u64,
    /// True if the disk has room for the files of all experiments at once.
    pub keeps_files: bool,
    /// The most wall time for the points that come first.
    pub first_time: Nanoseconds,
}

/// One experiment of a plan.
pub struct Planned<'a> {
    /// The experiment.
    pub experiment: &'a dyn Experiment,
    /// Its description.
    pub definition: Definition,
    /// Its points, with those that the limits leave out at the end, or the reason why it cannot be
    /// measured here.
    pub points: Result<Vec<Point>, String>,
    /// Those of its points that are measured before all others ([`Plan::put_first`]).
    pub first: Vec<Point>,
    /// One reason for each point at the end of the list that the limits leave out.
    pub beyond: Vec<String>,
    /// True if the experiment is left out without a failure: the user did not name something that
    /// only a user can name, the limits exclude it, or its question does not arise here.
    pub is_left_out: bool,
    /// True if the question arises on this machine.
    pub arises: bool,
    /// Wall time for all its points together, in ns, rests included.
    pub budget_ns: u64,
    /// Disk space of its scratch files, in bytes.
    pub space_bytes: u64,
}

impl<'a> Plan<'a> {
    /// Lays out `experiments` for `setting`. A `budget` for the whole run is divided among the
    /// experiments by their numbers of points. Without a budget, each point adds its profile's time
    /// and the time of the rests that the limits require. An experiment whose question does not
    /// arise on the machine is dropped if the plan contains others.
    pub fn new(
        experiments: &[&'a dyn Experiment],
        setting: &Setting,
        budget: Option<Nanoseconds>,
        seed: u64,
    ) -> Self {
        let mut planned = lay_out(experiments, setting);
        let stretch = setting.limits.stretch();
        if let Some(budget) = budget.map(|budget| Nanoseconds(budget.0 / stretch)) {
            // The choice of points may depend on the time for each.
            let setting = Setting {
                time_scale: setting.time_scale * scale(&planned, budget),
                ..setting.clone()
            };
            planned = lay_out(experiments, &setting);
            let scale = scale(&planned, budget);
            for planned in &mut planned {
                planned.budget_ns = (planned.budget_ns as f64 * scale) as u64;
            }
        }
        for planned in &mut planned {
            planned.budget_ns = (planned.budget_ns as f64 * stretch) as u64;
        }
        let precision = setting.profile.precision();
        let space_bytes: u64 = planned.iter().map(|planned| planned.space_bytes).sum();
        Self {
            keeps_files: space_bytes <= setting.limited().free_bytes / MOST_OF_THE_DISK,
            experiments: planned,
            precision: Precision {
                batch_ns: setting.limits.batch_ns(precision.batch_ns),
                ..precision
            },
            seed,
            first_time: Nanoseconds(0.0),
        }
    }

    /// Puts the points of `chosen` first, also those that were not planned: the first passes visit only these. They
    /// take at most `time` in the quick profile, a multiple of it in a profile with longer batches, and a share of
    /// a short run.
    pub fn put_first(&mut self, chosen: &[impl Experiment], setting: &Setting, time: Nanoseconds) {
        const LARGEST_SHARE: f64 = 0.25;
        for chosen in chosen {
            let mut planned = self.experiments.iter_mut();
            if let Some(planned) = planned.find(|it| it.definition.id == chosen.id()) {
                planned.put_first(&Planned::new(chosen, setting));
            }
        }
        let quick = Profile::Quick.precision();
        let batches = self.precision.batch_ns as f64 / quick.batch_ns as f64;
        let time = time.0 * batches * setting.limits.stretch();
        self.first_time = Nanoseconds(time.min(LARGEST_SHARE * self.budget().0));
    }

    /// The number of passes over the points that come first: as few as an estimate needs.
    pub fn first_passes(&self) -> usize {
        let has_any = self.experiments.iter().any(|it| !it.first.is_empty());
        if has_any { FEWEST_PASSES } else { 0 }
    }

    /// The most passes of the run.
    pub fn passes(&self) -> usize {
        self.first_passes() + self.precision.passes
    }

    /// Upper bound of the run's wall time. A batch in progress when its time ends may exceed it.
    pub fn budget(&self) -> Nanoseconds {
        Nanoseconds(
            self.experiments
                .iter()
                .map(|planned| planned.budget().0)
                .sum(),
        )
    }

    /// Number of points in all experiments.
    pub fn point_count(&self) -> usize {
        self.experiments.iter().map(Planned::point_count).sum()
    }

    /// The least wall time of a run with an estimate of one point, and that of a run with an estimate
    /// of each, which is known only if `costs` knows every point.
    pub fn least_times(&self, costs: &VisitCosts) -> (Nanoseconds, Option<Nanoseconds>) {
        let known = self.experiments.iter().flat_map(|planned| {
            let points = planned.points.iter().flatten().take(planned.point_count());
            points.map(|point| costs.visit_ns(&planned.definition.id, point))
        });
        let known: Vec<Option<f64>> = known.collect();
        let visits = FEWEST_PROCESSES as f64;
        let least_ns = known
            .iter()
            .map(|known_ns| known_ns.unwrap_or(LEAST_VISIT_NS));
        let least_ns = least_ns.fold(f64::INFINITY, f64::min);
        let all_ns: Option<f64> = known.into_iter().sum();
        (
            Nanoseconds(visits * least_ns),
            all_ns.map(|all_ns| Nanoseconds(SPARE * visits * all_ns)),
        )
    }
}

/// The experiments whose questions arise here; all experiments if none does.
fn lay_out<'a>(experiments: &[&'a dyn Experiment], setting: &Setting) -> Vec<Planned<'a>> {
    let mut planned: Vec<_> = experiments
        .iter()
        .map(|experiment| Planned::new(*experiment, setting))
        .collect();
    if planned.iter().any(|planned| planned.arises) {
        planned.retain(|planned| planned.arises);
    }
    planned
}

/// `budget` divided by the sum of the budgets of `planned`.
fn scale(planned: &[Planned<'_>], budget: Nanoseconds) -> f64 {
    let usual_ns: u64 = planned.iter().map(|planned| planned.budget_ns).sum();
    budget.0 / usual_ns.max(1) as f64
}

impl<'a> Planned<'a> {
    fn new(experiment: &'a dyn Experiment, setting: &Setting) -> Self {
        let needs = needs(experiment, setting);
        let is_unnamed = needs.iter().any(|need| need.is_left_out(setting));
        let limited = setting.limited();
        let mut points = measurable(experiment, &limited);
        let mut beyond = Vec::new();
        let mut is_beyond = false;
        if !setting.limits.is_none()
            && let Ok(wanted) = measurable(experiment, setting)
        {
            match &mut points {
                Ok(points) => beyond = leave_out(experiment, setting, wanted, points),
                Err(missing) => {
                    *missing = why_beyond(experiment, setting, None, missing);
                    is_beyond = true;
                }
            }
        }
        let count = points.as_ref().map_or(0, Vec::len) - beyond.len();
        let measured = points.iter().flatten().take(count);
        let least_ns: u64 = measured.map(|point| experiment.least_ns(point)).sum();
        let long_ns = SPARE * FEWEST_PROCESSES as f64 * least_ns as f64;
        Self {
            experiment,
            definition: experiment.definition(),
            points,
            first: Vec::new(),
            beyond,
            is_left_out: is_unnamed || is_beyond,
            arises: !needs.iter().any(Need::is_moot),
            budget_ns: count as u64 * setting.point_budget_ns() + long_ns as u64,
            space_bytes: need::space_bytes(&experiment.needs(&limited)),
        }
    }

    fn put_first(&mut self, chosen: &Planned<'_>) {
        let before_beyond = self.point_count();
        let Ok(points) = &mut self.points else { return };
        let chosen = chosen.points.iter().flatten().take(chosen.point_count());
        self.first = chosen.cloned().collect();
        let new = self.first.iter().filter(|it| !points.contains(it));
        let new: Vec<Point> = new.cloned().collect();
        points.splice(before_beyond..before_beyond, new);
    }

    /// Wall time for all its points together.
    pub fn budget(&self) -> Nanoseconds {
        Nanoseconds(self.budget_ns as f64)
    }

    /// Number of points to measure.
    pub fn point_count(&self) -> usize {
        self.points.as_ref().map_or(0, Vec::len) - self.beyond.len()
    }
}

/// All that `experiment` needs in `setting`: first what only the user can name.
fn needs(experiment: &dyn Experiment, setting: &Setting) -> Vec<Need> {
    let taken = experiment.takes().iter().copied().map(Need::Given);
    taken.chain(experiment.needs(setting)).collect()
}

/// The points of `experiment` in `setting`, or the reason why there are none.
fn measurable(experiment: &dyn Experiment, setting: &Setting) -> Result<Vec<Point>, String> {
    match need::missing(&needs(experiment, setting), setting) {
        Some(missing) => Err(missing),
        None => match experiment.points(setting) {
            points if points.is_empty() => Err("none of its points fits this machine".into()),
            points => Ok(points),
        },
    }
}

/// Appends to `points` those of `wanted` that the limits of `setting` leave out, and returns their
/// reasons. An experiment that offers different points under the limits, for example with smaller
/// files, leaves out nothing.
fn leave_out(
    experiment: &dyn Experiment,
    setting: &Setting,
    wanted: Vec<Point>,
    points: &mut Vec<Point>,
) -> Vec<String> {
    let (kept, lost): (Vec<_>, Vec<_>) =
        wanted.into_iter().partition(|point| points.contains(point));
    if kept.is_empty() {
        return Vec::new();
    }
    let reason = |point| why_beyond(experiment, setting, Some(point), "");
    let reasons = lost.iter().map(reason).collect();
    points.extend(lost);
    reasons
}

/// Names the limit of `setting` that leaves out `point`, or the whole `experiment` if `point` is
/// `None`. If no single limit does, the limits together do, because of `missing`.
fn why_beyond(
    experiment: &dyn Experiment,
    setting: &Setting,
    point: Option<&Point>,
    missing: &str,
) -> String {
    let by_one = Bound::PLANNED.into_iter().find_map(|bound| {
        let reason = bound.reason(&setting.limits)?;
        match measurable(experiment, &setting.within(bound)) {
            Ok(points) => point
                .is_some_and(|point| !points.contains(point))
                .then_some(reason),
            Err(missing) => Some(format!("{reason}: {missing}")),
        }
    });
    by_one.unwrap_or_else(|| match missing {
        "" => "beyond the limits".into(),
        missing => format!("beyond the limits: {missing}"),
    })
}

/// The wall time of visits, by experiment and point.
#[derive(Clone, Debug, Default)]
pub struct VisitCosts(BTreeMap<(String, Point), f64>);

impl VisitCosts {
    /// Adds the mean wall time of the visits to one point of the experiment `id`, in ns.
    pub fn add(&mut self, id: &str, point: Point, visit_ns: f64) {
        self.0.insert((id.to_owned(), point), visit_ns);
    }

    /// The mean wall time of a visit, in ns; `None` if no earlier run has visited the point.
    pub fn visit_ns(&self, id: &str, point: &Point) -> Option<f64> {
        self.0.get(&(id.to_owned(), point.clone())).copied()
    }
}
