//! The values that are shown before all others.

use crate::reproduce::{Query, fits};
use instrument::counterpart::Counterpart;
use instrument::point::{Level, Point};
use platform::environment::System;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The values that are shown first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FirstScreen {
    /// The time of a load over the working set.
    pub(crate) latency: SizeCurve,
    /// The speed of reading memory on one core over the block size.
    pub(crate) bandwidth: SizeCurve,
    /// The throughput of each pass over a file over the block size.
    pub(crate) files: SizeCurve,
    /// The experiment of the times between each two processors, whose figure is a matrix.
    pub(crate) cores: String,
    /// The experiment that gives most of the rungs.
    pub(crate) most_rungs: String,
    /// The rungs of the latency ladder, next to the loads.
    pub(crate) rungs: Vec<NamedQuery>,
    /// What `oscope glance` measures.
    pub(crate) glance: Vec<Part>,
}

/// An experiment, and the levels at which a glance measures it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its id.
    pub experiment: String,
    /// Levels as `oscope run --at` takes them: `pages=4 KiB pages`.
    pub at: Vec<String>,
}

/// What a glance at a machine measures.
pub fn parts_of_glance() -> &'static [Part] {
    &first_screen().glance
}

/// A curve along sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SizeCurve {
    pub(crate) experiment: String,
    pub(crate) metric: String,
    /// The axis of the sizes, in bytes.
    pub(crate) size: String,
    /// The axis that distinguishes several curves; `None` if only the longest curve is drawn.
    pub(crate) by: Option<String>,
    /// The levels of the curve that gives rungs and by which machines are compared: a glance and a run of everything
    /// have it.
    #[serde(default)]
    pub(crate) at: BTreeMap<String, Level>,
    /// The sizes at which machines are compared.
    #[serde(default)]
    pub(crate) compared: Vec<u64>,
    /// The subject of a sentence on the value at `{size}`, if machines are compared by it.
    pub(crate) what: Option<String>,
}

/// A time under a name for readers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedQuery {
    pub(crate) label: String,
    /// The subject of a sentence on the time, if machines are compared by it.
    pub(crate) what: Option<String>,
    pub(crate) query: Query,
}

/// The values that are shown first.
pub(crate) fn first_screen() -> &'static FirstScreen {
    static SCREEN: OnceLock<FirstScreen> = OnceLock::new();
    SCREEN.get_or_init(|| {
        basic_toml::from_str(experiments::FIRST_SCREEN).expect("a test reads this document")
    })
}

impl NamedQuery {
    /// True if the value is measured at `point`, or at the point of Linux that corresponds to it: a call of another
    /// system with the same purpose.
    pub(crate) fn is_at(&self, point: &Point) -> bool {
        let Query {
            experiment,
            metric,
            levels,
            ..
        } = &self.query;
        fits(experiment, point, levels)
            || match experiments::counterpart(experiment, point, metric, System::Linux) {
                Counterpart::Like { point, .. } => fits(experiment, &point, levels),
                Counterpart::Same | Counterpart::Missing(_) => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::first_screen;
    use instrument::given::Givens;
    use instrument::limits::Limits;
    use instrument::plan::{Profile, Setting};
    use platform::machine::Machine;

    #[test]
    fn each_curve_is_measured() {
        let screen = first_screen();
        for curve in [&screen.latency, &screen.bandwidth, &screen.files] {
            let experiment = experiments::find(&curve.experiment).expect("it is one");
            let definition = experiment.definition();
            assert!(definition.metric(&curve.metric).is_some(), "{curve:?}");
            for axis in [Some(&curve.size), curve.by.as_ref()].into_iter().flatten() {
                assert!(definition.axis(axis).is_some(), "{curve:?}");
            }
        }
    }

    #[test]
    fn each_rung_is_measured_in_the_quick_profile() {
        let with_pages = |page_bytes| Setting {
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
                page_bytes: Some(page_bytes),
                huge_page_bytes: Some(2 << 20),
                ..Machine::default()
            },
            limits: Limits::default(),
        };
        for rung in &first_screen().rungs {
            let experiment = experiments::find(&rung.query.experiment).expect("it is one");
            assert!(rung.query.metric().is_some(), "{rung:?}");
            for page_bytes in [4 << 10, 16 << 10] {
                let mut points = experiment.points(&with_pages(page_bytes)).into_iter();
                let has_any = rung.query.levels.is_empty();
                assert!(
                    has_any || points.any(|point| rung.is_at(&point)),
                    "{rung:?}"
                );
            }
        }
    }
}
