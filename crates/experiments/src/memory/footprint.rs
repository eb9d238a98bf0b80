//! `memory.footprint`: the part of a cache that is left to data, by the optimisation of the code.

use super::hierarchy::{DataCache, caches, found, in_words, marks};
use crate::estimates::{certain_if, ratio};
use crate::figures::{curves, logarithmic};
use crate::judging::exceeds;
use crate::optimisation::{self, COMPILER, Compiler, Optimisation};
use crate::prelude::*;
use instrument::statistics::Interval;
use kernels::levels::Level;
use platform::machine::{CacheKind, Machine};
use platform::memory::{Mapping, PageSize};
use std::collections::BTreeSet;
use std::hint::black_box;

pub(crate) struct Footprint;

pub(super) const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block size");
/// A metric for each level of optimisation.
pub(super) const METRICS: [(Metric, Level); 4] = [
    (write("optimisation_0", "write, optimisation 0"), Level::O0),
    (write("optimisation_1", "write, optimisation 1"), Level::O1),
    (write("optimisation_2", "write, optimisation 2"), Level::O2),
    (write("optimisation_3", "write, optimisation 3"), Level::O3),
];

const SMALLEST: u64 = 4 * KIB;
/// The size assumed for the cache if none is documented.
const USUAL_CACHE: u64 = 1024 * KIB;
/// With fewer sizes than this no drop would show.
const FEWEST_SIZES: usize = 8;
/// Beyond a cache that shows, the loop writes at least this many times more slowly.
const DROP: f64 = 1.1;
/// The caches settle while this much is written.
const WARMING_BYTES: u64 = 64 << 20;
/// 64 bytes a cycle at 10 GHz: the loops are compiled for any processor of the architecture.
const MOST_BYTES_PER_SECOND: f64 = 64.0 * 10e9;

const fn write(name: &'static str, title: &'static str) -> Metric {
    Metric::bandwidth(name, title).bounded(MOST_BYTES_PER_SECOND)
}

const DESIGN: Design = Design {
    id: "memory.footprint",
    title: "Part of a cache that is left to data",
    question: "How much of the cache that code and data share is left to data, and does the \
               compiler's optimisation change that?",
    method: "A plain loop stores 8-byte words into a block from start to end, in repeated passes. It is \
             one source, compiled at optimisation 0 to 3. Sizes go up to twice the first cache that \
             holds both code and data, in fine steps. The model of memory.bandwidth finds the size at \
             which the bandwidth drops. Code, stack and system hold what is missing between that and \
             the documented size, or it is lost because base pages, scattered over memory, compete for \
             the same part of the cache. If the loop is slower than the next cache delivers, nothing \
             drops.",
    source: "Report E, section 3.2",
    axes: &[BLOCK_SIZE.axis(), COMPILER.axis()],
    metrics: &[METRICS[0].0, METRICS[1].0, METRICS[2].0, METRICS[3].0],
};

