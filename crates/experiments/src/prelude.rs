//! The names that most experiments use.

pub(crate) use choice::Choice;
pub(crate) use const_format::formatcp;
pub(crate) use instrument::component::Component;
pub(crate) use instrument::counterpart::Counterpart;
pub(crate) use instrument::experiment::{Design, Experiment, MeasureError};
pub(crate) use instrument::figure::Figure;
pub(crate) use instrument::finding::{Finding, Grade, Sentence, sentence};
pub(crate) use instrument::given::{Given, Taken};
pub(crate) use instrument::need::Need;
pub(crate) use instrument::plan::{Profile, Setting};
pub(crate) use instrument::point::{AxisOf, Grid, Point, RefinedAxis};
pub(crate) use instrument::quantity::{Bytes, Count, Quantity, Unit};
pub(crate) use instrument::results::{Estimate, Results};
pub(crate) use instrument::sampler::Sampler;
pub(crate) use platform::environment::System;

/// A metric as a constant of the program.
pub(crate) type Metric<Text = &'static str> = instrument::experiment::Metric<Text>;
