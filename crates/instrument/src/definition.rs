//! Definitions: the question of an experiment, its axes and its metrics, both as constants of the
//! program and as stored in a record.

use crate::point::{Axis, DesignAxis, Point};
use crate::quantity::Unit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The question, axes, metrics and method of an experiment, as constants of the program.
#[derive(Debug)]
pub struct Design {
    /// `group.name`.
    pub id: &'static str,
    /// Title of a few words.
    pub title: &'static str,
    /// The question that the experiment answers.
    pub question: &'static str,
    /// The method: steps, with what is timed, what is counted and what is left out.
    pub method: &'static str,
    /// Source: a published report and its section, or common practice.
    pub source: &'static str,
    /// The axes that vary. An axis of numbers that declares no other levels takes those between the planned ones.
    pub axes: &'static [DesignAxis],
    /// The metrics measured at each point.
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

/// The description of an experiment. Every run stores it, so that readers need no copy of the
/// program that made the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Definition {
    /// `group.name`.
    pub id: String,
    /// Title of a few words.
    pub title: String,
    /// The question that the experiment answers.
    pub question: String,
    /// The method: steps, with what is timed, what is counted and what is left out.
    pub method: String,
    /// Source: a published report and its section, or common practice.
    pub source: String,
    /// The axes that vary.
    pub axes: Vec<Axis>,
    /// The metrics measured at each point.
    pub metrics: Vec<Metric>,
    /// The isolation between batches.
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

    /// The levels of `point` formatted for readers, in the order of the axes.
    pub fn show(&self, point: &Point) -> String {
        let shown = point.levels().map(|(name, level)| match self.axis(name) {
            Some(axis) => axis.show(level),
            None => level.to_string(),
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

/// A metric that is measured at each point, as a constant of the program or as stored in a record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Metric")]
pub struct Metric<Text = String> {
    /// Name in files: `read`.
    pub name: Text,
    /// Name for readers.
    pub title: Text,
    /// The unit of its values.
    pub unit: Unit,
    /// The direction in which the metric improves.
    pub better: Better,
    /// Version of the definition. It rises whenever the code changes the meaning of the number;
    /// values of different versions are never compared.
    pub version: u32,
    /// Physical limit in the metric's unit: a maximum if higher is better, otherwise a minimum. A
    /// value beyond it is marked as broken.
    pub bound: Option<f64>,
}

impl<Text> Metric<Text> {
    /// A metric in version 1 without a bound.
    const fn stated(name: Text, title: Text, unit: Unit, better: Better) -> Self {
        Self {
            name,
            title,
            unit,
            better,
            version: 1,
            bound: None,
        }
    }

    /// The same metric with a physical limit.
    #[must_use]
    pub const fn bounded(mut self, bound: f64) -> Self {
        self.bound = Some(bound);
        self
    }

    /// True if the metric must reach the profile's target precision. Facts recorded next to the
    /// measurement, such as the number of times something happened, have no target.
    pub fn has_target(&self) -> bool {
        self.better != Better::Neither
    }

    /// True if `value` is beyond the physical limit.
    pub fn beats_bound(&self, value: f64) -> bool {
        self.bound.is_some_and(|bound| match self.better {
            Better::Higher => value > bound,
            Better::Lower => value < bound,
            Better::Neither => false,
        })
    }
}

impl Metric<&'static str> {
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

    /// A quantity of which more is better.
    pub const fn gain(name: &'static str, title: &'static str, unit: Unit) -> Self {
        Self::stated(name, title, unit, Better::Higher)
    }

    /// A quantity of which less is better.
    pub const fn cost(name: &'static str, title: &'static str, unit: Unit) -> Self {
        Self::stated(name, title, unit, Better::Lower)
    }

    /// A fact, neither good nor bad.
    pub const fn fact(name: &'static str, title: &'static str, unit: Unit) -> Self {
        Self::stated(name, title, unit, Better::Neither)
    }

    /// The same metric in a later version.
    #[must_use]
    pub const fn in_version(self, version: u32) -> Self {
        Self { version, ..self }
    }
}

impl AsRef<str> for Metric<&'static str> {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl From<&Metric<&'static str>> for Metric {
    fn from(metric: &Metric<&'static str>) -> Self {
        Self {
            version: metric.version,
            bound: metric.bound,
            ..Self::new(metric.name, metric.title, metric.unit, metric.better)
        }
    }
}

impl Metric {
    /// A metric in version 1 without a bound.
    pub fn new(name: &str, title: &str, unit: Unit, better: Better) -> Self {
        Self::stated(name.into(), title.into(), unit, better)
    }
}

/// The direction in which a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// A fact, neither good nor bad.
    Neither,
}

/// The isolation between batches. Records store its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// A fresh process for each batch, so that memory layout and address randomisation vary as they
    /// do between starts of a program.
    #[default]
    FreshProcess,
    /// One process took all samples: only in runs that were made from published numbers.
    OneProcess,
}
