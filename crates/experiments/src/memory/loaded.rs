//! `memory.loaded`: the latency of memory while other processors use its bandwidth.

use super::jobs::{self, Job};
use super::{SHARE_OF_MEMORY, SHORTEST_LOAD_NS, linked, of_library, pages};
use crate::estimates::{by_ratio, ratio};
use crate::figures::{curves, linear};
use crate::judging::ALMOST;
use crate::planning::by_profile;
use crate::prelude::*;
use crate::together::{next_to, several_cpus};
use instrument::figure::{FigurePoint, Mark, Series};
use kernels::Chain;
use platform::clock::now_ns;
use platform::machine::Machine;
use platform::memory::Mapping;
use platform::placement::{current_cpu, parent_cpus, pin_to};
use std::collections::BTreeMap;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub(crate) struct Loaded;

pub(super) const ID: &str = "memory.loaded";
const TRAFFIC: AxisOf<Job> = AxisOf::new("traffic", "traffic of the others");
/// In per cent of the highest bandwidth.
const RATE: AxisOf<Count> = AxisOf::new("rate", "% of highest bandwidth");
const LATENCY: Metric = Metric::time("latency", "latency of a load").bounded(SHORTEST_LOAD_NS);
const BANDWIDTH: Metric = jobs::bandwidth("bandwidth");

/// Length of the chain, and from one of its places to the next: a cache line.
const CHAIN: usize = 64 << 20;
const STRIDE: usize = 64;
/// Loads of a sample, and before it. All samples of a visit together take fewer than the chain has
/// places, so that no line is loaded twice.
const STEPS: u64 = 1 << 15;
const SETTLING_STEPS: u64 = 1 << 11;
/// A loader can wait after each piece of its block. Short pieces make an even load, but after each one a loader reads the
/// clock, and before that its loads have to end: pieces of 4 KiB cannot reach nine tenths of the bandwidth.
const PIECE: usize = 16 << 10;
const LEAST_MEMORY: u64 = 128 * MIB * SHARE_OF_MEMORY;
/// Time between two looks of a loader that waits for its next task.
const REST: Duration = Duration::from_micros(100);

const DESIGN: Design = Design {
    id: ID,
    title: "Latency of memory under load",
    question: "How much longer does a program wait for memory while other processors use it, and from \
               which bandwidth on?",
    method: "One thread follows a chain of addresses through 64 MiB in random order, one in each cache \
             line. It loads no line twice, and all were evicted from the shared caches before. A thread on each other processor that may be \
             used, those of the same core included, passes over a block of its own in pieces of 16 KiB, \
             as in memory.parallel: it reads, writes, or copies one half of each piece to the other. \
             The blocks together are four times as large as the caches of these processors, but at least \
             256 MiB and at most 8 GiB. Chain and blocks are in huge pages if the system provides \
             them. 100 %: the other threads do not wait between pieces. Lower rates: each process \
             first measures the bandwidth at 100 %; then each thread starts its \
             pieces at even intervals that give this share of it. 0 %: they sleep. Latency is the time \
             of 32768 loads over their number; the other threads begin before and end after it. \
             Bandwidth is that of all other threads in this time; each byte that is copied counts once.",
    source: "common practice (loaded latency of Intel's Memory Latency Checker); Esmaili-Dokht and \
             others, A Mess of Memory System Benchmarking, Simulation and Application Profiling, \
             MICRO 2024",
    axes: &[TRAFFIC.axis(), RATE.axis()],
    metrics: &[LATENCY, BANDWIDTH],
};

