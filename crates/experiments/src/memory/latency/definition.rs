//! Axes, metrics and method of `memory.latency`.

use crate::memory::hierarchy::MODEL;
use crate::memory::pages;
use crate::prelude::*;

pub(in crate::memory) const WORKING_SET: AxisOf<Bytes> = AxisOf::new("working_set", "working set");
pub(in crate::memory) const STRIDE: AxisOf<Bytes> = AxisOf::new("stride", "stride");
pub(in crate::memory) use pages::AXIS as PAGES;
pub(in crate::memory) const LOAD: Metric<&str> =
    Metric::time("load", "load").bounded(SHORTEST_LOAD_NS);

/// A load from the nearest cache takes several cycles; no processor does ten in a nanosecond.
const SHORTEST_LOAD_NS: f64 = 0.1;
/// The usual length of a cache line: the shortest stride at which each place has its own.
pub(super) const SHORTEST_STRIDE: Bytes = Bytes(64);

pub(super) const DESIGN: Design = Design {
    id: "memory.latency",
    title: "Load latency by working set",
    question: "How long does a program wait for a value from each cache and from memory, and how large \
               is each cache?",
    method: formatcp!(
        "A chain of addresses lies in memory, one in each stride, linked in random order. Each \
         load yields the address of the next, so loads cannot overlap and the processor cannot \
         prefetch. The time of a load is that of n steps over n, less the fixed cost that fewer \
         steps show; each leg continues where the last ended. Untimed steps before that bring what \
         fits into the caches. Huge pages keep address translation out of the time, and are \
         verified; base pages include it. Capacities are found from the curve with the largest \
         pages and the smallest stride, {MODEL}."
    ),
    source: "common practice (lmbench's lat_mem_rd, in random order)",
    axes: &[WORKING_SET.axis(), STRIDE.axis(), PAGES.axis()],
    metrics: &[LOAD],
};
