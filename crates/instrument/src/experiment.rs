//! What an experiment is: a question about the system, how it is measured, and what its results
//! mean.

pub use crate::definition::{Better, Definition, Design, Isolation, Metric};
pub use crate::error::MeasureError;

use crate::figure::Figure;
use crate::finding::Finding;
use crate::need::Need;
use crate::point::Point;
use crate::results::Results;
use crate::sampler::Sampler;
use crate::setting::Setting;
use serde::{Deserialize, Serialize};

/// One question about the system.
///
/// The first half describes and measures; the second half ([`findings`](Self::findings) and
/// [`figures`](Self::figures)) reads results only, so that it works as well on a run that was
/// stored years ago on another machine.
pub trait Experiment: Sync {
    /// What is asked, varied and measured, and how.
    fn design(&self) -> &'static Design;

    /// `group.name`, as in `memory.bandwidth`.
    fn id(&self) -> &'static str {
        self.design().id
    }

    /// The design as it is stored with a run.
    fn definition(&self) -> Definition {
        Definition::from(self.design())
    }

    /// What must be there for the experiment to run at all.
    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        Vec::new()
    }

    /// The points to measure. Empty where the setting leaves nothing to measure.
    fn points(&self, setting: &Setting) -> Vec<Point>;

    /// What the worker that measures `point` may use, where that is part of the question.
    fn confinement(&self, _point: &Point) -> Option<Confinement> {
        None
    }

    /// Measures one point in the calling process, giving its samples to `sampler`.
    ///
    /// # Errors
    /// Why this point could not be measured here.
    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError>;

    /// What the results mean, the most telling first.
    fn findings(&self, results: &Results) -> Vec<Finding>;

    /// How the results are best seen.
    fn figures(&self, _results: &Results) -> Vec<Figure> {
        Vec::new()
    }
}

/// What a worker may use. Where the system cannot be told so, its point fails with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Memory that the worker may hold, pages of files included, in bytes.
    pub memory_bytes: u64,
    /// Swap that there must be for what does not fit, in bytes.
    pub swap_bytes: u64,
}
