//! `memory.parallel`: how much memory bandwidth several cores get together.

use super::caches;
use crate::estimates::{WithEstimate, estimated, grade, ratio};
use crate::together::Gate;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale};
use instrument::finding::{Finding, Grade};
use instrument::need::Need;
use instrument::plan::{Profile, Setting};
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use instrument::sampler::Sampler;
use kernels::InstructionSet;
use platform::memory::{Mapping, PageSize};
use platform::placement::{parent_cpus, pin_to};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

/// How much memory bandwidth several cores get together.
pub(crate) struct Parallel;

const THREADS: &str = "threads";
pub(super) const READ: &str = "read";
pub(super) const WRITE: &str = "write";
const COPY: &str = "copy";

const MIB: u64 = 1 << 20;
/// All blocks together: no cache may hold a good part of them.
const AT_LEAST: u64 = 256 * MIB;
const AT_MOST: u64 = 2048 * MIB;
/// They take no more than this part of the memory available.
const SHARE_OF_MEMORY: u64 = 4;
const LEAST_MEMORY: u64 = 64 * MIB * SHARE_OF_MEMORY;
/// Two registers of 64 bytes a cycle at 8 GHz, on each core.
const MOST_BYTES_PER_SECOND_AND_CORE: f64 = 128.0 * 8e9;
/// More cores than any machine has.
const MOST_CORES: f64 = 4096.0;

/// What the threads do, one after the other.
const JOBS: [&str; 3] = [READ, WRITE, COPY];
/// Instead of the number of a job, that there is none left.
const NO_MORE: usize = usize::MAX;

