//! `memory.footprint`: how much of a cache is left to data, by the optimisation of the code.

use super::caches;
use super::levels::{self as cache_levels, Level as Found};
use crate::estimates::{WithEstimate, estimated};
use crate::figures::{curves, logarithmic};
use crate::levels::{self, COMPILER, RUST};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use instrument::statistics::{Estimated, Scale};
use kernels::levels::Level;
use platform::machine::{CacheKind, Machine};
use platform::memory::{Mapping, PageSize};
use std::collections::BTreeSet;
use std::hint::black_box;

/// How much of a cache is left to data, by the optimisation of the code.
pub(crate) struct Footprint;

const BLOCK_SIZE: &str = "block_size";
/// A metric for each level of optimisation.
const METRICS: [(&str, Level); 4] = [
    ("optimisation_0", Level::O0),
    ("optimisation_1", Level::O1),
    ("optimisation_2", Level::O2),
    ("optimisation_3", Level::O3),
];

const KIB: u64 = 1 << 10;
const SMALLEST: u64 = 4 * KIB;
/// What is taken for the cache where none is documented.
const USUAL_CACHE: u64 = 1024 * KIB;
/// With fewer sizes than this no drop could be seen.
const FEWEST_SIZES: usize = 8;
/// The caches settle while so much is written.
const WARMING_BYTES: u64 = 64 << 20;
/// 64 bytes a cycle at 10 GHz: the loops are compiled for any processor of the architecture.
const MOST_BYTES_PER_SECOND: f64 = 64.0 * 10e9;

impl Experiment for Footprint {
    fn id(&self) -> &'static str {
        "memory.footprint"
    }

    fn definition(&self) -> Definition {
        let metric = |(name, level): (&str, Level)| {
            let title = format!("write, optimisation {}", level.digit());
            Metric::new(name, &title, Unit::BytesPerSecond, Better::Higher)
                .bounded(MOST_BYTES_PER_SECOND)
        };
        Definition {
            id: self.id().into(),
            title: "What code leaves of a cache".into(),
            question: "How much of the cache that code and data share is left to data, and does the \
                       compiler's optimisation change that?"
                .into(),
            method: "A plain loop stores a word of 8 bytes into a block from its start to its end, \
                     again and again; it is one source, compiled at optimisation 0 to 3. Sizes go up to twice the first cache that holds code and data alike, in \
                     fine steps. Where the bandwidth drops is found by the same model as in \
                     memory.bandwidth. What is missing between that and the documented size is held \
                     by code, stack and system, or lost since pages that happen to fall on the same \
                     part of the cache displace each other: base pages are scattered over memory. \
                     Where the loop is slower than the next cache delivers, nothing drops."
                .into(),
            source: "Report E, section 4.2".into(),
            axes: vec![
                Axis::bytes(BLOCK_SIZE, "block size"),
                levels::compiler_axis(),
            ],
            metrics: METRICS.map(metric).into(),
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(4 * shared_cache(&setting.machine).1))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let compilers: &[&str] = match setting.profile {
            Profile::Thorough => &[RUST, levels::C],
            _ => &[RUST],
        };
        let sizes = block_sizes(setting).into_iter();
        sizes
            .flat_map(|size| {
                let point = Point::new().with(BLOCK_SIZE, size);
                let with = move |compiler: &&str| point.clone().with(COMPILER, *compiler);
                compilers.iter().map(with)
            })
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (size, word) = (point.number(BLOCK_SIZE)?, sampler.seed());
        let mut mapping = Mapping::anonymous(size as usize, PageSize::Base)?;
        let block = mapping.as_mut_slice();
        for _ in 0..(WARMING_BYTES / size).max(1) {
            kernels::write(black_box(&mut *block), word);
        }
        for (metric, level) in METRICS {
            let loops = levels::loops(point.choice(COMPILER)?, level.digit(), sampler)?;
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
        let found = METRICS.iter().rev();
        found
            .filter_map(|(metric, level)| held(results, metric, *level))
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = METRICS.map(|(metric, level)| {
            let label = format!("optimisation {}", level.digit());
            results.series(&label, metric, BLOCK_SIZE, &[(COMPILER, RUST.into())])
        });
        let axes = (
            logarithmic("block size", Unit::Bytes),
            logarithmic("bandwidth", Unit::BytesPerSecond),
        );
        let marks = caches::marks(&capacities(results, METRICS[3].0), results.machine);
        let title = "Writing, by the optimisation of the loop";
        vec![curves("bandwidth", title, axes, series.into(), marks)]
    }
}

/// Level and size in bytes of the first cache that holds code and data alike.
fn shared_cache(machine: &Machine) -> (u32, u64) {
    let shared = machine
        .caches
        .iter()
        .filter(|cache| cache.kind == CacheKind::Unified);
    let sized = shared.filter_map(|cache| Some((cache.level, cache.size_bytes?)));
    sized.min().unwrap_or((2, USUAL_CACHE))
}

/// From 4 KiB to twice the cache, in fine steps about the cache.
fn block_sizes(setting: &Setting) -> BTreeSet<u64> {
    let (_, cache) = shared_cache(&setting.machine);
    let parts = match setting.profile {
        Profile::Quick => 8,
        Profile::Standard => 16,
        Profile::Thorough => 32,
    };
    let fine = (1..=2 * parts).map(|part| cache / parts * part);
    // Beyond one and a half of it, every second step shows where the curve goes.
    let fine = fine.filter(|size| 2 * size <= 3 * cache || size / (cache / parts) % 2 == 0);
    let coarse = [SMALLEST, 4 * SMALLEST].into_iter();
    let words = |size: u64| size / KIB * KIB;
    coarse
        .chain(fine)
        .map(words)
        .filter(|size| *size >= SMALLEST)
        .collect()
}

