//! The meaning of a value: values of different meaning are not compared.

use instrument::experiment::{Better, Metric};
use instrument::quantity::Unit;
use platform::environment::System;

/// All that two values must share to be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meaning {
    pub version: u32,
    pub unit: Unit,
    pub better: Better,
    /// The operating system, if the value means something else on another one.
    pub system: Option<System>,
}

impl Meaning {
    pub(super) fn of(metric: &Metric, system: Option<System>) -> Self {
        Self {
            version: metric.version,
            unit: metric.unit,
            better: metric.better,
            system,
        }
    }

    /// The reason why values of this meaning cannot be compared with those of `usual`.
    pub(super) fn obstacle(self, usual: Self) -> String {
        if self.version != usual.version {
            format!(
                "version {} of the metric, where most nodes have version {}",
                self.version, usual.version
            )
        } else if let Some(system) = self.system.filter(|_| self.system != usual.system) {
            format!("it means something else on {system} than on the system of most nodes")
        } else {
            "its unit or its direction is not that of most nodes".into()
        }
    }
}
