//! `file.sum`: the number of threads, the block size and the method that sum a file fastest, by wall time and
//! by processor time.

mod findings;

pub(super) use findings::{
    best_two, by_one_thread, fewest_threads, one_over_most_threads, over, warm_by_block,
    whole_and_small,
};

use super::page_cache::{Chiller, record_share, warm};
use super::scratch_file::ScratchFile;
use super::{
    BLOCK_SIZE, By, FILE_SIZE, MOST_BYTES_PER_SECOND, file_size, like, not_done, powers, room,
};
use crate::prelude::*;
use files::sum::SumOptions;
use files::{Source, Watch};
use platform::clock::process_cpu_ns;
use platform::placement::{parent_cpus, pin_to};
use std::cell::RefCell;
use std::hint::black_box;

pub(super) const STATE: AxisOf<State> = AxisOf::new("state", "page cache");
pub(super) const METHOD: AxisOf<Method> = AxisOf::new("method", "method");
pub(super) const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");

/// More processors than this no machine of today has in one system.
const MOST_PROCESSORS: usize = 1024;

pub(super) const THROUGHPUT: Metric = Metric::bandwidth("throughput", "throughput")
    .bounded(MOST_BYTES_PER_SECOND * MOST_PROCESSORS as f64);
const BY_CPU: Metric = Metric::bandwidth("by_cpu", "bytes by processor time");
const RESIDENT: Metric = Metric::fact("resident", "in the page cache before", Unit::Share);

/// The state of the page cache before a pass.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It holds the whole file.
    Warm,
    /// It holds none of it.
    Cold,
}

/// A way of reading that is timed here.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Pread,
    Mmap,
    /// At the position of a descriptor that each thread opens for itself, as in report B.
    #[choice("lseek, read")]
    Seek,
}

impl From<Method> for files::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Pread => Self::Pread,
            Method::Mmap => Self::Mmap,
            Method::Seek => Self::Read,
        }
    }
}

pub(crate) struct SumOfWords;

pub(super) const DESIGN: Design = Design {
    id: "file.sum",
    title: "The fastest reader",
    question: "How many threads, which block size and which method sum a file fastest, by wall \
               time and by processor time?",
    method: "The XOR of all 32-bit words of a scratch file of pseudo-random bytes. Of n threads, \
             the first takes blocks 0, n, 2n, …, the second blocks 1, n + 1, …. Each uses pread \
             into a buffer of its own, or mmap of one block at a time. By lseek and read, as report B \
             does it, each thread opens a descriptor for itself. One point maps the whole file as a \
             single block. Starting the threads and \
             making their buffers is timed. They may run on every processor. Throughput is the \
             file size over the wall time. `by_cpu` is the same size over the processor time, \
             which adds up over threads: a program that takes clock() for the time reports it, \
             and it is no speed. Warm: the whole file is in the page cache. Cold: none of it is. \
             The kernel is asked before each pass; `resident` is its answer.",
    source: "Reports A and B, section 6",
    axes: &[
        STATE.axis(),
        METHOD.axis(),
        BLOCK_SIZE.open(1, 1 << 30),
        THREADS.open(1, 999),
        FILE_SIZE.open(1, 1 << 40),
    ],
    metrics: &[THROUGHPUT, BY_CPU, RESIDENT],
};

