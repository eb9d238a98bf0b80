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
    /// The run comes from a file without checksums. Those that the store added on import agree.
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
    /// The proof of a run that agrees with its checksums, or came without any.
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
