//! `process.fork_size`: the cost of a fork as the process that forks grows.

use crate::estimates::{by_ratio, found, grade, ratio};
use crate::figures::{curves, lines};
use crate::memory::pages::{self, AXIS as PAGES, Pages};
use crate::prelude::*;
use platform::call;
use platform::memory::Mapping;

pub(crate) struct ForkSize;

const SIZE: AxisOf<Bytes> = AxisOf::new("resident_size", "resident size");
const COST: Metric = Metric::time("cost", "fork+exit+wait");

/// A process takes at most one part in this many of the available memory.
const SHARE_OF_MEMORY: u64 = 4;

pub(super) const DESIGN: Design = Design {
    id: "process.fork_size",
    title: "Fork by resident size",
    question: "What does a fork cost as the process that forks grows?",
    method: "The parent maps private memory of the given size, in pages of one size, and touches \
             every page. Then it forks a child that ends at once, waits for it, and forks the \
             next, n times in each leg; the fixed cost that shorter legs show is subtracted. For \
             each child the kernel copies the parent's page tables and frees them again. The pages \
             themselves are shared and neither side writes to them, so the page faults of writes \
             after a fork are not in the cost. The size does not include the few MiB that the \
             program itself has mapped. Touching the memory is not timed.",
    source: "common practice",
    axes: &[SIZE.axis(), PAGES.axis()],
    metrics: &[COST],
};

impl Experiment for ForkSize {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(SHARE_OF_MEMORY * 32 * MIB))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let machine = &setting.machine;
        // In the quick profile, touching a GiB for each process would take all the time.
        let (base, huge): (&[u64], &[u64]) = match setting.profile {
            Profile::Quick => (&[1, 32, 256], &[32]),
            _ => (&[1, 4, 16, 64, 256, 1024], &[4, 16, 64, 256, 1024]),
        };
        let points = [(Pages::base(machine), base), (Pages::huge(machine), huge)];
        let points = points.into_iter().filter_map(|(page, sizes)| {
            let pages = page?;
            let sizes = sizes.iter().map(|mibs| mibs * MIB);
            let fitting = sizes.filter(|size| size * SHARE_OF_MEMORY <= setting.available_bytes);
            Some(fitting.map(move |size| point(Bytes(size), pages)))
        });
        points.flatten().collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(size) = point.level(SIZE)?;
        let (page_size, _) = point.level(PAGES)?.here()?;
        let mut memory = Mapping::anonymous(size as usize, page_size)?;
        memory.populate()?;
        pages::verify(sampler, &memory, page_size)?;
        sampler.repeat(COST, 1.0, |iterations| {
            Ok((0..iterations).try_for_each(|_| call::fork_exit_wait())?)
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let base = Pages::base(results.machine);
        let growth = base.and_then(|pages| growth(results, pages));
        found([growth, gain(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let title = "Cost of a fork by the memory of its parent";
        let lines = lines(results, COST, SIZE, PAGES, &[]);
        vec![curves(COST, title, (SIZE, COST), lines)]
    }
}

fn point(size: Bytes, pages: Pages) -> Point {
    Point::new().at(SIZE, size).at(PAGES, pages)
}

pub(super) fn by_size<'r>(results: &'r Results, pages: Pages) -> Vec<(Bytes, &'r Estimate)> {
    results.along(SIZE, COST, &[PAGES.at(pages)])
}

/// The cost that each MiB adds, from the smallest process to the largest.
fn growth(results: &Results, pages: Pages) -> Option<Finding> {
    let costs = by_size(results, pages);
    let (&(small_size, small), &(large_size, large)) = (costs.first()?, costs.last()?);
    if small_size == large_size {
        return None;
    }
    let mibs = (large_size.0 - small_size.0) as f64 / MIB as f64;
    let added = large.quantity().minus(small.quantity());
    let per_mib = added.times(1.0 / mibs);
    let said = sentence!(
        "Each MiB that a process has touched in {pages} adds {per_mib} to its forks: {small} with \
         {small_size}, {large} with {large_size}. posix_spawn copies no page tables."
    );
    // A cost that falls with the size is noise, and no reason for the sentence's advice.
    let follows = per_mib.value > 0.0;
    let finding = Finding::new("growth", said);
    follows.then(|| finding.graded(grade(&per_mib, 0.0)).weighing(0.85))
}

/// The saving by huge pages at the largest size that was measured with both.
fn gain(results: &Results) -> Option<Finding> {
    let both = pages::in_both(results.machine, |pages| by_size(results, pages));
    let &(size, base, huge) = both.last()?;
    let times = ratio(base, huge)?;
    let said = sentence!(
        "A fork of a process that has touched {size} in {base_page} takes {base}, {times} as long as \
         in {huge_page}.",
        base_page = Pages::base(results.machine)?,
        huge_page = Pages::huge(results.machine)?,
    );
    Some(by_ratio("huge_pages", said, &times).weighing(0.8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn sizes_stay_within_the_memory_there_is() {
        let mut setting = setting(Profile::Standard);
        let largest = |setting: &_| {
            let sizes = ForkSize.points(setting).into_iter();
            sizes.filter_map(|point| point.level(SIZE).ok()).max()
        };
        assert_eq!(largest(&setting), Some(Bytes(1024 * MIB)));
        setting.available_bytes = 300 * MIB;
        assert_eq!(largest(&setting), Some(Bytes(64 * MIB)));
    }
}
