//! The integrity of a run, as far as it can be proven.

use super::Part;
use crate::run::Run;
use schemars::JsonSchema;
use serde::Serialize;

/// The integrity of a run, as far as it can be proven.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "proof")]
pub enum Proof {
    /// Checksums have covered the run since it was measured, and all of them agree.
    Proven,
    /// An older oscope stored or exported the run without checksums. Those added on import, if any,
    /// agree.
    Unproven,
    /// Parts of the run disagree with their checksums.
    Damaged {
        /// The damaged parts.
        parts: Vec<Part>,
    },
    /// The run cannot be read.
    Unreadable {
        /// The reason.
        reason: String,
    },
}

impl Proof {
    /// The proof of a run that agrees with its checksums, or that has none.
    pub(crate) fn of(run: &Run) -> Self {
        if run.header.proven {
            Self::Proven
        } else {
            Self::Unproven
        }
    }

    /// True if damage was found.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Unreadable { .. })
    }
}
