//! Requirements of an experiment, and the ones missing here.

use crate::given::Taken;
use crate::quantity::Bytes;
use crate::setting::Setting;

/// A requirement without which an experiment cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Free space for scratch files in the run's directory.
    Space(Bytes),
    /// Memory available to this process.
    Memory(Bytes),
    /// Free swap.
    Swap(Bytes),
    /// A thing that only the user can name; with a reason why it cannot be used, it is missing.
    Given(Taken),
    /// At least two of something: with fewer, the question does not arise.
    Several {
        /// The number here.
        count: usize,
        /// Their name, as in `memory nodes`.
        what: String,
    },
    /// A situation in which the question arises, or in which a level can be measured.
    Situation {
        /// True if it does.
        arises: bool,
        /// The reason if it does not, as half a sentence: `this machine has no battery`.
        reason: String,
    },
}

impl Need {
    /// The missing requirement, as half a sentence; `None` if it is met.
    pub fn missing(&self, setting: &Setting) -> Option<String> {
        match self {
            Self::Space(space) => (setting.free_bytes < space.0).then(|| {
                format!(
                    "it needs {space:.3} free in {}, where {:.3} are",
                    setting.directory.display(),
                    Bytes(setting.free_bytes)
                )
            }),
            Self::Swap(swap) => (setting.swap_bytes < swap.0).then(|| {
                format!(
                    "it needs {swap:.3} of free swap, where {:.3} are; as root, `--allow-swap-file` makes some",
                    Bytes(setting.swap_bytes)
                )
            }),
            Self::Memory(memory) => (setting.available_bytes < memory.0).then(|| {
                format!(
                    "it needs {memory:.3} of memory, of which {:.3} are available",
                    Bytes(setting.available_bytes)
                )
            }),
            Self::Given(taken) => setting.given.missing(taken),
            Self::Several { count, what } => {
                (*count < 2).then(|| format!("this machine has fewer than two {what}"))
            }
            Self::Situation { arises, reason } => (!arises).then(|| reason.clone()),
        }
    }

    /// True if the requirement is missing but nothing is wrong: the user chose not to name it, or
    /// the question does not arise.
    pub fn is_left_out(&self, setting: &Setting) -> bool {
        let may_be = match self {
            Self::Given(taken) => setting.given.is_unnamed(taken),
            Self::Several { .. } | Self::Situation { .. } => true,
            _ => false,
        };
        may_be && self.missing(setting).is_some()
    }

    /// True if the question does not arise here because this is missing.
    pub fn is_moot(&self) -> bool {
        matches!(self, Self::Several { count: 0..2, .. })
    }
}

/// All missing requirements of `needs`, joined into one sentence; `None` if none is missing.
pub fn missing(needs: &[Need], setting: &Setting) -> Option<String> {
    let missing: Vec<_> = needs
        .iter()
        .filter_map(|need| need.missing(setting))
        .collect();
    (!missing.is_empty()).then(|| missing.join("; "))
}

/// Space for scratch files that `needs` ask for, in bytes.
pub fn space_bytes(needs: &[Need]) -> u64 {
    needs
        .iter()
        .map(|need| match need {
            Need::Space(space) => space.0,
            _ => 0,
        })
        .sum()
}
