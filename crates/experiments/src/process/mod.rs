//! The group `process`.

pub(crate) mod advice;
pub(crate) mod call_styles;
mod calls;
pub(crate) mod claims;
mod fork_size;
mod ipc;
mod poll;
mod scale;
mod switch;
mod wakeup;

use crate::other_core::needed_cpu_of_another_core;
use crate::prelude::*;
use platform::placement::{current_cpu, pin_to};

/// The experiments of the group, in the order in which they run.
pub(crate) const ALL: &[&dyn Experiment] = &[
    &calls::Calls,
    &call_styles::CallStyles,
    &fork_size::ForkSize,
    &switch::Switch,
    &ipc::Ipc,
    &wakeup::Wakeup,
    &poll::Poll,
    &scale::Scale,
];

const PLACEMENT: AxisOf<Placement> = AxisOf::new("placement", "placement");

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    OneCore,
    TwoCores,
}

#[derive(Clone, Copy, Debug)]
struct Sides {
    /// The processor that this process is pinned to.
    pub here: usize,
    pub there: usize,
}

impl Placement {
    /// Pins this process to the processor it runs on, and finds one for its partner.
    ///
    /// # Errors
    /// If there is no second core.
    fn take(self, sampler: &mut Sampler<'_>) -> Result<Sides, MeasureError> {
        let here = current_cpu().unwrap_or(0);
        pin_to(&[here])?;
        let there = match self {
            Self::OneCore => here,
            Self::TwoCores => needed_cpu_of_another_core()?,
        };
        if here != there {
            sampler.remark(format!("between the processors {here} and {there}"));
        }
        Ok(Sides { here, there })
    }
}

impl Sides {
    /// The processor of member `number` of a ring whose members alternate between the sides.
    fn of_member(self, number: usize) -> usize {
        if number.is_multiple_of(2) {
            self.here
        } else {
            self.there
        }
    }
}