/// The capacities that the curve of one level of optimisation shows.
fn capacities(results: &Results, metric: &str) -> Vec<Found> {
    let curve = results.curve(metric, BLOCK_SIZE, &[(COMPILER, RUST.into())]);
    let costs: Vec<(u64, Vec<f64>)> = curve
        .iter()
        .map(|(size, write)| {
            (
                *size,
                write.by_process.iter().map(|rate| 1e9 / rate).collect(),
            )
        })
        .collect();
    cache_levels::found(&costs, results.machine)
}

/// How much of the cache is left to the data of a loop.
fn held(results: &Results, metric: &str, level: Level) -> Option<Finding> {
    let (number, size) = shared_cache(results.machine);
    let curve = results.curve(metric, BLOCK_SIZE, &[(COMPILER, RUST.into())]);
    let (_, last) = curve
        .last()
        .filter(|(largest, _)| *largest >= size / 2 * 3)?;
    if curve.len() < FEWEST_SIZES {
        return None;
    }
    let digit = level.digit();
    let capacities = capacities(results, metric);
    let shown = capacities
        .iter()
        .find(|found| found.documented == Some((number, size)));
    let weight = if level == Level::O3 { 0.5 } else { 0.3 };
    let key = format!("held_{digit}");
    let Some(shown) = shown else {
        let template = format!(
            "At optimisation {digit}, writing does not slow down about the level {number} cache of \
             {{documented}}: the loop writes {{rate}} beyond it."
        );
        let finding = Finding::new(&key, &template)
            .given("documented", size as f64, Unit::Bytes)
            .with("rate", &estimated(last), Unit::BytesPerSecond);
        return Some(finding.graded(Grade::Likely).weighing(weight));
    };
    let capacity = Estimated {
        centre: shown.capacity_bytes,
        interval: shown.interval,
        n: curve.len(),
        scale: Scale::Ranks,
    };
    let documented = size as f64;
    let is_short = capacity.extent().high < documented;
    let rest = if is_short {
        "code and all else hold {held} of it"
    } else {
        "all of it is left to data, as far as can be told"
    };
    let template = format!(
        "At optimisation {digit}, writing slows down beyond blocks of {{capacity}} in the level \
         {number} cache of {{documented}}: {rest}."
    );
    let finding = Finding::new(&key, &template)
        .with("capacity", &capacity, Unit::Bytes)
        .given("documented", documented, Unit::Bytes)
        .given("held", (documented - capacity.centre).max(0.0), Unit::Bytes);
    let grade = if capacity.interval.is_some() {
        Grade::Certain
    } else {
        Grade::Likely
    };
    Some(finding.graded(grade).weighing(weight))
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_SIZE, Footprint, METRICS, block_sizes};
    use crate::levels::{C, COMPILER, RUST};
    use crate::made_up::{
        count, hierarchy_cost, machine, measure, number, result, results, setting,
    };
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::plan::Profile;
    use instrument::point::Point;
    use std::path::Path;

    const MIB: f64 = 1024.0 * 1024.0;

    fn point(size: u64, compiler: &str) -> Point {
        Point::new().with(BLOCK_SIZE, size).with(COMPILER, compiler)
    }

    #[test]
    fn sizes_go_to_twice_the_shared_cache() {
        let sizes = block_sizes(&setting(Profile::Quick));
        assert!(sizes.len() <= 16, "{sizes:?}");
        assert_eq!(sizes.first(), Some(&4096));
        assert_eq!(sizes.last(), Some(&(4 << 20)));
        assert!(block_sizes(&setting(Profile::Standard)).len() > sizes.len());
        assert!(sizes.iter().all(|size| size % 1024 == 0));
    }

    #[test]
    fn every_level_is_measured_here_by_either_compiler() {
        for compiler in [RUST, C] {
            let (samples, _) =
                measure(&Footprint, &point(64 << 10, compiler), Path::new("/")).expect("memory");
            for (metric, _) in METRICS {
                assert!(count(&samples, metric) >= 1, "{compiler} {metric}");
            }
        }
    }

    /// Findings where a loop takes `base` ns for a byte, and 0.1 ns more out of a cache that holds
    /// `capacity`, but no less than `floor`.
    fn found(base: f64, floor: f64, capacity: f64) -> Vec<Finding> {
        let machine = machine();
        let sizes = block_sizes(&setting(Profile::Standard)).into_iter();
        let points = sizes.map(|size| {
            let cost = hierarchy_cost(base, &[(capacity, 0.1)], size as f64);
            let rate = 1e9 / cost.max(floor);
            result(
                point(size, RUST),
                &METRICS.map(|(metric, _)| (metric, rate)),
            )
        });
        Footprint.findings(&results(
            &Footprint.definition(),
            &machine,
            points.collect(),
        ))
    }

    #[test]
    fn what_is_missing_of_the_cache_is_held_by_something_else() {
        let found = found(0.02, 0.0, 1.6 * MIB);
        assert_eq!(found.len(), 4);
        assert_eq!(found[0].key, "held_3");
        let held = number(&found[0], "held").value;
        assert!((held / MIB - 0.4).abs() < 0.1, "{found:?}");
        assert_eq!(found[0].grade, Grade::Certain);
    }

    #[test]
    fn a_loop_slower_than_the_next_cache_shows_no_drop() {
        let found = found(0.02, 0.5, 1.6 * MIB);
        assert!(
            found[0].template.contains("does not slow down"),
            "{found:?}"
        );
        assert_eq!(found[0].grade, Grade::Likely);
    }
}