impl Experiment for Footprint {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(4 * shared_bytes(&setting.machine)))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let compilers = match setting.profile {
            Profile::Thorough => Compiler::ALL,
            Profile::Quick | Profile::Standard => &[Compiler::Rust],
        };
        let sizes = block_sizes(setting).into_iter().map(Bytes);
        let sizes = [Point::new()].by(BLOCK_SIZE, sizes);
        sizes.by(COMPILER, compilers)
    }

    fn shares_process(&self, _point: &Point) -> bool {
        true
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Core)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (Bytes(size), word) = (point.level(BLOCK_SIZE)?, sampler.seed());
        let compiler = point.level(COMPILER)?;
        let mut mapping = Mapping::anonymous(size as usize, PageSize::Base)?;
        let block = mapping.as_mut_slice();
        for _ in 0..(WARMING_BYTES / size).max(1) {
            kernels::write(black_box(&mut *block), word);
        }
        let mut metrics = METRICS;
        Random::new(sampler.seed()).shuffle(&mut metrics);
        for (metric, level) in metrics {
            let loops = optimisation::loops(compiler, Optimisation(level), sampler);
            sampler.repeat(metric, size as f64, |passes| {
                for _ in 0..passes {
                    loops.write(black_box(&mut *block), word);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        held(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = METRICS.map(|(metric, level)| {
            let label = format!("optimisation {}", level.digit());
            let by_rust = [COMPILER.at(Compiler::Rust)];
            results.series(&label, metric, BLOCK_SIZE, &by_rust)
        });
        let axes = (BLOCK_SIZE, logarithmic("bandwidth", Unit::BytesPerSecond));
        let found = found(&curve(results, METRICS[3].0), results.machine);
        let title = "Writing, by the optimisation of the loop";
        vec![Figure {
            marks: marks(&found, results.machine),
            ..curves("bandwidth", title, axes, series.into())
        }]
    }
}

/// The first cache that is documented to hold code and data alike.
fn shared_cache(machine: &Machine) -> Option<DataCache> {
    let shared = caches(machine, |kind| kind == CacheKind::Unified);
    shared.min_by_key(|cache| (cache.level, cache.size))
}

fn shared_bytes(machine: &Machine) -> u64 {
    shared_cache(machine).map_or(USUAL_CACHE, |cache| cache.size.0)
}

/// From 4 KiB to twice the cache, in fine steps about the cache.
fn block_sizes(setting: &Setting) -> BTreeSet<u64> {
    let cache = shared_bytes(&setting.machine);
    let parts = match setting.profile {
        Profile::Quick => 8,
        Profile::Standard => 16,
        Profile::Thorough => 32,
    };
    let fine = (1..=2 * parts).map(|part| cache / parts * part);
    // Beyond one and a half of it, every second step shows where the curve goes.
    let fine =
        fine.filter(|size| 2 * size <= 3 * cache || (size / (cache / parts)).is_multiple_of(2));
    let coarse = [SMALLEST, 4 * SMALLEST].into_iter();
    let words = |size: u64| size / KIB * KIB;
    coarse
        .chain(fine)
        .map(words)
        .filter(|size| *size >= SMALLEST)
        .collect()
}

/// The bandwidths of the Rust loops at one level of optimisation, by block size.
fn curve<'r>(results: &'r Results, metric: Metric) -> Vec<(Bytes, &'r Estimate)> {
    results.along(BLOCK_SIZE, metric, &[COMPILER.at(Compiler::Rust)])
}

/// The mean departure of the rate at a size from the line through its neighbours, as a share, among the blocks
/// of at most half the cache. Its interval is as wide as the intervals of the rates allow at most.
pub(super) fn unevenness(results: &Results, level: usize) -> Option<Quantity> {
    let cache = shared_cache(results.machine)?;
    let mut curve = curve(results, METRICS[level].0);
    curve.retain(|(size, _)| 2 * size.0 <= cache.size.0);
    let bends: Vec<(f64, f64)> = curve
        .windows(3)
        .map(|three| {
            let [before, here, after] = [0, 1, 2].map(|at| three[at].1);
            let expected = f64::midpoint(before.centre, after.centre);
            let error = |rate: &Estimate| rate.relative_half_width();
            let error = error(here)? + f64::midpoint(error(before)?, error(after)?);
            Some(((here.centre / expected - 1.0).abs(), error))
        })
        .collect::<Option<_>>()?;
    if bends.is_empty() {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| bends.iter().map(of).sum::<f64>() / bends.len() as f64;
    let (value, error) = (mean(|bend| bend.0), mean(|bend| bend.1));
    Some(Quantity {
        value,
        interval: Interval::new((value - error).max(0.0), value + error),
        unit: Unit::Share,
    })
}

/// The part of the cache that is left to the data of a loop at the highest optimisation, where it shows.
fn held(results: &Results) -> Option<Finding> {
    let cache = shared_cache(results.machine)?;
    let documented = cache.size;
    let curve = curve(results, METRICS[3].0);
    let (_, last) = curve
        .last()
        .filter(|(largest, _)| largest.0 >= documented.0 / 2 * 3)?;
    if curve.len() < FEWEST_SIZES {
        return None;
    }
    let found = found(&curve, results.machine);
    let found = found.iter().find(|found| found.documented == Some(cache))?;
    let capacity = found.capacity;
    // A step that is smaller than this is found in the noise of a flat curve too.
    let inside = curve
        .iter()
        .find(|(size, _)| size.0 >= documented.0 / 4)
        .and_then(|(_, held)| ratio(held, last));
    let has_dropped = inside.is_some_and(|drop| exceeds(&drop, DROP) == Ruling::Holds);
    let is_held = has_dropped && capacity.extent().high < documented.0 as f64;
    let size = in_words(capacity);
    let said = sentence!(
        "A loop that writes to a block slows down beyond {size} of the {documented} of the level \
         {number} cache: the rest may go to its code, to the system and to pages that share its sets.",
        number = cache.level.to_string(),
    );
    let grade = certain_if(capacity.interval.is_some());
    let finding = Finding::new("held", said).graded(grade);
    is_held.then(|| finding.weighing(0.4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn sizes_go_to_twice_the_shared_cache() {
        let sizes = block_sizes(&setting(Profile::Quick));
        assert!(sizes.len() <= 16 && sizes.iter().all(|size| size % 1024 == 0));
        assert_eq!(sizes.first(), Some(&4096));
        assert_eq!(sizes.last(), Some(&(4 << 20)));
    }
}
