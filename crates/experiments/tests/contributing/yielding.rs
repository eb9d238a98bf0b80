//! `process.yield`: what it costs to offer the processor to others when nobody wants it.

use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::Point;
use instrument::quantity::Unit;
use instrument::results::Results;
use instrument::sampler::Sampler;

pub(crate) struct Yielding;

impl Experiment for Yielding {
    fn id(&self) -> &'static str {
        "process.yield"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "yielding".into(),
            question: "What does it cost to offer the processor to others?".into(),
            method: "sched_yield(2) in a loop, on a processor that nobody else wants.".into(),
            source: "common practice".into(),
            axes: Vec::new(),
            metrics: vec![Metric::new(
                "cost",
                "cost of a yield",
                Unit::Nanoseconds,
                Better::Lower,
            )],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, _: &Setting) -> Vec<Point> {
        vec![Point::new()]
    }

    fn measure(&self, _: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        sampler.repeat("cost", 1.0, |iterations| {
            for _ in 0..iterations {
                std::thread::yield_now();
            }
            Ok(())
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        let cost = results.at(&[]).and_then(|result| result.estimate("cost"));
        cost.filter(|cost| cost.is_sound())
            .map(|cost| {
                Finding::new("cost", "Offering the processor to nobody costs {cost}.").estimated(
                    "cost",
                    cost.centre,
                    cost.interval,
                    Unit::Nanoseconds,
                )
            })
            .into_iter()
            .collect()
    }

    fn figures(&self, _: &Results) -> Vec<Figure> {
        Vec::new()
    }
}