impl Experiment for SumOfWords {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(2 * wanted_size(setting))
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let threads: &[u64] = match setting.profile {
            Profile::Quick => &[1, 2, 4],
            Profile::Standard => &[1, 2, 4, 8, 16],
            Profile::Thorough => &[1, 2, 3, 4, 6, 8, 10, 12, 16],
        };
        let warm_blocks: Vec<u64> = match setting.profile {
            Profile::Quick => vec![64 * KIB, MIB],
            Profile::Standard => vec![8 * KIB, 64 * KIB, 512 * KIB, 4 * MIB],
            Profile::Thorough => powers(8 * KIB, 512 * KIB).chain([4 * MIB]).collect(),
        };
        let size = wanted_size(setting);
        let mapped = Point::new().at(STATE, State::Warm).at(METHOD, Method::Mmap);
        let mapped = mapped.at(BLOCK_SIZE, Bytes(size)).at(THREADS, Count(1));
        let mut points = vec![mapped.at(FILE_SIZE, Bytes(size))];
        for (state, blocks) in [(State::Warm, &warm_blocks[..]), (State::Cold, &[MIB])] {
            for &method in Method::ALL {
                for &block in blocks {
                    // The quick profile has few points that show the effect of threads: cold, and
                    // with descriptors of their own.
                    let is_wanted = |threads: &&u64| {
                        let is_cold = state == State::Cold;
                        let is_wanted = match method {
                            Method::Pread => !is_cold || **threads != 2,
                            Method::Mmap => !is_cold,
                            Method::Seek => block == MIB && **threads != 2,
                        };
                        is_wanted || setting.profile != Profile::Quick
                    };
                    for &threads in threads.iter().filter(is_wanted) {
                        let point = Point::new().at(STATE, state).at(METHOD, method);
                        let point = point.at(BLOCK_SIZE, Bytes(block));
                        let point = point.at(THREADS, Count(threads));
                        points.push(point.at(FILE_SIZE, Bytes(size)));
                    }
                }
            }
        }
        points
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let is_cold = point.level(STATE) == Ok(State::Cold);
        is_cold.then_some(Component::Disk)
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        let by = match (point.level(STATE).ok()?, point.level(METHOD).ok()?) {
            (State::Cold, _) => By::COLD,
            (State::Warm, Method::Mmap) => By::VIEW,
            (State::Warm, Method::Pread | Method::Seek) => By::OWN_CALLS,
        };
        Some(like(point, by))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(len) = point.level(FILE_SIZE)?;
        let state = point.level(STATE)?;
        let options = SumOptions {
            method: point.level(METHOD)?.into(),
            block_bytes: point.level(BLOCK_SIZE)?.0 as usize,
            threads: point.level(THREADS)?.0 as usize,
        };
        let path = sampler.scratch().join(format!("{} {state}", self.id()));
        let mut file = ScratchFile::open_or_make(&path, len, sampler.seed())?;
        // A worker starts on one processor.
        pin_to(&parent_cpus()?)?;
        let mut chiller = Chiller::new(&file)?;
        // Nothing but the scratch file itself is open while it is evicted.
        let source = RefCell::new(None);
        let mut cpu_ns = Vec::new();
        let prepare = |sampler: &mut Sampler<'_>| {
            source.take();
            let share = match state {
                State::Warm => warm(&file)?,
                State::Cold => chiller.chill(&mut file)?,
            };
            source.replace(Some(Source::open(&path).map_err(not_done)?));
            record_share(sampler, RESIDENT, share);
            Ok(())
        };
        sampler.once(THROUGHPUT, len as f64, prepare, || {
            let before_ns = process_cpu_ns()?;
            let source = source.borrow();
            let source = source.as_ref().expect("it was opened for this pass");
            let sum = files::sum(source, &options, &Watch::default()).map_err(not_done)?;
            black_box(sum);
            cpu_ns.push(process_cpu_ns()?.saturating_sub(before_ns));
            Ok(())
        })?;
        for cpu_ns in cpu_ns {
            sampler.value(BY_CPU, len as f64 * 1e9 / cpu_ns.max(1) as f64);
        }
        chiller.remark_on(sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

fn wanted_size(setting: &Setting) -> u64 {
    file_size(setting, 2, [64 * MIB, 256 * MIB, 1024 * MIB])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::{can_be_cold, scratch};
    use crate::made_up::{count, measure, values};

    #[test]
    fn each_state_and_method_is_measured() {
        let scratch = scratch();
        for (state, resident) in [(State::Warm, 1.0), (State::Cold, 0.0)] {
            if state == State::Cold && !can_be_cold(scratch.path()) {
                return;
            }
            for &method in Method::ALL {
                let point = Point::new().at(STATE, state).at(METHOD, method);
                let point = point.at(BLOCK_SIZE, Bytes(64 * KIB));
                let point = point.at(THREADS, Count(2)).at(FILE_SIZE, Bytes(8 * MIB));
                let (samples, _) = measure(&SumOfWords, &point, scratch.path())
                    .unwrap_or_else(|error| panic!("{method}: {error}"));
                assert_eq!(count(&samples, THROUGHPUT), count(&samples, BY_CPU));
                let shares = values(&samples, RESIDENT);
                assert!(shares.iter().all(|share| (share - resident).abs() < 0.01));
            }
        }
    }
}
