//! `process.switch`: what it costs to go from one process or thread to another.

mod findings;
mod points;
mod ring;

use super::placement::{self, PLACEMENT, Placement};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::Unit;
use instrument::results::Results;
use instrument::sampler::Sampler;
use platform::clock::now_ns;
use std::thread;

/// What it costs to go from one process or thread to another.
pub(crate) struct Switch;

pub(super) const KIND: &str = "kind";
pub(super) const COUNT: &str = "count";
pub(super) const WORKING_SET: &str = "working_set";

pub(super) const SWITCH: &str = "switch";
const PASS: &str = "pass";
const ALONE: &str = "alone";

/// Rounds before the first that is timed.
const WARMING_ROUNDS: u32 = 20;

pub(super) const PROCESSES: &str = "processes";
pub(super) const THREADS: &str = "threads";

impl Experiment for Switch {
    fn id(&self) -> &'static str {
        "process.switch"
    }

    fn definition(&self) -> Definition {
        let metric = |name, title| Metric::new(name, title, Unit::Nanoseconds, Better::Lower);
        Definition {
            id: self.id().into(),
            title: "Context switches".into(),
            question: "What does it cost to go from one process or thread to another, and how \
                       does that grow with their number and memory?"
                .into(),
            method:
                "Processes, or threads of one process, form a ring. Each waits at a pipe for a \
                     token of 1 byte, then reads a working set of its own whole, and writes the \
                     token into the pipe of the next; so only one runs at a time. `pass` is the \
                     median time of a round over their number, the clock's cost taken off. `alone` is what is in it without a switch: \
                     one of them sends itself the token through a pipe and reads its working set, \
                     again and again. `switch` is pass less alone, taken in the same process: the \
                     scheduler's work, the change of address space where they are processes, the \
                     caches and translations that have to be filled again because others used them \
                     meanwhile, and, on two cores, the waking of the other core. On one core all \
                     are pinned to the same processor; on two cores each passes the token to one \
                     on the other core. Pages are of the smallest size."
                    .into(),
            source: "common practice, after lmbench's lat_ctx".into(),
            axes: vec![
                Axis::choice(KIND, "kind"),
                Axis::count(COUNT, "number"),
                Axis::bytes(WORKING_SET, "working set"),
                placement::axis(),
            ],
            metrics: vec![
                metric(SWITCH, "context switch"),
                metric(PASS, "pass of the token"),
                metric(ALONE, "pass without a switch"),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let count = point.number(COUNT)? as usize;
        let working_set = point.number(WORKING_SET)? as usize;
        let kind = point.choice(KIND)?;
        let placement = Placement::take(point.choice(PLACEMENT)?, sampler)?;

        let (mut own, _) = ring::members(1, working_set)?;
        let alone_ns = time_rounds(sampler, ALONE, 1, &mut own)?;
        drop(own);

        let (mut first, others) = ring::members(count, working_set)?;
        let pass_ns = match kind {
            PROCESSES => {
                let _partners = ring::as_processes(others, placement)?;
                time_rounds(sampler, PASS, count, &mut first)
            }
            THREADS => thread::scope(|scope| {
                // Dropped at the end of this, it ends the next, and so all round.
                let mut first = first;
                ring::as_threads(others, placement, scope)?;
                time_rounds(sampler, PASS, count, &mut first)
            }),
            other => Err(MeasureError::Unsupported(format!(
                "there is no switch between '{other}'"
            ))),
        }?;
        sampler.value(SWITCH, pass_ns - alone_ns)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// Times rounds of a ring with so many members; the median of a pass.
fn time_rounds(
    sampler: &mut Sampler<'_>,
    metric: &str,
    count: usize,
    first: &mut ring::First,
) -> Result<f64, MeasureError> {
    (0..WARMING_ROUNDS).try_for_each(|_| first.round())?;
    sampler.latencies_of(metric, count as f64, || {
        let begin_ns = now_ns();
        first.round()?;
        Ok(now_ns().saturating_sub(begin_ns))
    })
}

#[cfg(test)]
mod tests {
    use super::{ALONE, COUNT, KIND, PASS, PLACEMENT, SWITCH, Switch, WORKING_SET};
    use crate::made_up::{count, measure, values};
    use instrument::point::Point;
    use std::path::Path;

    fn point(kind: &str, placement: &str) -> Point {
        Point::new()
            .with(KIND, kind)
            .with(COUNT, 3)
            .with(WORKING_SET, 4096)
            .with(PLACEMENT, placement)
    }

    #[test]
    fn a_ring_of_threads_goes_round_and_ends() {
        let taken = measure(&Switch, &point("threads", "one core"), Path::new("/"));
        let (samples, _) = taken.expect("threads can be made");
        assert!(count(&samples, ALONE) >= 1 && count(&samples, PASS) >= 1);
        assert_eq!(values(&samples, SWITCH).len(), 1);
    }

    #[test]
    fn what_another_version_measures_is_refused() {
        for (kind, placement) in [("fibres", "one core"), ("threads", "no core")] {
            let taken = measure(&Switch, &point(kind, placement), Path::new("/"));
            let error = taken.expect_err("there is no such thing").to_string();
            assert!(error.starts_with("there is no"), "{error}");
        }
    }
}
