//! `process.fork_size`: what a fork costs as the process that forks grows.

use crate::estimates::{WithEstimate, difference, estimated, grade, ratio, scaled, side_by_side};
use crate::figures::{curves, logarithmic};
use crate::memory::pages::{self, PAGES};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use platform::call;
use platform::memory::Mapping;

/// What a fork costs as the process that forks grows.
pub(crate) struct ForkSize;

pub(super) const SIZE: &str = "resident_size";
pub(super) const COST: &str = "cost";

const MIB: u64 = 1 << 20;
/// No process takes more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;

impl Experiment for ForkSize {
    fn id(&self) -> &'static str {
        "process.fork_size"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Fork by resident size".into(),
            question: "What does a fork cost as the process that forks grows?".into(),
            method:
                "The parent maps private memory of the size, in pages of one size, and touches \
                     every page. Then it makes a child that ends at once, waits for it, and makes \
                     the next, n and then 2n times; the difference is the cost of one. The kernel \
                     copies the parent's page tables for each child and takes them down again; the \
                     pages themselves are shared, and neither side writes to them, so that the \
                     page faults of writing after a fork are not in the cost. The size does not \
                     count what the program itself has mapped, a few MiB. Touching the memory is \
                     not timed."
                    .into(),
            source: "common practice".into(),
            axes: vec![
                Axis::bytes(SIZE, "resident size"),
                Axis::choice(PAGES, "pages"),
            ],
            metrics: vec![Metric::new(
                COST,
                "fork+exit+wait",
                Unit::Nanoseconds,
                Better::Lower,
            )],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(SHARE_OF_MEMORY * 32 * MIB))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let machine = &setting.machine;
        // In the quick profile touching a GiB anew for each process would take all the time.
        let (base, huge): (&[u64], &[u64]) = match setting.profile {
            Profile::Quick => (&[1, 32, 256], &[32, 256]),
            _ => (&[1, 4, 16, 64, 256, 1024], &[4, 16, 64, 256, 1024]),
        };
        let points = [(pages::base(machine), base), (pages::huge(machine), huge)];
        points
            .into_iter()
            .filter_map(|(page, sizes)| Some((page?, sizes)))
            .flat_map(|(page, sizes)| {
                sizes.iter().map(move |size| {
                    let point = Point::new().with(SIZE, size * MIB);
                    (size * MIB, point.with(PAGES, page.as_str()))
                })
            })
            .filter(|(size, _)| size * SHARE_OF_MEMORY <= setting.available_bytes)
            .map(|(_, point)| point)
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let size = point.number(SIZE)?;
        let (page_size, _) = pages::meant_by(point.choice(PAGES)?)?;
        let mut memory = Mapping::anonymous(size as usize, page_size)?;
        memory.populate()?;
        if let Some(remark) = pages::remark(&memory, page_size)? {
            sampler.remark(remark)?;
        }
        sampler.repeat(COST, 1.0, |iterations| {
            Ok((0..iterations).try_for_each(|_| call::fork_exit_wait())?)
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let base = pages::base(results.machine);
        let huge = pages::huge(results.machine);
        let growth = base.as_deref().and_then(|page| growth(results, page));
        let gain = base
            .zip(huge)
            .and_then(|(base, huge)| gain(results, &base, &huge));
        growth.into_iter().chain(gain).collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let pages = [pages::base(results.machine), pages::huge(results.machine)];
        let lines = pages
            .into_iter()
            .flatten()
            .map(|pages| results.series(&pages, COST, SIZE, &[(PAGES, pages.as_str().into())]));
        let axes = (
            logarithmic("resident size", Unit::Bytes),
            logarithmic("fork+exit+wait", Unit::Nanoseconds),
        );
        let title = "Cost of a fork by the memory of its parent";
        vec![curves(COST, title, axes, lines.collect(), Vec::new())]
    }
}

fn curve<'r>(results: &'r Results, page: &str) -> Vec<(u64, &'r Estimate)> {
    results.curve(COST, SIZE, &[(PAGES, page.into())])
}

