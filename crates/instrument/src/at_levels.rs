//! An experiment at levels that the user chose, on the grid of its plan or off it.

use crate::definition::Design;
use crate::error::MeasureError;
use crate::experiment::{Confinement, Experiment};
use crate::figure::Figure;
use crate::finding::Finding;
use crate::given::Taken;
use crate::need::Need;
use crate::point::{Axis, DesignAxis, Level, Point};
use crate::quantity::Bytes;
use crate::results::Results;
use crate::sampler::Sampler;
use crate::setting::{Profile, Setting};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use thiserror::Error;

/// An experiment that is measured at chosen levels only.
///
/// An axis without a choice keeps its planned levels. A number that is not planned takes the place of
/// the next larger planned one, so that the other levels go with it, such as a file that holds the block;
/// beyond the largest, of that.
pub struct AtLevels<'a> {
    experiment: &'a dyn Experiment,
    levels: BTreeMap<String, Vec<Level>>,
}

/// The reason why an experiment cannot be measured at a level.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LevelError(String);

impl<'a> AtLevels<'a> {
    /// `experiment` at these levels of its axes; several levels of one axis are all measured.
    ///
    /// # Errors
    /// [`LevelError`] for an axis that it does not have, and a level that the axis does not take.
    pub fn new(
        experiment: &'a dyn Experiment,
        chosen: &[(String, Level)],
        setting: &Setting,
    ) -> Result<Self, LevelError> {
        let design = experiment.design();
        for (name, level) in chosen {
            if !design.axes.iter().any(|axis| axis.name == name) {
                let known: Vec<&str> = design.axes.iter().map(|axis| axis.name).collect();
                let known = known.join(", ");
                return Err(LevelError(format!(
                    "there is no axis '{name}'; the axes are {known}"
                )));
            }
            check(experiment, name, level, setting)?;
        }
        Ok(Self {
            experiment,
            levels: by_axis(chosen),
        })
    }

    /// `experiment` at those of these levels that its axes take here. An axis that takes none of them keeps its
    /// planned levels, such as pages of 16 KiB where pages of 4 KiB are chosen.
    pub fn as_far_as_taken(
        experiment: &'a dyn Experiment,
        chosen: &[(String, Level)],
        setting: &Setting,
    ) -> Self {
        let taken = chosen
            .iter()
            .filter(|(name, level)| check(experiment, name, level, setting).is_ok());
        Self {
            experiment,
            levels: by_axis(taken),
        }
    }

    /// The points of a longer profile that have chosen levels, and a name that no point of this profile
    /// has with them: each name with its axis, as readers see it.
    pub fn left_out(&self, setting: &Setting) -> Vec<String> {
        if self.levels.is_empty() {
            return Vec::new();
        }
        let found = self.points(setting);
        let mut names: Vec<String> = Vec::new();
        for profile in longer(setting.profile) {
            for point in self.planned_at(profile, setting) {
                for axis in self.design().axes {
                    let is_chosen = self.levels.contains_key(axis.name);
                    let Some(level @ Level::Choice(name)) = point.get(axis.name) else {
                        continue;
                    };
                    let has_it = |other: &Point| {
                        other.get(axis.name) == Some(level) && self.is_alike(other, &point)
                    };
                    let shown = format!("{} {name}", axis.title);
                    if !is_chosen && !found.iter().any(has_it) && !names.contains(&shown) {
                        names.push(shown);
                    }
                }
            }
        }
        names
    }

    /// The points that this profile plans, changed to the chosen levels.
    fn planned_at(&self, profile: Profile, setting: &Setting) -> Vec<Point> {
        let setting = Setting {
            profile,
            ..setting.clone()
        };
        chosen(self.experiment.points(&setting), &self.levels)
    }

    /// True if both points have the same levels on the chosen axes.
    fn is_alike(&self, one: &Point, other: &Point) -> bool {
        let mut axes = self.levels.keys();
        axes.all(|axis| one.get(axis) == other.get(axis))
    }
}

/// The different levels of each axis, in their order.
fn by_axis<'l>(
    chosen: impl IntoIterator<Item = &'l (String, Level)>,
) -> BTreeMap<String, Vec<Level>> {
    let mut levels: BTreeMap<String, Vec<Level>> = BTreeMap::new();
    for (name, level) in chosen {
        let of_axis = levels.entry(name.clone()).or_default();
        if !of_axis.contains(level) {
            of_axis.push(level.clone());
        }
    }
    levels
}

/// This profile and the longer ones.
fn longer(than: Profile) -> impl Iterator<Item = Profile> {
    let all = Profile::ALL.into_iter();
    all.skip_while(move |profile| *profile != than)
}

/// The levels of an axis that any profile plans.
fn planned(experiment: &dyn Experiment, axis: &str, setting: &Setting) -> Vec<Level> {
    let of_profile = |profile: Profile| {
        let setting = Setting {
            profile,
            ..setting.clone()
        };
        experiment.points(&setting)
    };
    let points = Profile::ALL.into_iter().flat_map(of_profile);
    let mut levels: Vec<Level> = points
        .filter_map(|point| point.get(axis).cloned())
        .collect();
    levels.sort();
    levels.dedup();
    levels
}

