//! Definitions: the question of an experiment, its axes and its metrics, as the program states them and
//! as a record holds them.

use crate::point::{Axis, Point};
use crate::quantity::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an experiment asks, varies and measures, and how, as the program states it.
#[derive(Debug)]
pub struct Design {
    /// `group.name`.
    pub id: &'static str,
    /// A few words.
    pub title: &'static str,
    /// What a person learns from it, as a question.
    pub question: &'static str,
    /// What is timed, what is counted and what is left out.
    pub method: &'static str,
    /// Where the experiment comes from: a published report and its section, or common practice.
    pub source: &'static str,
    /// What is varied.
    pub axes: &'static [Axis<&'static str>],
    /// What is measured at each point.
    pub metrics: &'static [Metric<&'static str>],
}

impl From<&Design> for Definition {
    fn from(design: &Design) -> Self {
        Self {
            id: design.id.into(),
            title: design.title.into(),
            question: design.question.into(),
            method: design.method.into(),
            source: design.source.into(),
            axes: design.axes.iter().map(Axis::from).collect(),
            metrics: design.metrics.iter().map(Metric::from).collect(),
            isolation: Isolation::FreshProcess,
        }
    }
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
    /// How batches are kept apart.
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

/// What is measured at a point, as the program states it or as a record holds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Metric")]
pub struct Metric<Text = String> {
    /// Name in files: `read`.
    pub name: Text,
    /// Name for people.
    pub title: Text,
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

impl<Text> Metric<Text> {
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

impl Metric<&'static str> {
    /// A metric in its first version without a bound.
    const fn stated(name: &'static str, title: &'static str, unit: Unit, better: Better) -> Self {
        Self {
            name,
            title,
            unit,
            better,
            version: 1,
            bound: None,
            is_shared: false,
        }
    }

    /// A time: less is better.
    pub const fn time(name: &'static str, title: &'static str) -> Self {
        Self::stated(name, title, Unit::Nanoseconds, Better::Lower)
    }

    /// A speed in bytes per second: more is better.
    pub const fn bandwidth(name: &'static str, title: &'static str) -> Self {
        Self::stated(name, title, Unit::BytesPerSecond, Better::Higher)
    }

    /// A speed in operations per second: more is better.
    pub const fn rate(name: &'static str, title: &'static str) -> Self {
        Self::stated(name, title, Unit::OperationsPerSecond, Better::Higher)
    }

    /// Something of which more is better.
    pub const fn gain(name: &'static str, title: &'static str, unit: Unit) -> Self {
        Self::stated(name, title, unit, Better::Higher)
    }

    /// Something of which less is better.
    pub const fn cost(name: &'static str, title: &'static str, unit: Unit) -> Self {
        Self::stated(name, title, unit, Better::Lower)
    }

    /// A fact, neither good nor bad.
    pub const fn fact(name: &'static str, title: &'static str, unit: Unit) -> Self {
        Self::stated(name, title, unit, Better::Neither)
    }

    /// The metric in a later version.
    #[must_use]
    pub const fn in_version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// The metric where partners of the experiment's own may work on the same processor.
    #[must_use]
    pub const fn shared(self) -> Self {
        Self {
            is_shared: true,
            ..self
        }
    }

    /// The metric with a physical bound.
    #[must_use]
    pub const fn bounded(self, bound: f64) -> Self {
        Self {
            bound: Some(bound),
            ..self
        }
    }
}

impl AsRef<str> for Metric<&'static str> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl From<&Metric<&'static str>> for Metric {
    fn from(metric: &Metric<&'static str>) -> Self {
        let &Metric {
            unit,
            better,
            version,
            bound,
            is_shared,
            ..
        } = metric;
        Self {
            name: metric.name.into(),
            title: metric.title.into(),
            unit,
            better,
            version,
            bound,
            is_shared,
        }
    }
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

/// How batches are kept apart. Records name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// A fresh process for each batch, so that memory layout and address randomisation vary as
    /// they do between starts of a program.
    FreshProcess,
}
