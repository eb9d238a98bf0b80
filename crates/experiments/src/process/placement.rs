//! Where the two sides of an exchange run: on one core or on two, which are two results.

use instrument::experiment::MeasureError;
use instrument::point::Axis;
use instrument::sampler::Sampler;
use platform::placement::{cpu_of_another_core, current_cpu, pin_to};

/// Name of the axis.
pub(super) const PLACEMENT: &str = "placement";
/// Both sides share a processor.
pub(super) const ONE_CORE: &str = "one core";
/// The sides have a core each.
pub(super) const TWO_CORES: &str = "two cores";

/// The axis.
pub(super) fn axis() -> Axis {
    Axis::choice(PLACEMENT, "placement")
}

/// The processors of the two sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// Where this process is pinned.
    pub here: usize,
    /// Where its partner belongs.
    pub there: usize,
}

impl Placement {
    /// Pins this process where it runs, and finds the place of its partner.
    ///
    /// # Errors
    /// If there is no second core, or no such placement.
    pub(super) fn take(choice: &str, sampler: &mut Sampler<'_>) -> Result<Self, MeasureError> {
        let here = current_cpu().unwrap_or(0);
        pin_to(&[here])?;
        let there = match choice {
            ONE_CORE => here,
            TWO_CORES => cpu_of_another_core()?.ok_or_else(|| {
                MeasureError::Unsupported(
                    "there is only one core that may be used here, so nothing crosses to a second \
                     one"
                    .into(),
                )
            })?,
            other => {
                return Err(MeasureError::Unsupported(format!(
                    "there is no placement '{other}'"
                )));
            }
        };
        if here != there {
            sampler.remark(format!("between the processors {here} and {there}"))?;
        }
        Ok(Self { here, there })
    }

    /// The processor of the member with this number, when sides take turns.
    pub(super) fn of_member(self, number: usize) -> usize {
        if number.is_multiple_of(2) {
            self.here
        } else {
            self.there
        }
    }
}
