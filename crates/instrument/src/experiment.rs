//! The experiment trait: a question about the system, its measurement, and the meaning of its
//! results.

pub use crate::definition::{Better, Definition, Design, Isolation, Metric};
pub use crate::error::MeasureError;

use crate::component::Component;
use crate::counterpart::Counterpart;
use crate::figure::Figure;
use crate::finding::Finding;
use crate::given::Taken;
use crate::need::Need;
use crate::point::Point;
use crate::results::Results;
use crate::sampler::Sampler;
use crate::setting::Setting;
use platform::environment::System;
use serde::{Deserialize, Serialize};

/// One question about the system.
///
/// The first half describes and measures. The second half ([`findings`](Self::findings) and
/// [`figures`](Self::figures)) reads only results, so it also works on an old run from another
/// machine.
pub trait Experiment: Sync {
    /// The question, the axes, the metrics and the method.
    fn design(&self) -> &'static Design;

    /// `group.name`, in small letters.
    fn id(&self) -> &'static str {
        self.design().id
    }

    /// The design in the form that a run stores.
    fn definition(&self) -> Definition {
        Definition::from(self.design())
    }

    /// Requirements without which the experiment cannot run at all.
    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        Vec::new()
    }

    /// Levels that need more than the experiment as a whole: each need with a point that has only the
    /// level. `points` leaves out a level whose need is missing.
    fn level_needs(&self, _setting: &Setting) -> Vec<(Point, Need)> {
        Vec::new()
    }

    /// The things that only the user can name and that this experiment uses.
    fn takes(&self) -> &'static [Taken] {
        &[]
    }

    /// The points to measure. Empty if the setting leaves nothing to measure.
    fn points(&self, setting: &Setting) -> Vec<Point>;

    /// False if only these points are measured, also on refined axes.
    fn may_be_refined(&self) -> bool {
        true
    }

    /// Limits for the worker that measures `point`, if limits are part of the question.
    fn confinement(&self, _point: &Point) -> Option<Confinement> {
        None
    }

    /// The library that the worker of `point` loads before all others, if a level of `point` is one.
    fn preload(&self, point: &Point) -> Option<String> {
        let mut axes = self.design().axes.iter();
        let library = axes.find_map(|axis| axis.library(point));
        library.map(str::to_owned)
    }

    /// Wall time that a sample of `point` takes at the least, in ns. Above zero only for a point whose levels ask
    /// for a long time: its processes are then given that time, and the plan counts it.
    fn least_ns(&self, _point: &Point) -> u64 {
        0
    }

    /// True if a process that visits `point` may visit other such points as well, before or after it.
    /// That saves the start of a process for each visit, and the ratio of two points then comes from
    /// the same processes. False for a point whose visit leaves something behind that others notice,
    /// such as threads, mappings or child processes, or that notices what others left.
    fn shares_process(&self, _point: &Point) -> bool {
        false
    }

    /// The component of the machine that the values of `metric` at `point` are about; `None` for that
    /// of the experiment's group. Values of one component get slow together.
    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        None
    }

    /// The value of `other`, another operating system, with which `metric` at `point` may be compared;
    /// `None` for the rule of the experiment's group. Where a system is asked for something by a call of
    /// its own, the call is another level on that system, and the difference is named.
    fn counterpart(&self, _point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        None
    }

    /// Measures one point in the calling process and passes its samples to `sampler`.
    ///
    /// # Errors
    /// The reason why this point could not be measured here.
    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError>;

    /// The meaning of the results, the most important first.
    fn findings(&self, _results: &Results) -> Vec<Finding> {
        Vec::new()
    }

    /// The charts that show the results best.
    fn figures(&self, _results: &Results) -> Vec<Figure> {
        Vec::new()
    }
}

/// Limits for a worker. If the system cannot enforce them, the point fails with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Memory that the worker may hold, its page cache included, in bytes.
    pub memory_bytes: u64,
    /// Swap needed for the data that does not fit into memory, in bytes.
    pub swap_bytes: u64,
}
