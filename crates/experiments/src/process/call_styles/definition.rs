//! The design of `process.call_styles`.

use crate::optimisation::{COMPILER, Optimisation};
use crate::prelude::*;

pub(super) const STYLE: AxisOf<Style> = AxisOf::new("style", "style");
pub(super) const ROWS: AxisOf<Count> = AxisOf::new("rows", "rows");

pub(super) const UNOPTIMISED: Metric<&str> = Metric::time("unoptimised", "time, optimisation 0");
pub(super) const OPTIMISED: Metric<&str> = Metric::time("optimised", "time, optimisation 3");
pub(super) const DEEPEST: Metric<&str> =
    Metric::gain("deepest", "deepest, optimisation 0", Unit::Count);
/// The metrics of time, and the levels they are measured at.
pub(super) const TIMES: [(Metric<&str>, Optimisation); 2] = [
    (UNOPTIMISED, Optimisation::NONE),
    (OPTIMISED, Optimisation::FULL),
];

/// A style of calling.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Inline,
    Function,
    Recursion,
    Fork,
    /// A program that does nothing is started for each row, which the parent then adds itself.
    Program,
}

impl Style {
    /// The styles that `system` has.
    pub(super) fn of(system: System) -> impl Iterator<Item = Self> {
        let styles = Self::ALL.iter().copied();
        styles.filter(move |style| *style != Self::Fork || system != System::Windows)
    }

    /// True if each row starts a process.
    pub(super) fn starts_processes(self) -> bool {
        matches!(self, Self::Fork | Self::Program)
    }
}

/// Steps of the inner loop.
pub(super) const STEPS: u64 = 16;

pub(super) const DESIGN: Design = Design {
    id: "process.call_styles",
    title: "Ways to call",
    question: "What does the same work cost inline, in a function, by recursion and in child \
               processes?",
    method: formatcp!(
        "A nested loop of rows, each of {STEPS} steps, adds up the exclusive or of its two \
         counters. Inline: both loops are in one function. Function: a function is called for \
         each row. Recursion: each row is a call from the previous row, so the recursion is as \
         deep as there are rows. The result of the inner call is hidden from the compiler, which \
         would otherwise turn the recursion into a loop. Fork: for each row the parent forks a \
         child, which returns its part of the sum through a pipe, and waits for it. Program: for \
         each row the parent starts a program that does nothing, waits for it, and adds the row \
         itself. Windows has no fork. All styles \
         give the same sum, which is checked each time. The loops are one source, compiled \
         without optimisation (0) and with full optimisation (3). Each process times both, in random \
         order. The time is that of the whole loop. The deepest recursion is the number of calls that the stack of this process holds, \
         computed from the size of a frame."
    ),
    source: "Report E, section 5.2",
    axes: &[STYLE.axis(), ROWS.axis(), COMPILER.axis()],
    metrics: &[UNOPTIMISED, OPTIMISED, DEEPEST],
};
