//! `threads.slice`: the length of a time slice, and the cost of the tick that ends it.

use super::kind::UserThreads;
use crate::estimates::{known, told};
use crate::figures::{axis_of, curves, scale_of};
use crate::judging::MARGIN;
use crate::prelude::*;

/// The length of a time slice, and the cost of the tick that ends it.
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
    Some(Finding::new("length", said).graded(told(got)).weighing(0.5))
}

/// The price of short slices.
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
    use super::super::claims::short_slices_cost;
    use super::{GOT, GOT_P99, IN_TICKS, SLICE, Slice, TICK, TICK_P99};
    use crate::made_up::{figures, finding, findings, machine, measured, results, setting, value};
    use crate::prelude::*;
    use instrument::claim::{Evidence, Ruling};
    use instrument::results::PointResult;

    /// A point at which a slice lasts `got_ns` and each tick takes `tick_ns`.
    fn at(slice_us: u64, got_ns: f64, tick_ns: f64) -> PointResult {
        let values = [
            (GOT, got_ns),
            (TICK, tick_ns),
            (TICK_P99, 2.0 * tick_ns),
            (IN_TICKS, tick_ns / (got_ns + tick_ns)),
        ];
        measured(Point::new().at(SLICE, Count(slice_us)), &values)
    }

    fn exact(slice_us: u64) -> PointResult {
        at(slice_us, slice_us as f64 * 1e3 - 10e3, 10e3)
    }

    #[test]
    fn the_usual_slice_and_the_price_of_short_ones_are_told() {
        let points = vec![exact(200), exact(1000), exact(16_000)];
        let found = findings(&Slice, points.clone());
        assert!((value(&found, "length", "got") - 990e3).abs() < 1e3);
        let said = finding(&found, "length").sentence.to_string();
        assert!(
            said.contains("takes the rest") && !said.contains("in a hundred"),
            "{said}"
        );
        assert!((value(&found, "cost", "most") - 0.05).abs() < 1e-3);
        assert!(
            found.iter().all(|it| it.grade == Grade::Certain),
            "{found:?}"
        );
        assert_eq!(figures(&Slice, points)[0].series[0].points.len(), 3);
    }

    #[test]
    fn a_late_tick_is_told_and_not_explained_by_its_cost() {
        let mut late = at(500, 600e3, 10e3);
        let point = late.point.clone();
        late.estimates
            .extend(measured(point, &[(GOT_P99, 700e3)]).estimates);
        let found = findings(&Slice, vec![late, exact(4000)]);
        let said = finding(&found, "length").sentence.to_string();
        assert!(!said.contains("the rest"), "{said}");
        assert!((value(&found, "length", "p99") - 700e3).abs() < 1e3);
    }

    #[test]
    fn one_slice_has_no_price_and_none_is_told_where_short_ones_cost_no_more() {
        let keys = |points| -> Vec<String> {
            let found = findings(&Slice, points).into_iter();
            found.map(|it| it.key).collect()
        };
        assert_eq!(keys(vec![exact(1000)]), ["length"]);
        let as_dear = at(4000, 3800e3, 200e3);
        assert_eq!(keys(vec![exact(200), as_dear]), ["length"]);
        assert!(keys(Vec::new()).is_empty());
    }

    #[test]
    fn the_quick_profile_has_few_slices_all_of_which_are_in_the_others() {
        let quick = Slice.points(&setting(Profile::Quick));
        let standard = Slice.points(&setting(Profile::Standard));
        assert!(quick.len() <= 3 && quick.iter().all(|point| standard.contains(point)));
    }

    #[test]
    fn the_longest_slice_below_those_of_textbooks_decides_what_slices_cost() {
        let judged = |shares: &[(u64, f64)]| {
            let points = shares.iter().map(|(slice_us, share)| {
                let point = Point::new().at(SLICE, Count(*slice_us));
                measured(point, &[(IN_TICKS, *share)])
            });
            let (definition, machine) = (Slice.definition(), machine());
            let results = [results(&definition, &machine, points.collect())];
            short_slices_cost(&Evidence::new(&results)).map(|it| it.ruling)
        };
        let cheap = [(200, 0.05), (4000, 0.002), (16_000, 0.05)];
        assert_eq!(judged(&cheap), Some(Ruling::DoesNotHold));
        let dear = [(4000, 0.05), (16_000, 0.002)];
        assert_eq!(judged(&dear), Some(Ruling::Holds));
        assert_eq!(judged(&[(4000, 0.01)]), Some(Ruling::CannotBeTold));
        assert_eq!(judged(&[(16_000, 0.002)]), None);
    }
}