/// The levels that an axis of the experiment takes, as readers see them; empty if nothing is planned there.
pub fn takes(experiment: &dyn Experiment, axis: &str, setting: &Setting) -> String {
    let planned = planned(experiment, axis, setting);
    let show = |level: &Level| shown(experiment, axis, level);
    let mut shown: Vec<String> = (planned.iter())
        .filter(|level| level.number().is_none())
        .map(show)
        .collect();
    if let Some(open) = beyond(experiment, axis, &planned) {
        shown.extend(open.names.iter().map(|name| (*name).to_owned()));
        if open.takes_libraries {
            shown.push("a library to preload, by its path or its name".into());
        }
        let [step, least, most] =
            [open.step, open.least, open.most].map(|number| show(&Level::Number(number)));
        match open.least.cmp(&open.most) {
            Ordering::Less => shown.push(format!("multiples of {step} from {least} to {most}")),
            Ordering::Equal => shown.push(least),
            Ordering::Greater => {}
        }
    }
    // Some names contain commas.
    shown.join("; ")
}

/// The level of an axis as readers see it.
fn shown(experiment: &dyn Experiment, axis: &str, level: &Level) -> String {
    let of_axis = experiment.design().axes.iter().find(|it| it.name == axis);
    of_axis.map_or(level.to_string(), |axis| Axis::from(axis).show(level))
}

/// The levels that an axis takes whether they are planned or not: those that the experiment declares, else all numbers
/// between the planned ones that are multiples of the same step.
fn beyond(experiment: &dyn Experiment, axis: &str, planned: &[Level]) -> Option<DesignAxis> {
    let known = experiment.design().axes.iter().find(|it| it.name == axis)?;
    if known.is_open() {
        return Some(*known);
    }
    let numbers = || planned.iter().filter_map(Level::number);
    let step = if known.is_refined {
        known.step
    } else {
        numbers().fold(0, common_divisor).max(1)
    };
    Some(DesignAxis {
        least: numbers().min()?,
        most: numbers().max()?,
        step,
        ..*known
    })
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        common_divisor(other, one % other)
    }
}

fn check(
    experiment: &dyn Experiment,
    axis: &str,
    level: &Level,
    setting: &Setting,
) -> Result<(), LevelError> {
    let planned = planned(experiment, axis, setting);
    let open = beyond(experiment, axis, &planned);
    if planned.contains(level) || open.is_some_and(|open| open.takes(level)) {
        return Ok(());
    }
    let needs = experiment.level_needs(setting);
    let mut of_level = needs.iter().filter(|(at, _)| at.get(axis) == Some(level));
    let missing = of_level.find_map(|(_, need)| need.missing(setting));
    let (id, level) = (experiment.id(), shown(experiment, axis, level));
    Err(LevelError(if let Some(missing) = missing {
        format!("{id} cannot be measured at {axis}={level} here: {missing}")
    } else {
        let takes = takes(experiment, axis, setting);
        format!("{id} takes no level '{level}' of '{axis}': it takes {takes}")
    }))
}

/// `points` at each combination of these levels.
fn chosen(mut points: Vec<Point>, levels: &BTreeMap<String, Vec<Level>>) -> Vec<Point> {
    // Named choices first, so that the next number is that of the points that remain.
    let (named, numbers): (Vec<_>, Vec<_>) = levels
        .iter()
        .partition(|(_, levels)| levels.iter().all(|level| level.number().is_none()));
    let mut earlier: Vec<&str> = Vec::new();
    for (axis, levels) in named.into_iter().chain(numbers) {
        points = if points.iter().all(|point| point.get(axis).is_none()) {
            with(&points, axis, levels)
        } else {
            let mut groups: BTreeMap<Vec<Option<Level>>, Vec<Point>> = BTreeMap::new();
            for point in points {
                let group = earlier.iter().map(|axis| point.get(axis).cloned());
                groups.entry(group.collect()).or_default().push(point);
            }
            let groups = groups.values();
            groups.flat_map(|points| at(points, axis, levels)).collect()
        };
        if levels.iter().all(|level| level.number().is_some()) {
            earlier.push(axis);
        }
    }
    points
}

/// `points` with these levels on `axis`. For each that is not planned, those points change whose level is
/// the next larger one, or else the largest, among the points with the same named choices.
fn at(points: &[Point], axis: &str, levels: &[Level]) -> Vec<Point> {
    let number_of = |point: &Point| point.get(axis).and_then(Level::number);
    let has_choices_of = |point: &Point, other: &Point| {
        let [choices, others] = [point, other].map(|it| {
            it.levels()
                .filter(|(name, level)| *name != axis && level.number().is_none())
        });
        choices.eq(others)
    };
    let mut found: Vec<Point> = Vec::new();
    for wanted in levels {
        let planned = points
            .iter()
            .filter(|point| point.get(axis) == Some(wanted));
        let found_before = found.len();
        found.extend(planned.cloned());
        let Some(number) = wanted.number().filter(|_| found.len() == found_before) else {
            continue;
        };
        for point in points {
            let group = points.iter().filter(|other| has_choices_of(point, other));
            let numbers: Vec<u64> = group.filter_map(number_of).collect();
            let larger = numbers.iter().filter(|planned| **planned > number).min();
            let next = larger.or_else(|| numbers.iter().max());
            let changed = point.clone().with(axis, wanted.clone());
            if next.is_some() && next == number_of(point).as_ref() && !found.contains(&changed) {
                found.push(changed);
            }
        }
    }
    found
}

