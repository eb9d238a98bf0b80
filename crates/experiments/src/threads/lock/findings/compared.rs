//! Spinning beside blocking.

use crate::estimates::{grade, ratio};
use crate::prelude::*;

/// Threads that spin beside as many that block. `say` gets their ratio, and the finding is as certain
/// as the ratio.
pub(super) fn compared(
    key: &str,
    (spin, lock): (&Estimate, &Estimate),
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Finding> {
    let times = ratio(spin, lock)?;
    Some(Finding::new(key, say(times)).graded(grade(&times, 1.0)))
}
