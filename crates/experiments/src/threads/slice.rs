//! `threads.slice`: the length of a time slice, and the cost of the tick that ends it.

use super::kind::UserThreads;
use crate::estimates::{by_width, known};
use crate::figures::{axis_of, curves, scale_of};
use crate::judging::MARGIN;
use crate::prelude::*;

pub(crate) struct Slice;

pub(super) const SLICE: AxisOf<Count> = AxisOf::new("slice", "slice in µs");

pub(super) const GOT: Metric<&str> = Metric::fact("got", "slice got, median", Unit::Nanoseconds);
pub(super) const GOT_P99: Metric<&str> =
    Metric::fact("got_p99", "slice got, 99 of 100", Unit::Nanoseconds);
pub(super) const TICK: Metric<&str> = Metric::time("tick", "tick, median");
pub(super) const TICK_P99: Metric<&str> =
    Metric::fact("tick_p99", "tick, 99 of 100", Unit::Nanoseconds);
pub(super) const IN_TICKS: Metric<&str> =
    Metric::cost("in_ticks", "time spent in ticks", Unit::Share);

/// From this number of slices on, a process reports their percentile.
pub(super) const ENOUGH: usize = 100;
/// The slice that the first sentence is about, if it was measured.
const USUAL: Count = Count(1000);

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
    axes: &[SLICE.axis()],
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
        let point = |slice_us: &u64| Point::new().at(SLICE, Count(*slice_us));
        slices_us.iter().map(point).collect()
    }

    fn open_axes(&self) -> &'static [OpenAxis] {
        const { &[SLICE.open(20, 1_000_000)] }
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let findings = [length(results), cost(results)];
        findings.into_iter().flatten().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let line = results.series("two threads", IN_TICKS, SLICE, &[]);
        let axes = (axis_of(SLICE), scale_of(IN_TICKS));
        let title = "Time that ticks take, by slice";
        vec![curves(IN_TICKS, title, axes, vec![line], Vec::new())]
    }
}

/// A level of the axis as a time.
pub(super) fn duration(Count(slice_us): Count) -> Quantity {
    Quantity::nanoseconds(slice_us as f64 * 1e3)
}

/// The usual slice as it is; if it was not measured, the shortest one.
fn length(results: &Results) -> Option<Finding> {
    let curve = results.along(SLICE, GOT, &[]);
    let usual = curve.iter().find(|(slice, _)| *slice == USUAL);
    let &(slice, got) = usual.or(curve.first())?;
    let asked = duration(slice);
    let tick = results.sound(TICK, &[SLICE.at(slice)])?;
    let unexplained = (asked.value - got.centre - tick.centre) / asked.value;
    let rest = if unexplained.abs() < MARGIN {
        sentence!(": the tick of {tick} takes the rest")
    } else {
        Sentence::default()
    };
    let longest = match results.sound(GOT_P99, &[SLICE.at(slice)]) {
        Some(p99) => sentence!(" One slice in a hundred lasts {p99} or more."),
        None => Sentence::default(),
    };
    let said =
        sentence!("Of a slice of {asked}, a user thread that computes gets {got}{rest}.{longest}");
    Some(
        Finding::new("length", said)
            .graded(by_width(got))
            .weighing(0.5),
    )
}

fn cost(results: &Results) -> Option<Finding> {
    let curve = results.along(SLICE, IN_TICKS, &[]);
    let (&(short, most), &(long, least)) = (curve.first()?, curve.last()?);
    let (most, least) = (most.quantity(), least.quantity());
    let follows = most.extent().low > least.extent().high;
    let said = sentence!(
        "Slices of {short} leave {most} of the processor to ticks, slices of {long} {least}.",
        short = duration(short),
        long = duration(long),
    );
    let grade = known(&[&most, &least]);
    follows.then(|| Finding::new("cost", said).graded(grade).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{assert_said, findings, judgement, measured};
    use crate::threads::claims;
    use instrument::claim::Ruling;
    use instrument::results::PointResult;

    /// A point at which a slice lasts `got_ns` and each tick takes `tick_ns`.
    fn at(slice_us: u64, got_ns: f64, tick_ns: f64) -> PointResult {
        let values = [
            (GOT, got_ns),
            (TICK, tick_ns),
            (IN_TICKS, tick_ns / (got_ns + tick_ns)),
        ];
        measured(Point::new().at(SLICE, Count(slice_us)), &values)
    }

    #[test]
    fn the_usual_slice_and_the_price_of_short_ones_are_stated() {
        let exact = |slice_us: u64| at(slice_us, slice_us as f64 * 1e3 - 10e3, 10e3);
        let usual = "Certain length: Of a slice of 1.00 ms…gets 990 µs: …takes the rest.";
        let cost = "Certain cost: Slices of 200 µs leave 5.00 %";
        let mut late = at(500, 600e3, 10e3);
        let longest = measured(late.point.clone(), &[(GOT_P99, 700e3)]);
        late.estimates.extend(longest.estimates);
        for (points, expected) in [
            (
                vec![exact(200), exact(1000), exact(16_000)],
                &[usual, cost][..],
            ),
            // Its cost does not explain that a tick is late.
            (
                vec![late, exact(4000)],
                &[
                    "length: …gets 600 µs. One slice in a hundred lasts 700 µs",
                    "cost",
                ],
            ),
            (vec![exact(1000)], &[usual]),
            // The long slice costs as much.
            (vec![exact(200), at(4000, 3800e3, 200e3)], &["length"]),
            (Vec::new(), &[]),
        ] {
            assert_said(&findings(&Slice, points), expected);
        }
    }

    #[test]
    fn all_slices_below_those_of_textbooks_decide_what_slices_cost() {
        for (shares, expected) in [
            (
                &[(200, 0.05), (4000, 0.002), (16_000, 0.05)][..],
                Ruling::HoldsInPart,
            ),
            (&[(200, 0.005), (4000, 0.002)], Ruling::DoesNotHold),
            (&[(4000, 0.05), (16_000, 0.002)], Ruling::Holds),
            (&[(4000, 0.01)], Ruling::Undecided),
            (&[(16_000, 0.002)], Ruling::Undecided),
        ] {
            let points = shares.iter().map(|(slice_us, share)| {
                let point = Point::new().at(SLICE, Count(*slice_us));
                measured(point, &[(IN_TICKS, *share)])
            });
            let (key, points) = ("short_slices_cost_too_much", points.collect());
            assert_eq!(judgement(claims::ALL, key, &Slice, points).ruling, expected);
        }
    }
}
