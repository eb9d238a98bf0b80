//! `file.sum`: how many threads, in blocks of what size and by which method sum a file fastest, and
//! what time by the processor's clock would make of it.

use super::page_cache::{Chiller, warm};
use super::scratch_file::ScratchFile;
use super::sizes::{KIB, MIB, by_profile, file_size};
use super::{BLOCK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND, not_done};
use crate::estimates::{WithEstimate, differs_from, estimated, grade, ratio, side_by_side};
use crate::figures::{curves, logarithmic};
use files::sum::SumOptions;
use files::{Method, Source, Watch};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, Series};
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Level, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, PointResult, Results};
use instrument::sampler::Sampler;
use platform::clock::process_cpu_ns;
use platform::placement::pin_to;
use std::hint::black_box;

/// How a file is summed fastest.
pub(crate) struct SumOfWords;

pub(super) const STATE: &str = "state";
pub(super) const WARM: &str = "warm";
const COLD: &str = "cold";
pub(super) const METHOD: &str = "method";
pub(super) const THREADS: &str = "threads";

pub(super) const THROUGHPUT: &str = "throughput";
const BY_CPU: &str = "by_cpu";
const RESIDENT: &str = "resident";

/// More processors than this no machine of today has in one system.
const MOST_PROCESSORS: usize = 1024;