impl Experiment for Parallel {
    fn id(&self) -> &'static str {
        "memory.parallel"
    }

    fn definition(&self) -> Definition {
        let metric = |name, title| {
            Metric::new(name, title, Unit::BytesPerSecond, Better::Higher)
                .bounded(MOST_BYTES_PER_SECOND_AND_CORE * MOST_CORES)
        };
        Definition {
            id: self.id().into(),
            title: "Memory bandwidth of several cores".into(),
            question: "How much memory bandwidth do several cores get together, and how many does \
                       it take to use up the memory?"
                .into(),
            method: "As many threads as said, each pinned to a processor of its own, go over \
                     blocks of their own at the same time, which together are larger than any \
                     cache. Read: every byte is loaded. Write: every byte is stored, through the \
                     caches. Copy: one half of each block to the other by memcpy, each byte \
                     counted once. Bandwidth is the size of all blocks over the time from the \
                     start that all wait for to the end of the last."
                .into(),
            source: "common practice (STREAM)".into(),
            axes: vec![Axis::count(THREADS, "threads")],
            metrics: vec![
                metric(READ, "read"),
                metric(WRITE, "write"),
                metric(COPY, "copy"),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    /// Powers of two and all processors; in the longer profiles every number up to eight.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let most = setting.machine.topology.threads.unwrap_or(1) as u64;
        let every = match setting.profile {
            Profile::Quick => 1,
            Profile::Standard | Profile::Thorough => 8,
        };
        let is_wanted = |count: &u64| *count <= every || count.is_power_of_two() || *count == most;
        (1..=most)
            .filter(is_wanted)
            .map(|count| Point::new().with(THREADS, count))
            .collect()
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let threads = point.number(THREADS)? as usize;
        let cpus = parent_cpus()?;
        if cpus.len() < threads {
            return Err(MeasureError::Unsupported(format!(
                "only {} processors may be used here",
                cpus.len()
            )));
        }
        let machine = platform::machine::Machine::read();
        let wanted = (4 * caches::last_bytes(&machine)).clamp(AT_LEAST, AT_MOST);
        let available = platform::memory::available_bytes().unwrap_or(LEAST_MEMORY);
        let each = (wanted.min(available / SHARE_OF_MEMORY) as usize / threads) & !(2 * 4096 - 1);
        // The last first, since the first is where most interrupts go.
        let cpus: Vec<usize> = cpus.into_iter().rev().take(threads).collect();
        run(sampler, &JOBS, &cpus, each, None)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let curve = results.curve(READ, THREADS, &[]);
        let (Some(first), Some(last)) = (curve.first(), curve.last()) else {
            return Vec::new();
        };
        if first.0 == last.0 {
            return Vec::new();
        }
        [READ, COPY]
            .into_iter()
            .filter_map(|metric| gain(results, metric))
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let series = JOBS.map(|job| results.series(job, job, THREADS, &[]));
        vec![Figure {
            key: "bandwidth".into(),
            title: "Memory bandwidth by number of threads".into(),
            kind: FigureKind::Curve,
            x: FigureAxis {
                title: "threads".into(),
                unit: Some(Unit::Count),
                scale: FigureScale::Linear,
            },
            y: FigureAxis {
                title: "bandwidth of all together".into(),
                unit: Some(Unit::BytesPerSecond),
                scale: FigureScale::Linear,
            },
            series: series.into(),
            marks: Vec::new(),
        }]
    }
}

/// What all threads gain over one.
fn gain(results: &Results, metric: &str) -> Option<Finding> {
    let curve = results.curve(metric, THREADS, &[]);
    let (_, one): (u64, &Estimate) = curve.first().copied()?;
    let (threads, all) = curve.last().copied()?;
    let gain = ratio(all, one)?;
    let cores = results.machine.topology.cores?;
    let template = format!(
        "{{threads}} threads on {{cores}} cores {metric} memory at {{all}} together, {{gain}} as \
         fast as one."
    );
    let finding = Finding::new(metric, &template)
        .given("threads", threads as f64, Unit::Count)
        .given("cores", cores as f64, Unit::Count)
        .with("all", &estimated(all), Unit::BytesPerSecond)
        .with("gain", &gain, Unit::Ratio);
    let grade = if gain.interval.is_none() {
        Grade::Likely
    } else {
        grade(&gain, 1.0)
    };
    Some(finding.graded(grade).weighing(0.6))
}

/// Starts a thread on each of `cpus` with a block of `each` bytes of its own, in the memory of `node`
/// if one is given, and times each of `jobs`, which are also the names of the metrics.
pub(super) fn run(
    sampler: &mut Sampler<'_>,
    jobs: &[&str],
    cpus: &[usize],
    each: usize,
    node: Option<usize>,
) -> Result<(), MeasureError> {
    let job = AtomicUsize::new(NO_MORE);
    let [begin, end] = [(); 2].map(|()| Barrier::new(cpus.len() + 1));
    let failure = Mutex::new(None);
    let gate = Gate::default();
    let seed = sampler.seed();
    let turn = |cpu| {
        let mut block = prepare(cpu, each, node)
            .map_err(|error| *failure.lock().expect("nobody panics with it") = Some(error))
            .ok();
        // All are ready.
        end.wait();
        loop {
            begin.wait();
            let next = job.load(Ordering::Relaxed);
            if next == NO_MORE {
                return;
            }
            if let Some(block) = &mut block {
                work(jobs[next], block.as_mut_slice(), seed);
            }
            end.wait();
        }
    };
    thread::scope(|scope| {
        let started = gate.start(scope, cpus.iter().copied(), &turn);
        started.map_err(MeasureError::system("start a thread"))?;
        gate.open();
        end.wait();
        let outcome = match failure.lock().expect("nobody panics with it").take() {
            Some(error) => Err(error.into()),
            None => jobs.iter().enumerate().try_for_each(|(index, name)| {
                job.store(index, Ordering::Relaxed);
                let pass = || {
                    begin.wait();
                    end.wait();
                };
                // Leaves the caches as every pass finds them.
                pass();
                let size = cpus.len() * each;
                let counted = if *name == COPY { size / 2 } else { size };
                sampler.once(
                    name,
                    counted as f64,
                    |_| Ok(()),
                    || {
                        pass();
                        Ok(())
                    },
                )
            }),
        };
        job.store(NO_MORE, Ordering::Relaxed);
        begin.wait();
        outcome
    })
}

/// Pins the thread, and gives it memory that it has touched itself.
fn prepare(cpu: usize, len: usize, node: Option<usize>) -> platform::Result<Mapping> {
    pin_to(&[cpu])?;
    let mut block = Mapping::anonymous(len, PageSize::Base)?;
    if let Some(node) = node {
        block.bind_to_node(node)?;
    }
    block.populate()?;
    Ok(block)
}

fn work(job: &str, block: &mut [u8], word: u64) {
    let set = InstructionSet::best();
    match job {
        READ => {
            black_box(set.read(black_box(block)));
        }
        WRITE => set.write(black_box(block), word),
        _ => {
            let (target, source) = block.split_at_mut(block.len() / 2);
            black_box(target).copy_from_slice(black_box(source));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{COPY, JOBS, Parallel, READ, THREADS, WRITE};
    use crate::made_up::{count, machine, measure, number, result, results, setting};
    use instrument::experiment::Experiment;
    use instrument::plan::{Profile, Setting};
    use instrument::point::Point;
    use platform::machine::{Machine, Topology};
    use platform::placement::allowed_cpus;
    use std::path::Path;

    fn with_cores(cores: usize) -> Machine {
        Machine {
            topology: Topology {
                cores: Some(cores),
                threads: Some(cores),
                ..Topology::default()
            },
            ..machine()
        }
    }

    #[test]
    fn every_job_is_measured_here() {
        let cpus = allowed_cpus().expect("this system has them").len() as u64;
        for threads in [1, cpus] {
            let point = Point::new().with(THREADS, threads);
            let (samples, _) = measure(&Parallel, &point, Path::new("/")).expect("memory works");
            for job in JOBS {
                assert!(count(&samples, job) >= 1, "{point}: {job}");
            }
        }
        let error = measure(
            &Parallel,
            &Point::new().with(THREADS, 100_000),
            Path::new("/"),
        );
        assert!(
            error
                .expect_err("too many")
                .to_string()
                .contains("processors")
        );
    }

    #[test]
    fn threads_go_up_to_all_processors() {
        let counts = |profile| {
            let setting = Setting {
                machine: with_cores(12),
                ..setting(profile)
            };
            let points = Parallel.points(&setting);
            let counts = points.iter().filter_map(|point| point.number(THREADS).ok());
            counts.collect::<Vec<_>>()
        };
        assert_eq!(counts(Profile::Quick), [1, 2, 4, 8, 12]);
        assert_eq!(counts(Profile::Standard), [1, 2, 3, 4, 5, 6, 7, 8, 12]);
    }

    #[test]
    fn what_all_gain_over_one_is_told() {
        let rates = |factor: f64| {
            [
                (READ, 10e9 * factor),
                (WRITE, 8e9 * factor),
                (COPY, 6e9 * factor),
            ]
        };
        let at = |threads: u64, factor| result(Point::new().with(THREADS, threads), &rates(factor));
        let (definition, machine) = (Parallel.definition(), with_cores(4));
        let of = |points| Parallel.findings(&results(&definition, &machine, points));
        let found = of(vec![at(1, 1.0), at(2, 1.8), at(4, 2.5)]);
        assert_eq!(found.len(), 2);
        assert!((number(&found[0], "gain").value - 2.5).abs() < 0.01);
        assert!(of(vec![at(1, 1.0)]).is_empty());
        assert!(of(Vec::new()).is_empty());
    }
}
