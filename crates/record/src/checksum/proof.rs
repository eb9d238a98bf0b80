//! How far a run can be shown to be as it was measured.

use super::Part;
use crate::run::Run;
use schemars::JsonSchema;
use serde::Serialize;

/// How far a run can be shown to be as it was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "proof")]
pub enum Proof {
    /// Its checksums have covered it since it was measured, and all of them agree.
    Proven,
    /// An older oscope kept or exported it without checksums. Those that it got when it was imported
    /// agree, if it has any.
    Unproven,
    /// Parts of it do not agree with their checksums.
    Damaged {
        /// These parts.
        parts: Vec<Part>,
    },
    /// It cannot be read.
    Unreadable {
        /// Why.
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

    /// Whether damage was found.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Unreadable { .. })
    }
}