/// Each point at each of these levels of an axis that it has no level on.
fn with(points: &[Point], axis: &str, levels: &[Level]) -> Vec<Point> {
    let at = |level: &Level| {
        let changed = |point: &Point| point.clone().with(axis, level.clone());
        points.iter().map(changed).collect::<Vec<_>>()
    };
    levels.iter().flat_map(at).collect()
}

impl Experiment for AtLevels<'_> {
    fn design(&self) -> &'static Design {
        self.experiment.design()
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let mut needs = self.experiment.needs(setting);
        // Files of a chosen size may be larger than all that the profile plans.
        let sizes = self.levels.get("file_size").into_iter().flatten();
        let space: u64 = sizes.filter_map(Level::number).sum();
        if space > 0 {
            needs.push(Need::Space(Bytes(space)));
        }
        needs
    }

    fn takes(&self) -> &'static [Taken] {
        self.experiment.takes()
    }

    fn may_be_refined(&self) -> bool {
        self.levels.is_empty()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        if self.levels.is_empty() {
            return self.experiment.points(setting);
        }
        // Chosen levels that only a longer profile plans together bring that profile's points.
        let mut found: Vec<Point> = Vec::new();
        for profile in longer(setting.profile) {
            let mut points = self.planned_at(profile, setting);
            points.retain(|point| !found.iter().any(|other| self.is_alike(other, point)));
            found.extend(points);
        }
        found
    }

    fn confinement(&self, point: &Point) -> Option<Confinement> {
        self.experiment.confinement(point)
    }

    fn least_ns(&self, point: &Point) -> u64 {
        self.experiment.least_ns(point)
    }

    fn shares_process(&self, point: &Point) -> bool {
        self.experiment.shares_process(point)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.experiment.measure(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        self.experiment.findings(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        self.experiment.figures(results)
    }
}

#[cfg(test)]
mod tests {
    use super::{at, chosen, with};
    use crate::point::{Level, Point};

    fn grid() -> Vec<Point> {
        let point = |lock: &str, threads: u64, file: u64| {
            Point::new()
                .with("lock", lock)
                .with("threads", threads)
                .with("file", file)
        };
        vec![
            point("spin", 1, 100),
            point("spin", 10, 200),
            point("block", 1, 100),
            point("block", 99, 300),
        ]
    }

    fn texts(points: &[Point]) -> Vec<String> {
        points.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_number_takes_the_place_of_the_next_larger_with_all_that_goes_with_it() {
        let found = at(&grid(), "threads", &[Level::Number(30)]);
        let expected = [
            Point::new()
                .with("lock", "spin")
                .with("threads", 30)
                .with("file", 200),
            Point::new()
                .with("lock", "block")
                .with("threads", 30)
                .with("file", 300),
        ];
        assert_eq!(texts(&found), texts(&expected));
    }

    #[test]
    fn each_combination_of_chosen_numbers_is_measured() {
        let levels = [
            ("threads", vec![1.into(), 10.into()]),
            ("file", vec![200.into(), 500.into()]),
        ];
        let levels = levels.map(|(axis, levels)| (axis.to_owned(), levels));
        let found = chosen(grid()[..2].to_vec(), &levels.into());
        let found: Vec<_> = (found.iter())
            .map(|point| [point.get("file"), point.get("threads")].map(|it| it?.number()))
            .collect();
        let expected = [[200, 1], [200, 10], [500, 1], [500, 10]];
        assert_eq!(found, expected.map(|it| it.map(Some)));
    }

    #[test]
    fn a_level_of_an_axis_that_no_point_has_is_added_to_all() {
        let found = with(
            &grid()[..1],
            "slice",
            &[Level::Number(50), Level::Number(16_000)],
        );
        let expected = [50, 16_000].map(|slice| grid()[0].clone().with("slice", slice));
        assert_eq!(texts(&found), texts(&expected));
    }

    #[test]
    fn a_planned_level_is_chosen_as_it_is_and_a_name_selects() {
        let found = at(&grid(), "threads", &[Level::Number(1)]);
        assert!(found.len() == 2 && found.iter().all(|point| grid().contains(point)));
        let found = at(&grid(), "lock", &["spin".into()]);
        assert_eq!(texts(&found), texts(&grid()[..2]));
        let both = at(&found, "threads", &[Level::Number(1), Level::Number(3)]);
        // 1 is planned, and 3 takes the place of 10.
        let files: Vec<_> = both
            .iter()
            .map(|point| point.get("file").cloned())
            .collect();
        assert_eq!(files, [Some(Level::Number(100)), Some(Level::Number(200))]);
    }
}
