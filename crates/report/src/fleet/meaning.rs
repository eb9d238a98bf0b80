//! The meaning of a value: values of different meaning are not compared.

use crate::comparison::Edition;
use instrument::experiment::{Better, Metric};
use instrument::quantity::Unit;
use instrument::results::Estimate;

/// All that two values must share to be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meaning {
    pub version: u32,
    pub unit: Unit,
    pub better: Better,
    pub edition: Edition,
}

impl Meaning {
    pub(super) fn of(metric: &Metric, estimate: &Estimate) -> Self {
        Self {
            version: metric.version,
            unit: metric.unit,
            better: metric.better,
            edition: Edition::of(estimate),
        }
    }

    /// The reason why values of this meaning cannot be compared with those of `usual`.
    pub(super) fn obstacle(self, usual: Self) -> String {
        if self.version != usual.version {
            format!(
                "version {} of the metric, where most nodes have version {}",
                self.version, usual.version
            )
        } else if self.edition != usual.edition {
            "measured in another way than by most nodes: measure all with one version of oscope"
                .into()
        } else {
            "its unit or its direction is not that of most nodes".into()
        }
    }

    /// Order of preference among meanings that equally many nodes share: the newest.
    pub(super) fn age(self) -> (u32, Edition) {
        (self.version, self.edition)
    }
}
