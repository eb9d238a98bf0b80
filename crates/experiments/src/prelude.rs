//! The names that most experiments use.

pub(crate) use choice::Choice;
pub(crate) use const_format::formatcp;
pub(crate) use instrument::claim::{Basis, Claim, Evidence, Judgement, Ruling};
pub(crate) use instrument::component::Component;
pub(crate) use instrument::counterpart::Counterpart;
pub(crate) use instrument::curve::{Curve, Onset};
pub(crate) use instrument::definition::Better;
pub(crate) use instrument::experiment::{Design, Experiment, MeasureError};
pub(crate) use instrument::figure::Figure;
pub(crate) use instrument::finding::{Finding, Grade, Sentence, sentence};
pub(crate) use instrument::given::{Given, Taken};
pub(crate) use instrument::need::Need;
pub(crate) use instrument::plan::{Profile, Setting};
pub(crate) use instrument::point::{AxisKind, AxisOf, Grid, Level, LevelOf, Point, read_back};
pub(crate) use instrument::quantity::{Bytes, Count, Quantity, Unit};
pub(crate) use instrument::results::{Estimate, PointResult, Results};
pub(crate) use instrument::sampler::Sampler;
pub(crate) use instrument::statistics::random::Random;
pub(crate) use platform::environment::System;

/// A metric as a constant of the program.
pub(crate) type Metric = instrument::experiment::Metric<&'static str>;

/// Bytes in a kibibyte.
pub(crate) const KIB: u64 = 1 << 10;
/// Bytes in a mebibyte.
pub(crate) const MIB: u64 = 1 << 20;

/// The error of a point that cannot be measured here, for this reason.
pub(crate) fn unsupported(reason: impl Into<String>) -> MeasureError {
    MeasureError::Unsupported(reason.into())
}
