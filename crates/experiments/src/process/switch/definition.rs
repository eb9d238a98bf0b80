//! The design of `process.switch`.

use super::super::placement::{PLACEMENT, Placement};
use crate::prelude::*;

pub(super) const KIND: AxisOf<Kind> = AxisOf::new("kind", "kind");
pub(super) const COUNT: AxisOf<Count> = AxisOf::new("count", "number");
pub(super) const WORKING_SET: AxisOf<Bytes> = AxisOf::new("working_set", "working set");

pub(super) const SWITCH: Metric<&str> = Metric::time("switch", "context switch");
pub(super) const PASS: Metric<&str> = Metric::time("pass", "pass of the token");
pub(super) const ALONE: Metric<&str> = Metric::time("alone", "pass without a switch");

/// The members of a ring.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::process) enum Kind {
    Processes,
    Threads,
}

/// The ring of `count` members.
pub(super) fn point_of(
    kind: Kind,
    count: Count,
    working_set: Bytes,
    placement: Placement,
) -> Point {
    Point::new()
        .at(KIND, kind)
        .at(COUNT, count)
        .at(WORKING_SET, working_set)
        .at(PLACEMENT, placement)
}

pub(in crate::process) const DESIGN: Design = Design {
    id: "process.switch",
    title: "Context switches",
    question: "What does a context switch between processes or threads cost, and how does it grow with \
               their number and their working sets?",
    method: "Processes, or threads of one process, form a ring. Each member waits at a pipe for a \
             token of 1 byte, reads its whole working set, and writes the token into the pipe of \
             the next member. Only one member runs at a time. `pass` is the median time of a \
             round divided by the number of members; the clock's cost is subtracted. `alone` is \
             the same work without a switch: one member sends the token to itself through a pipe \
             and reads its working set, repeatedly. `switch` is pass minus alone, measured in the \
             same process. It contains the work of the scheduler, for processes the change of \
             address space, and the refill of caches and TLBs that other members have displaced. \
             On two cores it contains the wakeup of the other core. On one core, all members are \
             pinned to the same processor. On two cores, each member passes the token to one on \
             the other core. Memory is in base pages.",
    source: "common practice, after lmbench's lat_ctx",
    axes: &[
        KIND.axis(),
        COUNT.axis(),
        WORKING_SET.axis(),
        PLACEMENT.axis(),
    ],
    metrics: &[SWITCH, PASS, ALONE],
};