impl Experiment for SumOfWords {
    fn id(&self) -> &'static str {
        "file.sum"
    }

    fn definition(&self) -> Definition {
        let rate = |name: &str, title: &str| {
            Metric::new(name, title, Unit::BytesPerSecond, Better::Higher)
        };
        Definition {
            id: self.id().into(),
            title: "The fastest reader".into(),
            question: "How many threads, in blocks of what size and by which method sum a file \
                       fastest, and what is that by wall time and by processor time?"
                .into(),
            method: "The exclusive or of all 32-bit words of a scratch file of pseudo-random \
                     bytes. Of n threads, the first takes blocks 0, n, 2n, …, the second blocks 1, \
                     n + 1, …, by pread into a buffer of their own, or by mmap of one block at a \
                     time; starting the threads and making their buffers is in the time. They may \
                     run on every processor that there is. Throughput is the file's size over the \
                     wall time. `by_cpu` is the same size over the processor time, which adds up \
                     over threads: it is what a program reports that takes clock() for the time, \
                     and is no speed. Warm: the whole file is in the page cache; cold: none of it, \
                     as was asked before each pass and is on the record as `resident`."
                .into(),
            source: "Reports A and B, section 6".into(),
            axes: vec![
                Axis::choice(STATE, "page cache"),
                Axis::choice(METHOD, "method"),
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::count(THREADS, "threads"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: vec![
                rate(THROUGHPUT, "throughput")
                    .bounded(MOST_BYTES_PER_SECOND * MOST_PROCESSORS as f64),
                rate(BY_CPU, "bytes by processor time"),
                Metric::new(
                    RESIDENT,
                    "in the page cache before",
                    Unit::Share,
                    Better::Neither,
                ),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let file = Bytes(wanted_size(setting));
        vec![Need::Space(file), Need::Memory(file)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let threads: &[u64] = by_profile(
            setting.profile,
            [
                &[1, 2, 4],
                &[1, 2, 4, 8, 16],
                &[1, 2, 3, 4, 6, 8, 10, 12, 16],
            ],
        );
        let warm_blocks: &[u64] = by_profile(
            setting.profile,
            [
                &[64 * KIB, MIB],
                &[8 * KIB, 64 * KIB, 512 * KIB, 4 * MIB],
                &[
                    8 * KIB,
                    16 * KIB,
                    32 * KIB,
                    64 * KIB,
                    128 * KIB,
                    256 * KIB,
                    512 * KIB,
                    4 * MIB,
                ],
            ],
        );
        let size = wanted_size(setting);
        let mut points = Vec::new();
        for (state, blocks) in [(WARM, warm_blocks), (COLD, &[MIB])] {
            for method in [Method::Pread, Method::Mmap] {
                for &block in blocks {
                    // Where time is short, two cold points show what threads do there.
                    let is_wanted = |threads: &&u64| {
                        let is_quick = warm_blocks.len() == 2;
                        state == WARM || !is_quick || (method == Method::Pread && **threads != 2)
                    };
                    for &threads in threads.iter().filter(is_wanted) {
                        let point = Point::new().with(STATE, state).with(METHOD, method.name());
                        let point = point.with(BLOCK_SIZE, block).with(THREADS, threads);
                        points.push(point.with(FILE_SIZE, size));
                    }
                }
            }
        }
        points
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let len = point.number(FILE_SIZE)?;
        let state = point.choice(STATE)?;
        let name = point.choice(METHOD)?;
        let method = Method::named(name)
            .ok_or_else(|| MeasureError::Unsupported(format!("there is no method '{name}'")))?;
        let options = SumOptions {
            method,
            block_bytes: point.number(BLOCK_SIZE)? as usize,
            threads: point.number(THREADS)? as usize,
        };
        let path = sampler.scratch().join(format!("{} {state}", self.id()));
        let file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        let source = Source::open(&path).map_err(not_done)?;
        // A worker starts on one processor.
        pin_to(&(0..MOST_PROCESSORS).collect::<Vec<_>>())?;
        let mut chiller = Chiller::new(&file.file, &file.path)?;
        let mut cpu_ns = Vec::new();
        let prepare = |sampler: &mut Sampler<'_>| {
            let share = match state {
                WARM => warm(&file)?,
                _ => chiller.chill()?,
            };
            sampler.value(RESIDENT, share)
        };
        sampler.once(THROUGHPUT, len as f64, prepare, || {
            let before_ns = process_cpu_ns()?;
            let sum = files::sum(&source, &options, &Watch::default()).map_err(not_done)?;
            black_box(sum);
            cpu_ns.push(process_cpu_ns()?.saturating_sub(before_ns));
            Ok(())
        })?;
        for cpu_ns in cpu_ns {
            sampler.value(BY_CPU, len as f64 * 1e9 / cpu_ns.max(1) as f64)?;
        }
        match chiller.remark() {
            Some(remark) => sampler.remark(remark),
            None => Ok(()),
        }
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [
            fastest(results, WARM),
            what_clock_says(results),
            mapping(results),
            fastest(results, COLD),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let of = |metric: &str, title: &str| {
            let mut series: Vec<Series> = Vec::new();
            for result in &results.points {
                let levels = of_line(&result.point);
                let label = label(&levels);
                if series.iter().all(|line| line.label != label) {
                    series.push(results.series(&label, metric, THREADS, &levels));
                }
            }
            let axes = (
                logarithmic("threads", Unit::Count),
                logarithmic("bytes per second", Unit::BytesPerSecond),
            );
            curves(metric, title, axes, series, Vec::new())
        };
        vec![
            of(THROUGHPUT, "Bytes over wall time"),
            of(BY_CPU, "Bytes over processor time, which is no speed"),
        ]
    }
}

fn wanted_size(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [64 * MIB, 256 * MIB, 1024 * MIB]);
    file_size(setting, 2, wanted)
}

/// All levels but the threads.
fn of_line(point: &Point) -> Vec<(&str, Level)> {
    let levels = point.levels().filter(|(axis, _)| *axis != THREADS);
    levels.map(|(axis, level)| (axis, level.clone())).collect()
}

fn label(levels: &[(&str, Level)]) -> String {
    let shown = levels.iter().filter(|(axis, _)| *axis != FILE_SIZE);
    let shown = shown.map(|(axis, level)| match level.number() {
        Some(bytes) if *axis == BLOCK_SIZE => Bytes(bytes).to_string(),
        _ => level.to_string(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// The sound points of a state, the fastest first.
fn ranked<'r>(results: &'r Results, state: &str) -> Vec<(&'r PointResult, f64)> {
    let levels = [(STATE, state.into())];
    let points = results
        .points
        .iter()
        .filter(|result| result.point.matches(&levels));
    let mut ranked: Vec<_> = points
        .filter_map(|result| {
            let throughput = result.estimate(THROUGHPUT)?;
            throughput.is_sound().then_some((result, throughput.centre))
        })
        .collect();
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    ranked
}

fn threads(result: &PointResult) -> u64 {
    result.point.number(THREADS).unwrap_or(1)
}

/// The fastest of several threads and the fastest of one.
pub(super) fn best_two<'r>(results: &'r Results, state: &str) -> Option<[&'r PointResult; 2]> {
    let ranked = ranked(results, state);
    let several = ranked.iter().find(|(result, _)| threads(result) > 1)?;
    let one = ranked.iter().find(|(result, _)| threads(result) == 1)?;
    Some([several.0, one.0])
}

fn fastest(results: &Results, state: &str) -> Option<Finding> {
    let [several, one] = best_two(results, state)?;
    let throughput = |result: &'_ PointResult| result.estimate(THROUGHPUT).map(estimated);
    let gain = ratio(several.estimate(THROUGHPUT)?, one.estimate(THROUGHPUT)?)?;
    let how = |result: &PointResult| label(&of_line(&result.point)[1..]);
    let (key, what) = match state {
        WARM => ("fastest_warm", "A file in the page cache"),
        _ => ("fastest_cold", "A file that is not in the page cache"),
    };
    let verdict = match gain.interval {
        Some(interval) if interval.low > 1.0 => "threads help",
        Some(interval) if interval.high < 1.0 => "threads do not help",
        _ => "whether threads help cannot be told",
    };
    let template = format!(
        "{what} is summed at {{several}} by {{threads}} threads ({}) and at {{one}} by a single \
         one ({}): {{gain}} as fast by wall time, so {verdict} here.",
        how(several),
        how(one)
    );
    let finding = Finding::new(key, &template)
        .with("several", &throughput(several)?, Unit::BytesPerSecond)
        .with("one", &throughput(one)?, Unit::BytesPerSecond)
        .with("gain", &gain, Unit::Ratio)
        .given("threads", threads(several) as f64, Unit::Count);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.8))
}

/// What a program makes of the same runs that takes processor time for the time.
fn what_clock_says(results: &Results) -> Option<Finding> {
    let [several, _] = best_two(results, WARM)?;
    let mut levels = of_line(&several.point);
    levels.push((THREADS, 1.into()));
    let one = results.at(&levels)?;
    let by_wall = ratio(several.estimate(THROUGHPUT)?, one.estimate(THROUGHPUT)?)?;
    let by_cpu = ratio(several.estimate(BY_CPU)?, one.estimate(BY_CPU)?)?;
    let gains = by_wall.interval.map(|interval| interval.low > 1.0);
    let seems_to_gain = by_cpu.interval.map(|interval| interval.low > 1.0);
    let verdict = match (gains, seems_to_gain) {
        _ if !differs_from(&by_wall, 1.0) => "and whether threads help by wall time is not decided",
        (Some(true), Some(false)) => {
            "so a report that takes the one for the other finds that threads do not help, and one \
             that looks at a clock on the wall that they do"
        }
        _ => "and here both say the same of threads",
    };
    let template = format!(
        "Processor time adds up over threads and is no time to divide by: {{threads}} threads sum a \
         file {{by_wall}} as fast as one that works in the same way by wall time, and {{by_cpu}} as \
         fast by processor time, {verdict}."
    );
    let finding = Finding::new("wall_and_cpu", &template)
        .with("by_wall", &by_wall, Unit::Ratio)
        .with("by_cpu", &by_cpu, Unit::Ratio)
        .given("threads", threads(several) as f64, Unit::Count);
    Some(finding.graded(grade(&by_wall, 1.0)).weighing(0.4))
}

/// What one thread sums of a warm file, by block size.
pub(super) fn by_one_thread<'r>(results: &'r Results, method: Method) -> Vec<(u64, &'r Estimate)> {
    let levels = [
        (STATE, WARM.into()),
        (METHOD, method.name().into()),
        (THREADS, 1.into()),
    ];
    results.curve(THROUGHPUT, BLOCK_SIZE, &levels)
}

/// What one thread reads and maps in the smallest blocks that were measured both ways.
pub(super) fn by_smallest_blocks<'r>(results: &'r Results) -> Option<[&'r Estimate; 2]> {
    let of = |method| by_one_thread(results, method);
    let both = side_by_side(&of(Method::Pread), &of(Method::Mmap));
    let (_, read, mapped) = both.first()?;
    Some([read, mapped])
}

/// Reading against mapping, by one thread, in the smallest and the largest blocks.
fn mapping(results: &Results) -> Option<Finding> {
    let read = by_one_thread(results, Method::Pread);
    let map = by_one_thread(results, Method::Mmap);
    let at = |size: u64| {
        let of = |curve: &[(u64, _)]| curve.iter().position(|(other, _)| *other == size);
        ratio(map[of(&map)?].1, read[of(&read)?].1)
    };
    let (smallest, largest) = (read.first()?.0, read.last()?.0);
    let (small, large) = (at(smallest)?, at(largest)?);
    let template = "Mapping each block instead of reading it goes {small} as fast in blocks of \
                    {smallest} and {large} as fast in blocks of {largest}, by one thread.";
    let finding = Finding::new("mapping", template)
        .with("small", &small, Unit::Ratio)
        .with("large", &large, Unit::Ratio)
        .given("smallest", smallest as f64, Unit::Bytes)
        .given("largest", largest as f64, Unit::Bytes);
    let grade = grade(&small, 1.0).max(grade(&large, 1.0));
    Some(finding.graded(grade).weighing(0.6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{
        count, finding, machine, measure, result, results, setting, value, values,
    };
    use instrument::finding::Grade;
    use instrument::plan::Profile;

    fn point(state: &str, method: &str, threads: u64) -> Point {
        let point = Point::new().with(STATE, state).with(METHOD, method);
        let point = point.with(BLOCK_SIZE, 64 * KIB).with(THREADS, threads);
        point.with(FILE_SIZE, 8 * MIB)
    }

    #[test]
    fn wall_time_and_processor_time_are_told_apart() {
        let (definition, machine) = (SumOfWords.definition(), machine());
        let at = |threads, wall: f64, cpu: f64| {
            result(
                point(WARM, "pread", threads),
                &[(THROUGHPUT, wall), (BY_CPU, cpu)],
            )
        };
        let points = vec![at(1, 5e9, 5e9), at(2, 9e9, 4.5e9)];
        let found = SumOfWords.findings(&results(&definition, &machine, points));
        let gain = value(&found, "fastest_warm", "gain");
        assert!((gain - 1.8).abs() < 0.01, "{gain}");
        let by_cpu = value(&found, "wall_and_cpu", "by_cpu");
        assert!((by_cpu - 0.9).abs() < 0.01, "{by_cpu}");
        let settled = finding(&found, "wall_and_cpu");
        assert_eq!(settled.grade, Grade::Certain);
        assert!(settled.template.contains("finds that threads do not help"));
    }

    #[test]
    fn mapping_is_set_against_reading() {
        let (definition, machine) = (SumOfWords.definition(), machine());
        let at = |method, wall: f64| result(point(WARM, method, 1), &[(THROUGHPUT, wall)]);
        let points = vec![at("pread", 8e9), at("mmap", 4e9)];
        let found = SumOfWords.findings(&results(&definition, &machine, points));
        let small = value(&found, "mapping", "small");
        assert!((small - 0.5).abs() < 0.01, "{small}");
        let points = vec![at("pread", 8e9), at("mmap", 4e9)];
        let results = results(&definition, &machine, points);
        let [read, mapped] = by_smallest_blocks(&results).expect("both are there");
        assert!(read.centre > mapped.centre);
    }

    #[test]
    fn each_state_and_method_is_measured() {
        let scratch = scratch();
        for (state, resident) in [(WARM, 1.0), (COLD, 0.0)] {
            if state == COLD && !can_be_cold(scratch.path()) {
                return;
            }
            for method in ["pread", "mmap"] {
                let point = point(state, method, 2);
                let (samples, _) = measure(&SumOfWords, &point, scratch.path()).expect(method);
                assert_eq!(count(&samples, THROUGHPUT), count(&samples, BY_CPU));
                let shares = values(&samples, RESIDENT);
                assert!(shares.iter().all(|share| (share - resident).abs() < 0.01));
            }
        }
        measure(&SumOfWords, &point(WARM, "telepathy", 1), scratch.path()).expect_err("no such");
    }

    #[test]
    fn the_quick_profile_has_few_points_and_the_thorough_one_those_of_the_reports() {
        let points = |profile| SumOfWords.points(&setting(profile));
        assert_eq!(points(Profile::Quick).len(), 14);
        let thorough = points(Profile::Thorough);
        assert!(thorough.iter().any(|point| point.number(THREADS) == Ok(16)));
    }
}
