//! `memory.false_sharing`: the cost of a cache line that two threads write to.

use super::SHORTEST_LOAD_NS;
use crate::estimates::ratio;
use crate::figures::bars;
use crate::other_core::needed_cpu_of_another_core;
use crate::prelude::*;
use crate::together::{on_cpus, several_cpus};
use platform::placement::current_cpu;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct FalseSharing;

const COUNTERS: AxisOf<Counters> = AxisOf::new("counters", "counters");
const INCREMENT: Metric =
    Metric::time("increment", "time of an increment").bounded(SHORTEST_LOAD_NS);

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Counters {
    OneLine,
    TwoLines,
}

impl Counters {
    /// The distance between the counters in words of 8 bytes.
    fn distance(self) -> usize {
        match self {
            Self::OneLine => 1,
            Self::TwoLines => 16,
        }
    }
}

/// Two pairs of cache lines, each aligned like what an adjacent-line prefetcher takes together.
#[derive(Default)]
#[repr(align(128))]
struct Lines([AtomicU64; 32]);

const DESIGN: Design = Design {
    id: "memory.false_sharing",
    title: "False sharing",
    question: "What does it cost when two threads write to different variables on one cache line?",
    method: "Two threads on two cores each increment their own atomic counter, both from the same \
             moment on. One line: the counters are 8 bytes apart on one cache line. Two lines: they \
             are 128 bytes apart, so that a prefetch of adjacent lines does not join them. The time \
             is that of n increments by each thread, from the common start to the end of the slower \
             thread, over n.",
    source: "common practice",
    axes: &[COUNTERS.axis()],
    metrics: &[INCREMENT],
};

impl Experiment for FalseSharing {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![several_cpus(setting)]
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        [Point::new()].by(COUNTERS, Counters::ALL)
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Threads)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let distance = point.level(COUNTERS)?.distance();
        let here = current_cpu().unwrap_or(0);
        let there = needed_cpu_of_another_core()?;
        sampler.remark(format!("on the processors {here} and {there}"));
        let lines = Lines::default();
        let own = |cpu| Ok(&lines.0[if cpu == here { 0 } else { distance }]);
        let count = |counter: &mut &AtomicU64, increments: u64| {
            for _ in 0..increments {
                black_box(*counter).fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        };
        on_cpus(&[here, there], own, count, |pass| {
            sampler.repeat(INCREMENT, 1.0, pass)
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        cost(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let title = "Two threads increment a counter each";
        let series = results.series(INCREMENT.title, INCREMENT, COUNTERS, &[]);
        vec![bars(INCREMENT, title, (COUNTERS, INCREMENT), vec![series])]
    }
}

fn cost(results: &Results) -> Option<Finding> {
    let time = |counters| results.sound(INCREMENT, &[COUNTERS.at(counters)]);
    let (shared, apart) = (time(Counters::OneLine)?, time(Counters::TwoLines)?);
    let times = ratio(shared, apart)?;
    let said = sentence!(
        "Two threads on two cores that increment a counter each take {shared} an increment if both \
         counters are in one cache line, {times} as long as in two: pad what different threads write."
    );
    let costs = times.extent().low > 1.0;
    costs.then(|| Finding::new("two_lines", said).weighing(0.6))
}