impl Experiment for Loaded {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![several_cpus(setting), Need::Memory(Bytes(LEAST_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        const FEW: &[u64] = &[0, 50, 90, 100];
        const SOME: &[u64] = &[0, 50, 75, 90, 100];
        const MANY: &[u64] = &[0, 25, 50, 60, 70, 80, 90, 95, 100];
        let jobs = by_profile(setting.profile, [&[Job::Read][..], Job::ALL, Job::ALL]);
        let rates = by_profile(setting.profile, [FEW, SOME, MANY]);
        let with_jobs = [Point::new()].by(TRAFFIC, jobs);
        with_jobs.by(RATE, rates.iter().map(|rate| Count(*rate)))
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        (point.level(TRAFFIC) == Ok(Job::Copy)).then(|| of_library(point))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (job, rate) = (point.level(TRAFFIC)?, point.level(RATE)?);
        let cpu = current_cpu().unwrap_or(0);
        pin_to(&[cpu])?;
        let others = parent_cpus()?.into_iter().filter(|other| *other != cpu);
        let others: Vec<usize> = others.collect();
        if others.is_empty() {
            return Err(unsupported("this program may use only one processor"));
        }
        let mut memory = pages::largest(CHAIN)?;
        memory.populate()?;
        pages::remark_on_base(sampler, &memory)?;
        let places = CHAIN / STRIDE;
        let mut chain = linked(sampler.seed(), &mut memory, places, |place, _| {
            place * STRIDE
        });
        let load = Load::new(job, &others, sampler.seed());
        let each = jobs::block_bytes(&Machine::read(), others.len(), PIECE);
        // The blocks come after the chain, and evict it.
        let prepare = |cpu: usize| {
            let mut block = pages::largest(each)?;
            block.populate()?;
            Ok((block, &load.streamed[&cpu]))
        };
        let stream =
            |(block, streamed), is_over: &AtomicBool| load.stream(block, streamed, is_over);
        next_to(&others, prepare, stream, || {
            time(sampler, &mut chain, &load, rate)
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let loaded = NAMED.iter().filter_map(|named| loaded(results, named));
        loaded.chain(knee_finding(results)).collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let knees = Job::ALL.iter().filter_map(|job| {
            let knee = knee(results, *job)?;
            Some(Mark::found(&format!("knee, {job}"), knee))
        });
        let axes = (
            linear("bandwidth of the other processors", Unit::BytesPerSecond),
            linear("latency of a load", Unit::Nanoseconds),
        );
        let lines = Job::ALL.iter().map(|job| line(results, *job));
        let lines = lines.filter(|line| !line.points.is_empty());
        vec![Figure {
            marks: knees.collect(),
            ..curves(LATENCY, DESIGN.title, axes, lines.collect())
        }]
    }
}

/// A count of bytes on a cache line of its own, and on the adjacent one, which a prefetcher takes with it.
#[derive(Default)]
#[repr(align(128))]
struct Streamed(AtomicU64);

/// The state that the timed thread shares with the loaders.
struct Load {
    job: Job,
    word: u64,
    is_on: AtomicBool,
    /// Loaders at work.
    streaming: AtomicUsize,
    /// From the start of one piece to that of the next, in ns; 0 to start it at once.
    interval_ns: AtomicU64,
    /// The bytes that each processor has streamed so far.
    streamed: BTreeMap<usize, Streamed>,
}

impl Load {
    fn new(job: Job, cpus: &[usize], word: u64) -> Self {
        Self {
            job,
            word,
            is_on: AtomicBool::new(false),
            streaming: AtomicUsize::new(0),
            interval_ns: AtomicU64::new(0),
            streamed: cpus.iter().map(|cpu| (*cpu, Streamed::default())).collect(),
        }
    }

    /// The work of a loader: streams through its block while the load is on.
    fn stream(&self, mut block: Mapping, streamed: &Streamed, is_over: &AtomicBool) {
        let counted = self.job.counted(PIECE) as u64;
        let mut start = 0;
        while !is_over.load(Ordering::Acquire) {
            if !self.is_on.load(Ordering::Acquire) {
                thread::sleep(REST);
                continue;
            }
            self.streaming.fetch_add(1, Ordering::AcqRel);
            let interval_ns = self.interval_ns.load(Ordering::Acquire);
            let mut due_ns = now_ns();
            while self.is_on.load(Ordering::Acquire) {
                let piece = &mut block.as_mut_slice()[start..start + PIECE];
                self.job.work(piece, self.word);
                start = (start + PIECE) % block.len();
                // One thread alone writes it. An atomic addition would wait for all loads before it.
                let bytes = streamed.0.load(Ordering::Relaxed) + counted;
                streamed.0.store(bytes, Ordering::Relaxed);
                due_ns += interval_ns;
                while interval_ns > 0 && now_ns() < due_ns {
                    spin_loop();
                }
            }
            self.streaming.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Has all loaders stream at `share` of `highest`, in bytes per second.
    fn slow_down_to(&self, share: f64, highest: f64) {
        let pieces_per_second = share * highest / self.job.counted(PIECE) as f64;
        let interval_ns = 1e9 * self.streamed.len() as f64 / pieces_per_second;
        self.interval_ns
            .store(interval_ns as u64, Ordering::Release);
    }

    /// Does `work` while all loaders stream, and returns their bandwidth during it in bytes per second.
    fn during(
        &self,
        chain: &mut Chain<'_>,
        work: impl FnOnce(&mut Chain<'_>) -> Result<(), MeasureError>,
    ) -> Result<f64, MeasureError> {
        self.is_on.store(true, Ordering::Release);
        while self.streaming.load(Ordering::Acquire) < self.streamed.len() {
            spin_loop();
        }
        chain.follow(SETTLING_STEPS);
        let (bytes, begin_ns) = (self.bytes(), now_ns());
        let done = work(chain);
        let (bytes, wall_ns) = (self.bytes() - bytes, now_ns() - begin_ns);
        self.is_on.store(false, Ordering::Release);
        while self.streaming.load(Ordering::Acquire) > 0 {
            spin_loop();
        }
        done.map(|()| bytes as f64 * 1e9 / wall_ns as f64)
    }

    /// Bytes that all loaders have streamed so far.
    fn bytes(&self) -> u64 {
        let all = self.streamed.values();
        all.map(|streamed| streamed.0.load(Ordering::Relaxed)).sum()
    }
}

/// Times loads while the loaders stream at `rate`. They sleep between samples, so that the readings of the
/// reference loops show only other programs.
fn time(
    sampler: &mut Sampler<'_>,
    chain: &mut Chain<'_>,
    load: &Load,
    rate: Count,
) -> Result<(), MeasureError> {
    if (1..100).contains(&rate.0) {
        let highest = load.during(chain, |chain| {
            chain.follow(STEPS);
            Ok(())
        })?;
        load.slow_down_to(rate.0 as f64 / 100.0, highest);
    }
    let mut bandwidths = Vec::new();
    sampler.phases(STEPS as f64, |phases| {
        let mut timed = |chain: &mut Chain<'_>| {
            phases.time(&[LATENCY], || {
                chain.follow(STEPS);
                Ok(())
            })
        };
        if rate.0 == 0 {
            chain.follow(SETTLING_STEPS);
            return timed(chain);
        }
        bandwidths.push(load.during(chain, timed)?);
        Ok(())
    })?;
    for bandwidth in bandwidths {
        sampler.value(BANDWIDTH, bandwidth);
    }
    Ok(())
}

/// The latency at `rate` per cent of the highest bandwidth that the others read.
pub(super) fn latency<'r>(results: &'r Results, rate: u64) -> Option<&'r Estimate> {
    results.sound(LATENCY, &[TRAFFIC.at(Job::Read), RATE.at(Count(rate))])
}

/// The bandwidth of the others at a rate.
fn bandwidth(results: &Results, job: Job, rate: Count) -> Option<Quantity> {
    if rate.0 == 0 {
        return Some(Quantity::exact(0.0, BANDWIDTH.unit));
    }
    let found = results.sound(BANDWIDTH, &[TRAFFIC.at(job), RATE.at(rate)])?;
    Some(found.quantity())
}

/// The bandwidth up to which a load takes no more than [`ALMOST`] times as long as the fastest.
fn knee(results: &Results, job: Job) -> Option<Onset<Quantity>> {
    let along = results.along(RATE, LATENCY, &[TRAFFIC.at(job)]).into_iter();
    let curve = along.filter_map(|(rate, latency)| Some((bandwidth(results, job, rate)?, latency)));
    let curve: Vec<_> = curve.collect();
    let curve = Curve::within(1.0 - 1.0 / ALMOST, &curve, Better::Lower);
    curve.end().ok()
}

/// The latency by the measured bandwidth.
fn line(results: &Results, job: Job) -> Series {
    let series = results.series(job.name(), LATENCY, RATE, &[TRAFFIC.at(job)]);
    let by_bandwidth = |point: FigurePoint| {
        let bandwidth = bandwidth(results, job, Count::of(&point.x)?)?;
        let x = Level::Number(bandwidth.value.round() as u64);
        Some(FigurePoint { x, ..point })
    };
    let points = series.points.into_iter().filter_map(by_bandwidth);
    Series {
        points: points.collect(),
        ..series
    }
}

/// The rates of which findings speak, with their keys.
const NAMED: [(&str, u64, &str); 3] = [
    ("half", 50, "half of their highest bandwidth"),
    ("nine_tenths", 90, "nine tenths of their highest bandwidth"),
    ("highest", 100, "their highest bandwidth"),
];

/// The latency at a rate, compared with that at none.
fn loaded(results: &Results, (key, rate, words): &(&str, u64, &str)) -> Option<Finding> {
    let (latency, idle) = (latency(results, *rate)?, latency(results, 0)?);
    let times = ratio(latency, idle)?;
    let said = sentence!(
        "While the other processors read memory at {words} ({bandwidth}), a load from memory takes \
         {latency}, {times} as long as while they sleep ({idle}).",
        bandwidth = bandwidth(results, Job::Read, Count(*rate))?,
    );
    Some(by_ratio(key, said, &times).weighing(0.55))
}

fn knee_finding(results: &Results) -> Option<Finding> {
    let knee = knee(results, Job::Read)?;
    let highest = if knee.is_everywhere() {
        ", their highest bandwidth"
    } else {
        ""
    };
    let said = sentence!(
        "Loads from memory take at most a quarter longer while the other processors read up to \
         {knee}{highest}.",
        knee = Quantity::from(knee),
    );
    Some(Finding::new("knee", said).weighing(0.65))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;

    #[test]
    fn the_quick_profile_has_the_rates_that_findings_name() {
        let points = Loaded.points(&setting(Profile::Quick));
        for rate in [0, 50, 90, 100] {
            let point = Point::new().at(TRAFFIC, Job::Read).at(RATE, Count(rate));
            assert!(points.contains(&point), "{point}");
        }
        assert_eq!(points.len(), 4);
    }

    #[test]
    fn a_visit_loads_no_line_twice() {
        let samples = Profile::Thorough.precision().samples as u64 + 1;
        assert!(samples * (STEPS + SETTLING_STEPS) < (CHAIN / STRIDE) as u64);
    }

    #[test]
    fn each_loader_has_whole_pieces() {
        for loaders in [1, 3, 1_000_000] {
            let bytes = jobs::block_bytes(&Machine::read(), loaders, PIECE);
            assert!(bytes >= PIECE && bytes.is_multiple_of(PIECE), "{bytes}");
        }
    }

    #[test]
    fn a_rate_is_shared_by_all_loaders() {
        let load = Load::new(Job::Read, &[1, 2, 3, 4], 0);
        // 16 KiB in each 2 µs from each of four: 32.768 GB/s.
        load.slow_down_to(0.5, 65.536e9);
        assert_eq!(load.interval_ns.into_inner(), 2000);
        let load = Load::new(Job::Copy, &[1], 0);
        load.slow_down_to(0.5, 16.384e9);
        assert_eq!(load.interval_ns.into_inner(), 1000);
    }
}
