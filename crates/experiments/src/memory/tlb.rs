//! `memory.tlb`: how many pages a program may use in turn before the translation of addresses costs.

use super::chain::time_loads;
use super::pages::{self, PAGES};
use crate::estimates::{WithEstimate, difference, estimated, extra_cost, ratio, side_by_side};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale};
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use instrument::statistics::random::Random;

/// How many pages a program may use in turn before the translation of addresses costs.
pub(crate) struct Tlb;

const STRIDES: &str = "strides";
const LOAD: &str = "load";

/// The distance of the places, in bytes: the smallest page of every machine, so that both page sizes
/// use the same places.
const STRIDE: usize = 4096;
/// The usual length of a cache line; each place is at a line of its own within its stride.
const LINE: usize = 64;
const FEWEST: u64 = 16;
const MOST: u64 = 1 << 15;
/// The places take no more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;
const LEAST_MEMORY: u64 = 1024 * STRIDE as u64 * SHARE_OF_MEMORY;
/// A load that takes this much longer is seen to be slowed down.
const SLOWED_DOWN: f64 = 1.1;

impl Experiment for Tlb {
    fn id(&self) -> &'static str {
        "memory.tlb"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Address translation by number of pages".into(),
            question:
                "How many pages can a program use in turn before translating their addresses \
                       slows it down, and what do larger pages save?"
                    .into(),
            method:
                "A chain of addresses, one in each 4 KiB at a line drawn by lot, is followed in \
                     random order: each load gives the address of the next. In base pages each \
                     step needs another page's translation, in huge pages hundreds of steps share \
                     one, while the caches have the same lines to hold; so what the two differ by \
                     is translation. That huge pages are there is verified. The time of a load is \
                     the difference of 2n and n steps."
                    .into(),
            source: "common practice (lmbench's tlb)".into(),
            axes: vec![
                Axis::count(STRIDES, "places, 4 KiB apart"),
                Axis::choice(PAGES, "pages"),
            ],
            metrics: vec![Metric::new(LOAD, "load", Unit::Nanoseconds, Better::Lower)],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    /// In huge pages the curve is smooth, and the quick profile looks at every second point.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let possible = setting.available_bytes / SHARE_OF_MEMORY / STRIDE as u64;
        let most = possible.min(match setting.profile {
            Profile::Quick => MOST / 2,
            Profile::Standard | Profile::Thorough => MOST,
        });
        let counts: Vec<u64> = (FEWEST.ilog2()..=most.max(1).ilog2())
            .map(|exponent| 1 << exponent)
            .filter(|count| (FEWEST..=most).contains(count))
            .collect();
        let point =
            |count: &u64, pages: &str| Point::new().with(STRIDES, *count).with(PAGES, pages);
        let base = pages::base(&setting.machine);
        let huge = pages::huge(&setting.machine);
        let step = if setting.profile == Profile::Quick {
            2
        } else {
            1
        };
        let in_base = base
            .iter()
            .flat_map(|pages| counts.iter().map(move |count| point(count, pages)));
        let in_huge = huge.iter().flat_map(|pages| {
            let wanted = counts.iter().step_by(step);
            wanted.map(move |count| point(count, pages))
        });
        in_base.chain(in_huge).collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let places = point.number(STRIDES)? as usize;
        let line =
            |place: usize, random: &mut Random| place * STRIDE + random.below(STRIDE / LINE) * LINE;
        let pages = point.choice(PAGES)?;
        time_loads(sampler, LOAD, pages, places * STRIDE, places, line)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let pairs = pairs(results);
        let mut findings: Vec<Finding> = most(results, &pairs).into_iter().collect();
        findings.extend(reach(results, &pairs));
        findings
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let pages = [pages::base(results.machine), pages::huge(results.machine)];
        let lines = pages.into_iter().flatten();
        let series = lines
            .map(|pages| results.series(&pages, LOAD, STRIDES, &[(PAGES, pages.as_str().into())]));
        vec![Figure {
            key: LOAD.into(),
            title: "Loads from many pages".into(),
            kind: FigureKind::Curve,
            x: FigureAxis {
                title: "places, 4 KiB apart".into(),
                unit: Some(Unit::Count),
                scale: FigureScale::Logarithmic,
            },
            y: FigureAxis {
                title: "time of a load".into(),
                unit: Some(Unit::Nanoseconds),
                scale: FigureScale::Linear,
            },
            series: series.collect(),
            marks: Vec::new(),
        }]
    }
}

/// A number of places that was measured in both page sizes.
struct Pair<'r> {
    count: u64,
    base: &'r Estimate,
    huge: &'r Estimate,
}

fn pairs<'r>(results: &'r Results) -> Vec<Pair<'r>> {
    let curve = |pages: Option<String>| {
        let level = pages.unwrap_or_default();
        results.curve(LOAD, STRIDES, &[(PAGES, level.as_str().into())])
    };
    let huge = curve(pages::huge(results.machine));
    let base = curve(pages::base(results.machine));
    let both = side_by_side(&base, &huge).into_iter();
    both.map(|(count, base, huge)| Pair { count, base, huge })
        .collect()
}