/// What each MiB adds, from the smallest process to the largest.
fn growth(results: &Results, page: &str) -> Option<Finding> {
    let curve = curve(results, page);
    let ((small_size, small), (large_size, large)) = (curve.first()?, curve.last()?);
    if small_size == large_size {
        return None;
    }
    let mibs = (large_size - small_size) as f64 / MIB as f64;
    let added = difference(&estimated(large), &estimated(small));
    let per_mib = scaled(&added, 1.0 / mibs);
    let template = format!(
        "Each MiB that a process has touched in {page} adds {{per_mib}} to its forks: \
         {{small}} with {{small_size}}, {{large}} with {{large_size}}. Start children from a small \
         process, or by posix_spawn, which copies no page tables."
    );
    let finding = Finding::new("growth", &template)
        .with("per_mib", &per_mib, Unit::Nanoseconds)
        .with("small", &estimated(small), Unit::Nanoseconds)
        .given("small_size", *small_size as f64, Unit::Bytes)
        .with("large", &estimated(large), Unit::Nanoseconds)
        .given("large_size", *large_size as f64, Unit::Bytes);
    Some(finding.graded(grade(&per_mib, 0.0)).weighing(0.6))
}

/// What huge pages save at the largest size that was measured with both.
fn gain(results: &Results, base: &str, huge: &str) -> Option<Finding> {
    let both = side_by_side(&curve(results, base), &curve(results, huge));
    let (size, with_base, with_huge) = *both.last()?;
    let times = ratio(with_base, with_huge)?;
    let template = format!(
        "A fork of a process that has touched {{size}} takes {{huge}} in {huge} and {{base}} in \
         {base}: {{times}} as long."
    );
    let finding = Finding::new("huge_pages", &template)
        .given("size", size as f64, Unit::Bytes)
        .with("huge", &estimated(with_huge), Unit::Nanoseconds)
        .with("base", &estimated(with_base), Unit::Nanoseconds)
        .with("times", &times, Unit::Ratio);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::{COST, ForkSize, MIB, PAGES, SIZE};
    use crate::made_up::{costs, count, finding, machine, measure, number, results, setting};
    use instrument::experiment::Experiment;
    use instrument::finding::Grade;
    use instrument::plan::Profile;
    use instrument::point::Point;
    use std::path::Path;

    fn point(mibs: u64, page: &str) -> Point {
        Point::new().with(SIZE, mibs * MIB).with(PAGES, page)
    }

    #[test]
    fn sizes_stay_within_the_memory_there_is() {
        let mut setting = setting(Profile::Standard);
        let largest = |setting: &_| {
            let sizes = ForkSize.points(setting).into_iter();
            sizes.filter_map(|point| point.number(SIZE).ok()).max()
        };
        assert_eq!(largest(&setting), Some(1024 * MIB));
        setting.available_bytes = 300 * MIB;
        assert_eq!(largest(&setting), Some(64 * MIB));
        setting.profile = Profile::Quick;
        assert!(ForkSize.points(&setting).len() <= 6);
    }

    #[test]
    fn the_slope_and_the_gain_of_huge_pages_are_told() {
        let (definition, machine) = (ForkSize.definition(), machine());
        let cost = |mibs: f64, per_mib: f64| 100e3 + per_mib * mibs;
        let points = [
            (1, "4 KiB pages", cost(1.0, 10e3)),
            (256, "4 KiB pages", cost(256.0, 10e3)),
            (256, "2 MiB pages", cost(256.0, 1e3)),
        ];
        let points = points.map(|(mibs, page, cost)| costs(point(mibs, page), &[(COST, cost)]));
        let findings = ForkSize.findings(&results(&definition, &machine, points.into()));
        let value = |key: &str, name: &str| {
            let finding = finding(&findings, key);
            assert_eq!(finding.grade, Grade::Certain);
            number(finding, name).value
        };
        assert!((value("growth", "per_mib") / 10e3 - 1.0).abs() < 0.01);
        assert!((value("huge_pages", "times") - 2660.0 / 356.0).abs() < 0.1);
    }

    #[test]
    fn one_size_has_no_slope() {
        let (definition, machine) = (ForkSize.definition(), machine());
        let points = vec![costs(point(1, "4 KiB pages"), &[(COST, 1e5)])];
        assert_eq!(
            ForkSize.findings(&results(&definition, &machine, points)),
            []
        );
    }

    #[test]
    fn a_fork_is_measured_here() {
        let (samples, _) =
            measure(&ForkSize, &point(1, "4 KiB pages"), Path::new("/")).expect("forks");
        assert!(count(&samples, COST) >= 1);
    }
}
