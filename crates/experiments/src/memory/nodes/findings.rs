//! What the pairs of nodes mean.

use super::super::parallel::{READ, WRITE};
use super::{LOAD, MEMORY, PROCESSORS};
use crate::estimates::{WithEstimate, estimated, grade, ratio};
use crate::figures::{bars, linear, names};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

/// A pair of different nodes beside the first one's own memory.
struct Pair<'r> {
    processors: &'r str,
    memory: &'r str,
    near: &'r Estimate,
    far: &'r Estimate,
}

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let loads = pairs(results, LOAD).into_iter();
    let slowest = loads.max_by(|one, other| one.times().total_cmp(&other.times()));
    let reads = pairs(results, READ).into_iter();
    let narrowest = reads.min_by(|one, other| one.times().total_cmp(&other.times()));
    let latency = slowest.and_then(|pair| {
        let template = "from the memory of {memory}, a load takes {far}, {times} as long as from its \
                        own ({near}): no other pair of nodes is farther apart.";
        pair.finding("latency", template, Unit::Nanoseconds)
    });
    let bandwidth = narrowest.and_then(|pair| {
        let template = "the memory of {memory} is read by all processors together at {far}, {times} \
                        as fast as their own ({near}): between no other pair of nodes is it less.";
        pair.finding("bandwidth", template, Unit::BytesPerSecond)
    });
    latency.into_iter().chain(bandwidth).collect()
}

impl Pair<'_> {
    /// How many times the figure of the near memory goes into that of the far.
    fn times(&self) -> f64 {
        self.far.centre / self.near.centre
    }

    fn finding(&self, key: &str, template: &str, unit: Unit) -> Option<Finding> {
        let times = ratio(self.far, self.near)?;
        let template = template.replace("{memory}", self.memory);
        let finding = Finding::new(key, &format!("On {}, {template}", self.processors))
            .with("far", &estimated(self.far), unit)
            .with("times", &times, Unit::Ratio)
            .with("near", &estimated(self.near), unit);
        Some(finding.graded(grade(&times, 1.0)).weighing(0.65))
    }
}

/// Every pair of different nodes whose first one has memory of its own.
fn pairs<'r>(results: &'r Results, metric: &str) -> Vec<Pair<'r>> {
    let of = |processors: &str, memory: &str| {
        let levels = [(PROCESSORS, processors.into()), (MEMORY, memory.into())];
        let estimate = results.at(&levels)?.estimate(metric)?;
        estimate.is_sound().then_some(estimate)
    };
    let pair = |processors: &'r str, memory: &'r str| {
        let (near, far) = (of(processors, processors)?, of(processors, memory)?);
        Some(Pair {
            processors,
            memory,
            near,
            far,
        })
    };
    let points = results.points.iter().filter_map(|result| {
        let levels = [PROCESSORS, MEMORY].map(|axis| result.point.choice(axis).ok());
        levels[0].zip(levels[1])
    });
    let different = points.filter(|(processors, memory)| processors != memory);
    different
        .filter_map(|(processors, memory)| pair(processors, memory))
        .collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut nodes: Vec<&str> = Vec::new();
    for result in &results.points {
        let node = result.point.choice(PROCESSORS).unwrap_or_default();
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let figure = |metric: &str, title: &str, unit| {
        let series = nodes.iter().map(|node| {
            let label = format!("processors of {node}");
            results.series(&label, metric, MEMORY, &[(PROCESSORS, (*node).into())])
        });
        let axes = (names("memory of"), linear(title, unit));
        bars(
            metric,
            &format!("Memory by node: {title}"),
            axes,
            series.collect(),
        )
    };
    vec![
        figure(LOAD, "time of a load", Unit::Nanoseconds),
        figure(READ, "read by all processors", Unit::BytesPerSecond),
        figure(WRITE, "written by all processors", Unit::BytesPerSecond),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{LOAD, MEMORY, Nodes, PROCESSORS, READ, WRITE};
    use crate::made_up::{cost_result, machine, results, value};
    use instrument::experiment::Experiment;
    use instrument::finding::{Finding, Grade};
    use instrument::point::Point;

    /// A load in ns, and bytes a ns of reading.
    fn found(pairs: &[(&str, &str, f64, f64)]) -> Vec<Finding> {
        let points = pairs.iter().map(|(processors, memory, load, rate)| {
            let point = Point::new()
                .with(PROCESSORS, *processors)
                .with(MEMORY, *memory);
            let metrics = [(LOAD, *load, 1.0), (READ, 1.0, *rate), (WRITE, 2.0, *rate)];
            cost_result(&Nodes, &point, &metrics)
        });
        let (definition, machine) = (Nodes.definition(), machine());
        let results = results(&definition, &machine, points.collect());
        for figure in Nodes.figures(&results) {
            let points: usize = figure.series.iter().map(|series| series.points.len()).sum();
            assert_eq!(points, pairs.len(), "{}", figure.key);
        }
        Nodes.findings(&results)
    }

    #[test]
    fn the_farthest_pair_is_told() {
        let found = found(&[
            ("node 0", "node 0", 100.0, 20.0),
            ("node 0", "node 1", 150.0, 12.0),
            ("node 1", "node 0", 180.0, 14.0),
            ("node 1", "node 1", 100.0, 20.0),
        ]);
        assert!((value(&found, "latency", "times") - 1.8).abs() < 0.01);
        assert!((value(&found, "bandwidth", "times") - 0.6).abs() < 0.01);
        assert!(
            found[0]
                .template
                .starts_with("On node 1, from the memory of node 0")
        );
        assert!(found.iter().all(|finding| finding.grade == Grade::Certain));
    }

    #[test]
    fn nodes_that_are_alike_are_not_called_different() {
        let found = found(&[
            ("node 0", "node 0", 100.0, 20.0),
            ("node 0", "node 1", 100.0, 20.0),
        ]);
        assert!(
            found
                .iter()
                .all(|finding| finding.grade == Grade::CannotBeTold)
        );
    }

    #[test]
    fn one_node_alone_says_nothing() {
        assert_eq!(found(&[("node 0", "node 0", 100.0, 20.0)]), []);
        assert_eq!(found(&[]), []);
    }
}