/// The most places that were measured in both page sizes, and their loads in base and in huge pages.
pub(super) fn in_both_pages<'r>(results: &'r Results) -> Option<(u64, &'r Estimate, &'r Estimate)> {
    let most = pairs(results).pop()?;
    Some((most.count, most.base, most.huge))
}

/// What translation costs where most pages are in use.
fn most(results: &Results, pairs: &[Pair<'_>]) -> Option<Finding> {
    let pair = pairs.last()?;
    let extra = difference(&estimated(pair.base), &estimated(pair.huge));
    let template = format!(
        "With {{count}} pages in use, a load in {} takes {{base}} and one in {} {{huge}}: \
         translating an address costs {{extra}}.",
        pages::base(results.machine)?,
        pages::huge(results.machine)?
    );
    let finding = Finding::new("translation", &template)
        .given("count", pair.count as f64, Unit::Count)
        .with("base", &estimated(pair.base), Unit::Nanoseconds)
        .with("huge", &estimated(pair.huge), Unit::Nanoseconds)
        .with("extra", &extra, Unit::Nanoseconds);
    Some(finding.graded(extra_cost(&extra)).weighing(0.6))
}

/// Up to how many pages translation costs nothing.
fn reach(results: &Results, pairs: &[Pair<'_>]) -> Option<Finding> {
    let is_slow = |pair: &Pair<'_>| {
        let ratio = ratio(pair.base, pair.huge)?;
        let interval = ratio.interval?;
        Some(interval.low > 1.0 && ratio.centre > SLOWED_DOWN)
    };
    let first_slow = pairs.iter().position(|pair| is_slow(pair) == Some(true))?;
    let is_lasting = pairs[first_slow..]
        .iter()
        .all(|pair| is_slow(pair) == Some(true));
    let last_fast = pairs.get(first_slow.checked_sub(1)?)?;
    let template = format!(
        "Up to {{free}} of the {} ({{free_bytes}}) are translated at no cost that shows; from \
         {{slow}} on, loads are slowed down.",
        pages::base(results.machine)?
    );
    let finding = Finding::new("reach", &template)
        .given("free", last_fast.count as f64, Unit::Count)
        .given(
            "free_bytes",
            last_fast.count as f64 * STRIDE as f64,
            Unit::Bytes,
        )
        .given("slow", pairs[first_slow].count as f64, Unit::Count);
    let grade = if is_lasting {
        Grade::Certain
    } else {
        Grade::Likely
    };
    Some(finding.graded(grade).weighing(0.6))
}

#[cfg(test)]
mod tests {
    use super::{LOAD, STRIDES, Tlb};
    use crate::made_up::{count, machine, measure, result, results, setting, value};
    use crate::memory::pages::{self, PAGES};
    use instrument::experiment::Experiment;
    use instrument::finding::Finding;
    use instrument::plan::Profile;
    use instrument::point::Point;
    use instrument::results::PointResult;
    use platform::machine::Machine;
    use std::path::Path;

    fn at(count: u64, pages: &str, load: f64) -> PointResult {
        let point = Point::new().with(STRIDES, count).with(PAGES, pages);
        result(point, &[(LOAD, load)])
    }

    fn found(points: Vec<PointResult>) -> Vec<Finding> {
        let (definition, machine) = (Tlb.definition(), machine());
        Tlb.findings(&results(&definition, &machine, points))
    }

    #[test]
    fn pages_beyond_the_reach_cost_and_larger_ones_do_not() {
        let mut points = Vec::new();
        for (count, base) in [(16, 2.0), (64, 2.0), (256, 4.0), (1024, 6.0)] {
            points.push(at(count, "4 KiB pages", base));
            points.push(at(count, "2 MiB pages", 2.0));
        }
        let found = found(points);
        let value = |key, name| value(&found, key, name);
        assert!((value("translation", "extra") - 4.0).abs() < 0.1);
        assert!((value("reach", "free") - 64.0).abs() < 1e-9);
        assert!((value("reach", "slow") - 256.0).abs() < 1e-9);
    }

    #[test]
    fn without_a_second_page_size_nothing_is_claimed() {
        assert!(found(vec![at(16, "4 KiB pages", 2.0)]).is_empty());
        assert!(found(Vec::new()).is_empty());
    }

    #[test]
    fn the_quick_profile_takes_few_points() {
        let count = |profile| Tlb.points(&setting(profile)).len();
        assert!(count(Profile::Quick) <= 17, "{}", count(Profile::Quick));
        assert!(count(Profile::Standard) > count(Profile::Quick));
    }

    #[test]
    fn a_load_is_timed_here() {
        let Some(base) = pages::base(&Machine::read()) else {
            println!("skipped: the system does not tell its page size");
            return;
        };
        let point = Point::new().with(STRIDES, 64).with(PAGES, base.as_str());
        let (samples, _) = measure(&Tlb, &point, Path::new("/")).expect("memory works");
        assert!(count(&samples, LOAD) >= 1);
    }
}
