//! `memory.parallel`: the memory bandwidth that several cores get together.

use super::jobs::{self, COPY, Job, READ, WRITE};
use super::{SHARE_OF_MEMORY, of_library};
use crate::estimates::{by_ratio, ratio};
use crate::figures::{curves, linear, lines_of};
use crate::planning::by_profile;
use crate::prelude::*;
use crate::together::cpus_for;
use platform::machine::Machine;

pub(crate) struct Parallel;

const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");

const LEAST_MEMORY: u64 = 64 * MIB * SHARE_OF_MEMORY;

const DESIGN: Design = Design {
    id: "memory.parallel",
    title: "Memory bandwidth of several cores",
    question: "How much memory bandwidth do several cores get together, and how many of them saturate \
               the memory?",
    method: "Each thread is pinned to its own processor, on an unused core as long as there is \
             one, and works on its own block, all at the same time. The blocks together are four \
             times as large as the caches of these processors, but at least 256 MiB and at most 8 GiB. Read: every byte is loaded. \
             Write: every byte is stored through the caches. Copy: memcpy copies one half of each \
             block to the other; each byte counts once. Bandwidth is the size of all blocks over the \
             time from the common start to the end of the last thread.",
    source: "common practice (STREAM)",
    axes: &[THREADS.axis()],
    metrics: &[READ, WRITE, COPY],
};

impl Experiment for Parallel {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    /// Powers of two and all processors; in the longer profiles every number up to eight.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let most = setting.machine.topology.threads.unwrap_or(1) as u64;
        let every = by_profile(setting.profile, [1, 8, 8]);
        let is_wanted = |count: &u64| *count <= every || count.is_power_of_two() || *count == most;
        let counts = (1..=most).filter(is_wanted);
        [Point::new()].by(THREADS, counts.map(Count))
    }

    fn counterpart(&self, point: &Point, metric: &str, _other: System) -> Option<Counterpart> {
        (metric == COPY.name).then(|| of_library(point))
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let threads = point.level(THREADS)?.0 as usize;
        let cpus = cpus_for(threads)?;
        let each = jobs::block_bytes(&Machine::read(), threads, 2 * 4096);
        jobs::run(sampler, Job::ALL, &cpus, each, None)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        gain(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let jobs = Job::ALL.iter().map(|job| (job.metric(), job.name()));
        let axes = (
            linear("threads", Unit::Count),
            linear("bandwidth of all threads", Unit::BytesPerSecond),
        );
        let title = "Memory bandwidth by number of threads";
        let lines = lines_of(results, THREADS, jobs);
        vec![curves("bandwidth", title, axes, lines)]
    }
}

fn gain(results: &Results) -> Option<Finding> {
    let curve = results.along(THREADS, READ, &[]);
    let [(_, one), .., (threads, all)] = *curve.as_slice() else {
        return None;
    };
    let gain = ratio(all, one)?;
    let said = sentence!(
        "On a machine of {cores} cores, {threads} threads together read memory at {all}, {gain} \
         as fast as one thread.",
        cores = Count(results.machine.topology.cores? as u64),
    );
    Some(by_ratio("read", said, &gain).weighing(0.6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;

    fn point(threads: u64) -> Point {
        Point::new().at(THREADS, Count(threads))
    }

    #[test]
    fn threads_go_up_to_all_processors() {
        for (profile, expected) in [
            (Profile::Quick, &[1, 2, 4, 8, 12][..]),
            (Profile::Standard, &[1, 2, 3, 4, 5, 6, 7, 8, 12]),
        ] {
            let mut setting = setting(profile);
            setting.machine.topology.threads = Some(12);
            let expected: Vec<Point> = expected.iter().map(|count| point(*count)).collect();
            assert_eq!(Parallel.points(&setting), expected);
        }
    }
}
