//! Labs for teachers and students: what each asks, and the measurements that answer it.
//!
//! Each lab is a file of constants under `labs`. A test of the crate `report`, which reads the numbers of the
//! published reports, holds each experiment, metric, level and printed figure against those that exist.

mod labs;

pub use labs::ALL;

use instrument::quantity::Unit;

/// A lab.
#[derive(Debug)]
pub struct Lab {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The background in a few sentences.
    pub about: &'static str,
    /// The measurements, one `oscope run` each.
    pub steps: &'static [Step],
    /// The questions.
    pub questions: &'static [Question],
}

/// One measurement of a lab.
#[derive(Debug)]
pub struct Step {
    /// The experiment.
    pub experiment: &'static str,
    /// Chosen levels, as `oscope run --at` takes them; all of the quick plan without any.
    pub at: &'static [&'static str],
    /// Time for it.
    pub seconds: u32,
}

/// A question: first a prediction, then the measurement, then the reason.
#[derive(Debug)]
pub struct Question {
    /// Its name in answers: `l1`.
    pub key: &'static str,
    /// The prediction to make.
    pub asks: &'static str,
    /// The way in which it is measured.
    pub measured: Measure,
    /// Figures that the reports print on it.
    pub reported: &'static [Printed],
    /// Findings of the reports that are not printed as a figure.
    pub found_there: &'static [&'static str],
    /// The question after the measurement.
    pub why: &'static str,
}

/// The measurement that answers a question.
#[derive(Debug)]
pub enum Measure {
    /// A value.
    Value(Reading),
    /// The first value over the second.
    Ratio(Reading, Reading),
    /// The place on the curve along an axis from which on nothing is gained.
    Plateau(Reading, &'static str),
    /// The choice with the highest value.
    Highest(&'static [(&'static str, Reading)]),
    /// The choice with the lowest value.
    Lowest(&'static [(&'static str, Reading)]),
    /// The value here over a printed one; of two runs, the second over the first.
    Against(Reading, Printed),
}

/// A metric at a point.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The experiment.
    pub experiment: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// The levels of the point; an axis that is not named may have any level.
    pub at: &'static [(&'static str, At)],
}

/// A level.
#[derive(Clone, Copy, Debug)]
pub enum At {
    /// A size or a count.
    Number(u64),
    /// A named choice.
    Choice(&'static str),
}

/// A figure that a report prints.
#[derive(Clone, Copy, Debug)]
pub struct Printed {
    /// The table's id, as in `docs/figures.md`.
    pub table: &'static str,
    /// The row.
    pub what: &'static str,
    /// The column.
    pub series: &'static str,
}

/// The lab called `name`.
pub fn find(name: &str) -> Option<&'static Lab> {
    ALL.iter().find(|lab| lab.name == name)
}

impl Lab {
    /// The experiments that it measures.
    pub fn experiments(&self) -> Vec<&'static str> {
        self.steps.iter().map(|step| step.experiment).collect()
    }

    /// Time for all measurements.
    pub fn seconds(&self) -> u32 {
        self.steps.iter().map(|step| step.seconds).sum()
    }

    /// True if it sets two systems side by side.
    pub fn compares(&self) -> bool {
        let mut questions = self.questions.iter();
        questions.any(|question| matches!(question.measured, Measure::Against(..)))
    }
}

impl Measure {
    /// The choices; none if a number is asked for.
    pub fn choices(&self) -> Vec<&'static str> {
        match self {
            Self::Highest(of) | Self::Lowest(of) => of.iter().map(|(name, _)| *name).collect(),
            Self::Value(_) | Self::Ratio(..) | Self::Plateau(..) | Self::Against(..) => Vec::new(),
        }
    }

    /// The unit of the number that is asked for; `None` for a choice.
    pub fn unit(&self) -> Option<Unit> {
        match self {
            Self::Value(reading) => reading.unit(),
            Self::Ratio(..) | Self::Against(..) => Some(Unit::Ratio),
            Self::Plateau(..) => Some(Unit::Bytes),
            Self::Highest(_) | Self::Lowest(_) => None,
        }
    }

    /// True if the answer is a place on a curve, which is measured at powers of two.
    pub fn is_place(&self) -> bool {
        matches!(self, Self::Plateau(..))
    }
}

impl Reading {
    /// The unit of the metric.
    pub fn unit(&self) -> Option<Unit> {
        let definition = crate::find(self.experiment)?.definition();
        Some(definition.metric(self.metric)?.unit)
    }
}
