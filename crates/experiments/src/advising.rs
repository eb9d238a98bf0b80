//! Advice from the measurements of the usual way and of another.

use crate::estimates::ratio;
use crate::judging::{MARGIN, exceeds};
use crate::prelude::*;
use instrument::advice::Advice;
use instrument::trial::Trial;

/// The usual way to do a thing and another, measured by one experiment.
pub(crate) struct Ways<'r> {
    results: &'r Results<'r>,
    pub(crate) usual: &'r Estimate,
    pub(crate) other: &'r Estimate,
}

impl<'r> Ways<'r> {
    /// Both estimates are of one metric of `results`.
    pub(crate) fn new(results: &'r Results<'r>, usual: &'r Estimate, other: &'r Estimate) -> Self {
        Self {
            results,
            usual,
            other,
        }
    }

    /// The speed of the other way over that of the usual one.
    pub(crate) fn gain(&self) -> Option<Quantity> {
        let metric = self.results.definition.metric(&self.usual.metric)?;
        match metric.better {
            Better::Lower => ratio(self.usual, self.other),
            Better::Higher | Better::Neither => ratio(self.other, self.usual),
        }
    }

    /// The advice to set `other` where that way surely gains, and to keep the `usual` value where it surely
    /// does not; `None` where the measurement does not decide.
    pub(crate) fn advised(
        &self,
        other: impl Into<Level>,
        usual: impl Into<Level>,
        said: Sentence,
    ) -> Option<Advice> {
        let (gain, usual) = (self.gain()?, usual.into());
        match exceeds(&gain, 1.0 + MARGIN) {
            Ruling::Holds => Some(Advice {
                value: other.into(),
                usual,
                gain: Some(gain),
                because: Finding::new("because", said),
                trial: Trial::between(self.results, self.usual, self.other),
            }),
            Ruling::DoesNotHold => Some(as_usual(usual, said)),
            Ruling::HoldsInPart | Ruling::Undecided => None,
        }
    }
}

/// The advice to keep the usual value.
pub(crate) fn as_usual(usual: impl Into<Level>, said: Sentence) -> Advice {
    let usual = usual.into();
    Advice {
        value: usual.clone(),
        usual,
        gain: None,
        because: Finding::new("because", said),
        trial: None,
    }
}

/// An advised number of bytes.
pub(crate) fn bytes(value: &Level) -> Bytes {
    Bytes(value.number().unwrap_or_default())
}
