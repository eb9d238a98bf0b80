//! What an experiment is: a question about the system, how it is measured, and what its results
//! mean.

use crate::figure::Figure;
use crate::finding::Finding;
use crate::need::Need;
use crate::plan::Setting;
use crate::point::{Axis, Point, WrongPoint};
use crate::quantity::Unit;
use crate::results::Results;
use crate::sampler::Sampler;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One question about the system.
///
/// The first half describes and measures; the second half ([`findings`](Self::findings) and
/// [`figures`](Self::figures)) reads results only, so that it works as well on a run that was
/// stored years ago on another machine.
pub trait Experiment: Sync {
    /// `group.name`, as in `memory.bandwidth`.
    fn id(&self) -> &'static str;

    /// What is asked, varied and measured, and how.
    fn definition(&self) -> Definition;

    /// What must be there for the experiment to run at all.
    fn needs(&self, setting: &Setting) -> Vec<Need>;

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
    fn figures(&self, results: &Results) -> Vec<Figure>;
}

/// What a worker may use. Where the system cannot be told so, its point fails with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Memory that the worker may hold, pages of files included, in bytes.
    pub memory_bytes: u64,
    /// Swap that there must be for what does not fit, in bytes.
    pub swap_bytes: u64,
}

/// The description of an experiment. It is stored with every run, so that a run can be read
/// without the program that made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Definition {
    /// `group.name`.
    pub id: String,
    /// A few words.
    pub title: String,
    /// What a person learns from it, as a question.
    pub question: String,
    /// What is timed, what is counted and what is left out.
    pub method: String,
    /// Where the experiment comes from: a published report and its section, or common practice.
    pub source: String,
    /// What is varied.
    pub axes: Vec<Axis>,
    /// What is measured at each point.
    pub metrics: Vec<Metric>,
    /// Whether each batch of samples gets a process of its own.
    pub isolation: Isolation,
}

impl Definition {
    /// The first part of the id: `memory`.
    pub fn group(&self) -> &str {
        self.id.split('.').next().unwrap_or(&self.id)
    }

    /// The metric called `name`.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The axis called `name`.
    pub fn axis(&self, name: &str) -> Option<&Axis> {
        self.axes.iter().find(|axis| axis.name == name)
    }

    /// The levels of `point` as a person reads them, in the order of the axes.
    pub fn show(&self, point: &Point) -> String {
        let shown = point.levels().map(|(name, level)| match self.axis(name) {
            Some(axis) => axis.show(level),
            None => level.to_string(),
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// What is measured at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Name in files: `read`.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// The unit of its values.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Raised whenever its code changes what the number means; values of different versions are
    /// never compared.
    pub version: u32,
    /// The value that physics does not allow to be beaten, in the metric's unit: a maximum where
    /// higher is better, else a minimum. A value beyond it is marked as broken.
    pub bound: Option<f64>,
    /// Whether partners of the experiment's own may do a part of the work on the same processor, so
    /// that having to wait for it is the subject and no disturbance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shared: bool,
}

impl Metric {
    /// A metric in its first version without a bound.
    pub fn new(name: &str, title: &str, unit: Unit, better: Better) -> Self {
        Self {
            name: name.into(),
            title: title.into(),
            unit,
            better,
            version: 1,
            bound: None,
            is_shared: false,
        }
    }

    /// The metric where partners of the experiment's own may work on the same processor.
    #[must_use]
    pub fn shared(self) -> Self {
        Self {
            is_shared: true,
            ..self
        }
    }

    /// The metric with a physical bound.
    #[must_use]
    pub fn bounded(self, bound: f64) -> Self {
        Self {
            bound: Some(bound),
            ..self
        }
    }

    /// Whether it is to be known to the profile's target: facts that stand beside what is measured,
    /// such as how often something happened, are not.
    pub fn has_target(&self) -> bool {
        self.better != Better::Neither
    }

    /// Whether `value` is beyond what physics allows.
    pub fn beats_bound(&self, value: f64) -> bool {
        self.bound.is_some_and(|bound| match self.better {
            Better::Higher => value > bound,
            Better::Lower => value < bound,
            Better::Neither => false,
        })
    }
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It is a fact, neither good nor bad.
    Neither,
}

/// Whether each batch of samples gets a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// A fresh process for each batch, so that memory layout and address randomisation vary as
    /// they do between starts of a program. The rule.
    FreshProcess,
    /// One process takes all samples of a point, where its state is part of the question.
    OneProcess,
}

/// Why a point could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The system does not offer what the point needs.
    #[error("{0}")]
    Unsupported(String),
    /// Something else in the system spoilt it, as when the kernel takes back what was to stay in the
    /// page cache. Another process may have better luck.
    #[error("{0}")]
    Disturbed(String),
    /// A call to the system failed.
    #[error("{action}: {source}")]
    System {
        /// What was tried, as in `read the scratch file`.
        action: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A question put to the operating system failed.
    #[error(transparent)]
    Platform(#[from] platform::Error),
    /// The point does not belong to this version of the experiment.
    #[error(transparent)]
    WrongPoint(#[from] WrongPoint),
    /// The samples could not be handed on, since nobody reads them any more.
    #[error("the samples could not be handed on: {0}")]
    Output(std::io::Error),
}

impl MeasureError {
    /// Whether this system has not what the point needs, or not for this process, as opposed to its
    /// having gone wrong.
    pub fn is_lacking(&self) -> bool {
        match self {
            Self::Unsupported(_) => true,
            Self::System { source, .. } => platform::is_lacking(source),
            Self::Platform(error) => error.is_lacking(),
            _ => false,
        }
    }

    /// For `map_err`: names what was tried when the system refused. Where it did not, it costs nothing:
    /// it stands in what is timed.
    pub fn system<E: Into<std::io::Error>>(action: &str) -> impl FnOnce(E) -> Self {
        move |source| Self::System {
            action: action.to_owned(),
            source: source.into(),
        }
    }
}
