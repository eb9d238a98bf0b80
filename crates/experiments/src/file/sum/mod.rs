//! `file.sum`: how many threads, in blocks of what size and by which method sum a file fastest, and
//! what time by the processor's clock would make of it.

mod findings;

pub(super) use findings::{best_two, by_one_thread, by_smallest_blocks};

use super::page_cache::{Chiller, warm};
use super::scratch_file::ScratchFile;
use super::sizes::{KIB, MIB, by_profile, file_size};
use super::{BLOCK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND, not_done};
use files::sum::SumOptions;
use files::{Method, Source, Watch};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use platform::clock::process_cpu_ns;
use platform::placement::{parent_cpus, pin_to};
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
        let files = Bytes(2 * wanted_size(setting));
        vec![Need::Space(files), Need::Memory(files)]
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
        pin_to(&parent_cpus()?)?;
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
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

fn wanted_size(setting: &Setting) -> u64 {
    let wanted = by_profile(setting.profile, [64 * MIB, 256 * MIB, 1024 * MIB]);
    file_size(setting, 2, wanted)
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
