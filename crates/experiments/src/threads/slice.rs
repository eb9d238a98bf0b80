//! `threads.slice`: the length of a time slice, and the cost of the tick that ends it.

use super::kind::UserThreads;
use crate::estimates::of_values;
use crate::figures::curves;
use crate::prelude::*;

pub(crate) struct Slice;

pub(super) const SLICE: AxisOf<Count> = AxisOf::new("slice", "slice in µs");

pub(super) const GOT: Metric = Metric::fact("got", "slice got, median", Unit::Nanoseconds);
pub(super) const GOT_P99: Metric =
    Metric::fact("got_p99", "slice got, 99 of 100", Unit::Nanoseconds);
pub(super) const TICK: Metric = Metric::time("tick", "tick, median");
pub(super) const TICK_P99: Metric = Metric::fact("tick_p99", "tick, 99 of 100", Unit::Nanoseconds);
pub(super) const IN_TICKS: Metric = Metric::cost("in_ticks", "time spent in ticks", Unit::Share);

/// From this number of slices on, a process reports their percentile.
pub(super) const ENOUGH: usize = 100;

const DESIGN: Design = Design {
    id: "threads.slice",
    title: "Time slices",
    question: "How long does a time slice last, and what does the tick cost that ends it?",
    method: formatcp!(
        "Two user threads of the `uthread` library compute on one worker and never yield. A timer \
         signal ends each slice, and the other thread runs. Both read the processor's counter \
         without end. `got` is the time from a thread's first reading after one tick to its last \
         before the next. `tick` is the time from there to the other thread's first reading: the \
         signal, its handler, the choice of the next thread and the switch. `in_ticks` is the \
         median tick over the sum of both medians. The values at 99 of 100 come from processes \
         that saw {ENOUGH} slices or more. The first slice of each thread is left out, since it \
         does not begin at a tick."
    ),
    source: "common practice",
    axes: &[SLICE.open(20, 1_000_000)],
    metrics: &[GOT, GOT_P99, TICK, TICK_P99, IN_TICKS],
};

impl Experiment for Slice {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let slices_us: &[u64] = match setting.profile {
            Profile::Quick => &[200, 1000, 4000],
            Profile::Standard | Profile::Thorough => &[50, 100, 200, 500, 1000, 4000, 16_000],
        };
        [Point::new()].by(SLICE, slices_us.iter().copied().map(Count))
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        cost(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let line = results.series("two threads", IN_TICKS, SLICE, &[]);
        let title = "Time that ticks take, by slice";
        vec![curves(IN_TICKS, title, (SLICE, IN_TICKS), vec![line])]
    }
}

/// A level of the axis as a time.
pub(super) fn duration(Count(slice_us): Count) -> Quantity {
    Quantity::nanoseconds(slice_us as f64 * 1e3)
}

fn cost(results: &Results) -> Option<Finding> {
    let curve = results.along(SLICE, IN_TICKS, &[]);
    let (&(short, most), &(long, least)) = (curve.first()?, curve.last()?);
    let (most, least) = (most.quantity(), least.quantity());
    let follows = most.extent().low > least.extent().high;
    let said = sentence!(
        "Time slices of {short} cost user threads {most} of the processor for ticks and switches, \
         slices of {long} {least}.",
        short = duration(short),
        long = duration(long),
    );
    follows.then(|| of_values("cost", said, [most, least]).weighing(0.4))
}
