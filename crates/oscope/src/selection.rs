//! Selection of experiments by name.

use crate::arguments::{Run, parse_level};
use crate::exit::WrongUse;
use instrument::at_levels::{AtLevels, LevelError};
use instrument::experiment::Experiment;
use instrument::plan::Setting;
use instrument::point::Level;
use instrument::quantity::Nanoseconds;

type Experiments = Vec<&'static dyn Experiment>;

/// The experiments that `what` names by id or group, in running order; all if it names none.
///
/// # Errors
/// [`WrongUse`] for an unknown name, with the nearest known name.
pub fn experiments(what: &[String]) -> Result<Experiments, WrongUse> {
    for name in what {
        if !experiments::all().any(|experiment| is_meant(experiment.id(), name)) {
            return Err(unknown(name));
        }
    }
    let is_chosen =
        |experiment: &&dyn Experiment| what.is_empty() || is_among(experiment.id(), what);
    Ok(experiments::all().filter(is_chosen).collect())
}

/// Experiments, and the levels at which all of them are measured.
pub struct Selection {
    /// The experiments.
    pub experiments: Experiments,
    /// The levels; an axis without any has those of its plan.
    pub levels: Vec<(String, Level)>,
}

/// What the command line of a run selects.
///
/// # Errors
/// As of [`experiments()`].
pub fn of(run: &Run) -> Result<Selection, WrongUse> {
    Ok(Selection {
        experiments: experiments(&run.what)?,
        levels: run.levels(),
    })
}

/// The time for all values of a glance: with the start and the end of the program less than 20 s.
pub const TIME_OF_GLANCE: Nanoseconds = Nanoseconds(18e9);

/// What a glance measures: experiments, each at those of its levels that this machine has.
///
/// # Errors
/// [`WrongUse`] for a name that is unknown; a test shows that there is none.
pub fn of_glance(setting: &Setting) -> Result<Vec<AtLevels<'static>>, WrongUse> {
    let mut chosen = Vec::new();
    for part in report::parts_of_glance() {
        let levels = part.at.iter().map(|level| parse_level(level));
        let levels: Vec<_> = levels.collect::<Result<_, _>>().map_err(WrongUse)?;
        let experiments = experiments(std::slice::from_ref(&part.experiment))?;
        let at = |experiment| AtLevels::as_far_as_taken(experiment, &levels, setting);
        chosen.extend(experiments.into_iter().map(at));
    }
    Ok(chosen)
}

/// The experiments that have all axes of `levels`, each at these levels only; without levels all, as they
/// are.
///
/// # Errors
/// [`WrongUse`] for an axis that no experiment has, and for a level that its axis does not take.
pub fn at<'a>(
    experiments: &[&'a dyn Experiment],
    levels: &[(String, Level)],
    setting: &Setting,
) -> Result<Vec<AtLevels<'a>>, WrongUse> {
    let has_all = |experiment: &&&dyn Experiment| {
        let axes = &experiment.design().axes;
        let is_there = |axis: &str| axes.iter().any(|known| known.name == axis);
        levels.iter().all(|(axis, _)| is_there(axis))
    };
    let fitting: Vec<&dyn Experiment> = experiments.iter().filter(has_all).copied().collect();
    // If none fits, name what is missing in the first.
    let asked = if fitting.is_empty() {
        experiments
    } else {
        &fitting
    };
    let chosen = asked
        .iter()
        .map(|experiment| AtLevels::new(*experiment, levels, setting));
    let chosen: Result<_, LevelError> = chosen.collect();
    chosen.map_err(|error| WrongUse(error.to_string()))
}

/// True if `name` is the id or the group of the experiment `id`.
pub fn is_meant(id: &str, name: &str) -> bool {
    id == name || group(id) == name
}

/// True if one of `names` is the id or the group of the experiment `id`.
pub fn is_among(id: &str, names: &[impl AsRef<str>]) -> bool {
    names.iter().any(|name| is_meant(id, name.as_ref()))
}

fn group(id: &str) -> &str {
    id.split('.').next().unwrap_or(id)
}

fn unknown(name: &str) -> WrongUse {
    let known: Vec<&str> = experiments::all()
        .flat_map(|experiment| [experiment.id(), group(experiment.id())])
        .collect();
    let nearest = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .filter(|(likeness, _)| *likeness > 0.7);
    let hint = nearest.map_or_else(String::new, |(_, known)| {
        format!(" Did you mean '{known}'?")
    });
    WrongUse(format!(
        "there is no experiment or group '{name}'.{hint} `oscope list` names them all"
    ))
}

#[cfg(test)]
mod tests {
    use super::{experiments, of_glance};
    use crate::arguments::parse_level;
    use crate::setting;
    use instrument::experiment::Experiment as _;
    use instrument::plan::{Profile, Setting};
    use instrument::point::Level;
    use platform::machine::Machine;
    use std::path::Path;

    fn ids(what: &[&str]) -> Result<Vec<&'static str>, String> {
        let what: Vec<String> = what.iter().map(|&name| name.to_owned()).collect();
        match experiments(&what) {
            Ok(found) => Ok(found.iter().map(|experiment| experiment.id()).collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn groups_and_ids_are_understood_and_nothing_runs_twice() {
        assert_eq!(ids(&["process.calls"]), Ok(vec!["process.calls"]));
        assert_eq!(ids(&["memory", "memory.bandwidth"]), ids(&["memory"]));
        assert_eq!(ids(&[]).unwrap().len(), experiments::all().count());
    }

    #[test]
    fn each_level_of_a_glance_is_of_an_axis() {
        for part in report::parts_of_glance() {
            let [experiment] = experiments(std::slice::from_ref(&part.experiment)).unwrap()[..]
            else {
                panic!("{} is no experiment", part.experiment);
            };
            for level in &part.at {
                let (name, _) = parse_level(level).unwrap();
                let axes = experiment.design().axes;
                assert!(axes.iter().any(|axis| axis.name == name), "{name}");
            }
        }
    }

    #[test]
    fn a_glance_takes_the_levels_that_the_machine_has() {
        let with_pages = |page_bytes| Setting {
            // No file has room.
            free_bytes: 0,
            available_bytes: 64 << 30,
            machine: Machine {
                page_bytes: Some(page_bytes),
                ..Machine::default()
            },
            ..setting::here(Path::new("."), Profile::Quick, false)
        };
        for (page_bytes, pages) in [(4 << 10, "4 KiB pages"), (16 << 10, "16 KiB pages")] {
            let setting = with_pages(page_bytes);
            let glance = of_glance(&setting).unwrap();
            let points = |id: &str| {
                let found = glance.iter().find(|it| it.id() == id);
                found.expect("it is part of a glance").points(&setting)
            };
            for point in points("memory.latency") {
                assert_eq!(point.get("pages"), Some(&Level::from(pages)));
            }
            assert_eq!(points("memory.latency").len(), 8);
            let faults: Vec<String> = points("memory.page_fault")
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(faults, ["touch=first touch"]);
        }
    }
}
