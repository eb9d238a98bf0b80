//! `process.yield`: the cost of offering the processor to others when nobody wants it.

use crate::prelude::*;

pub(crate) struct Yielding;

const COST: Metric = Metric::time("cost", "cost of a yield");

const DESIGN: Design = Design {
    id: "process.yield",
    title: "Yielding",
    question: "What does it cost to offer the processor to others?",
    method: "sched_yield(2) in a loop, on a processor that nobody else wants.",
    source: "common practice",
    axes: &[],
    metrics: &[COST],
};

impl Experiment for Yielding {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, _: &Setting) -> Vec<Point> {
        vec![Point::new()]
    }

    fn measure(&self, _: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        sampler.repeat(COST, 1.0, |iterations| {
            (0..iterations).for_each(|_| std::thread::yield_now());
            Ok(())
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let cost = results.sound(COST, &[]).into_iter();
        let said = cost.map(|cost| sentence!("Offering the processor to nobody costs {cost}."));
        said.map(|said| Finding::new("cost", said)).collect()
    }
}
