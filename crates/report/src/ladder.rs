//! The latency ladder: the times that are shown before all others, and rules of thumb for them.

use crate::reproduce::Query;
use instrument::counterpart::Counterpart;
use instrument::point::Point;
use platform::environment::System;
use serde::Deserialize;
use std::sync::OnceLock;

/// The names of the rungs that memory latency gives: from the smallest working set, and from the largest, where no
/// cache holds it, and where one may.
pub(crate) const LOAD_FROM_CACHE: &str = "load, nearest cache";
/// See [`LOAD_FROM_CACHE`].
pub(crate) const LOAD_FROM_MEMORY: &str = "load, memory";
/// See [`LOAD_FROM_CACHE`].
pub(crate) const LOAD_FROM_LARGEST: &str = "load, largest set";

/// The ladder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ladder {
    /// The lists that the rules come from.
    pub(crate) rules_from: String,
    pub(crate) rungs: Vec<Named>,
    /// Rules of thumb for the rungs that have one. They are rounded, and right to a factor of two or so.
    pub(crate) rules: Vec<Rule>,
}

/// A time under a name for readers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    pub(crate) label: String,
    pub(crate) query: Query,
}

/// A time that engineers carry in their heads, as a published list of such numbers has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// The rung that it is about.
    pub(crate) rung: String,
    /// The things that take the time, after `good at`.
    pub(crate) what: String,
    pub(crate) ns: f64,
}

/// The ladder.
pub(crate) fn ladder() -> &'static Ladder {
    static LADDER: OnceLock<Ladder> = OnceLock::new();
    const DOCUMENT: &str = include_str!("ladder.toml");
    LADDER.get_or_init(|| basic_toml::from_str(DOCUMENT).expect("a test reads this document"))
}

impl Named {
    /// True if the value is measured at `point`, or at the point that stands for it on Linux: a call of another
    /// system with the same purpose.
    pub(crate) fn is_at(&self, point: &Point) -> bool {
        let Query {
            experiment,
            metric,
            levels,
            ..
        } = &self.query;
        let has_levels = |point: &Point| {
            let mut levels = levels.iter();
            levels.all(|(axis, level)| point.get(axis) == Some(level))
        };
        has_levels(point)
            || match experiments::counterpart(experiment, point, metric, System::Linux) {
                Counterpart::Like { point, .. } => has_levels(&point),
                Counterpart::Same | Counterpart::Missing(_) => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::{LOAD_FROM_CACHE, LOAD_FROM_MEMORY, ladder};
    use instrument::given::Givens;
    use instrument::limits::Limits;
    use instrument::plan::{Profile, Setting};
    use platform::machine::Machine;

    #[test]
    fn each_rule_of_thumb_is_about_a_rung() {
        for rule in &ladder().rules {
            let mut rungs = ladder().rungs.iter().map(|rung| &rung.label);
            let is_load = [LOAD_FROM_CACHE, LOAD_FROM_MEMORY].contains(&rule.rung.as_str());
            assert!(is_load || rungs.any(|rung| *rung == rule.rung), "{rule:?}");
        }
    }

    #[test]
    fn each_rung_is_measured_in_the_quick_profile() {
        let setting = Setting {
            profile: Profile::Quick,
            directory: "/".into(),
            free_bytes: 1 << 40,
            available_bytes: 64 << 30,
            swap_bytes: 0,
            can_limit_memory: false,
            given: Givens::default(),
            time_scale: 1.0,
            is_root: false,
            machine: Machine {
                page_bytes: Some(4096),
                huge_page_bytes: Some(2 << 20),
                ..Machine::default()
            },
            limits: Limits::default(),
        };
        for rung in &ladder().rungs {
            let experiment = experiments::find(&rung.query.experiment).expect("it is one");
            assert!(rung.query.metric().is_some(), "{rung:?}");
            let mut points = experiment.points(&setting).into_iter();
            let has_any = rung.query.levels.is_empty();
            assert!(
                has_any || points.any(|point| rung.is_at(&point)),
                "{rung:?}"
            );
        }
    }
}
