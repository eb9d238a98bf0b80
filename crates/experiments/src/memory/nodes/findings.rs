//! The meaning of the pairs of nodes.

use super::{LOAD, MEMORY, NodeName, PROCESSORS, READ, WRITE};
use crate::estimates::{grade, ratio};
use crate::figures::{bars, linear, names};
use crate::prelude::*;

/// A pair of different nodes, and the first one's own memory beside that of the other.
struct Pair<'r> {
    processors: NodeName,
    memory: NodeName,
    near: &'r Estimate,
    far: &'r Estimate,
}

pub(super) fn all(results: &Results) -> Vec<Finding> {
    [latency(results), bandwidth(results)]
        .into_iter()
        .flatten()
        .collect()
}

/// The pair whose loads take longest.
fn latency(results: &Results) -> Option<Finding> {
    let pairs = pairs(results, LOAD).into_iter();
    let slowest = pairs.max_by(|one, other| one.times().total_cmp(&other.times()))?;
    let Pair {
        processors,
        memory,
        near,
        far,
    } = slowest;
    let times = ratio(far, near)?;
    let said = sentence!(
        "On {processors}, a load from the memory of {memory} takes {far}, {times} as long as from its \
         own ({near}): this is the slowest pair of nodes."
    );
    let finding = Finding::new("latency", said);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.65))
}

/// The pair with the least bandwidth.
fn bandwidth(results: &Results) -> Option<Finding> {
    let pairs = pairs(results, READ).into_iter();
    let narrowest = pairs.min_by(|one, other| one.times().total_cmp(&other.times()))?;
    let Pair {
        processors,
        memory,
        near,
        far,
    } = narrowest;
    let times = ratio(far, near)?;
    let said = sentence!(
        "All processors of {processors} together read the memory of {memory} at {far}, {times} as \
         fast as their own ({near}): this is the pair of nodes with the least bandwidth."
    );
    let finding = Finding::new("bandwidth", said);
    Some(finding.graded(grade(&times, 1.0)).weighing(0.65))
}

impl Pair<'_> {
    /// The figure of the far memory over that of the near.
    fn times(&self) -> f64 {
        self.far.centre / self.near.centre
    }
}

/// Every pair of different nodes whose first one has memory of its own.
fn pairs<'r>(results: &'r Results, metric: Metric<&'static str>) -> Vec<Pair<'r>> {
    let of =
        |processors, memory| results.sound(metric, &[PROCESSORS.at(processors), MEMORY.at(memory)]);
    let points = results.points.iter();
    let pairs = points.filter_map(|result| {
        let processors = result.point.level(PROCESSORS).ok()?;
        let memory = result.point.level(MEMORY).ok()?;
        (processors != memory).then_some(Pair {
            processors,
            memory,
            near: of(processors, processors)?,
            far: of(processors, memory)?,
        })
    });
    pairs.collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut nodes: Vec<NodeName> = Vec::new();
    for result in &results.points {
        if let Ok(node) = result.point.level(PROCESSORS)
            && !nodes.contains(&node)
        {
            nodes.push(node);
        }
    }
    let figure = |metric: Metric<&'static str>, title: &str| {
        let series = nodes.iter().map(|node| {
            let label = format!("processors of {node}");
            results.series(&label, metric, MEMORY, &[PROCESSORS.at(*node)])
        });
        let axes = (names("memory of"), linear(title, metric.unit));
        let title = format!("Memory by node: {title}");
        bars(metric, &title, axes, series.collect())
    };
    vec![
        figure(LOAD, "time of a load"),
        figure(READ, "read by all processors"),
        figure(WRITE, "written by all processors"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::Nodes;
    use super::{LOAD, MEMORY, NodeName, PROCESSORS, READ, WRITE};
    use crate::made_up::{figures, findings, measured, value};
    use crate::prelude::*;

    /// Pairs of nodes with a load in ns and a bandwidth in bytes a ns.
    fn found(pairs: &[(usize, usize, f64, f64)]) -> Vec<Finding> {
        let points = pairs.iter().map(|(processors, memory, load, rate)| {
            let point = Point::new()
                .at(PROCESSORS, NodeName(*processors))
                .at(MEMORY, NodeName(*memory));
            let rate = rate * 1e9;
            measured(point, &[(LOAD, *load), (READ, rate), (WRITE, rate / 2.0)])
        });
        let points: Vec<_> = points.collect();
        for figure in figures(&Nodes, points.clone()) {
            let points: usize = figure.series.iter().map(|series| series.points.len()).sum();
            assert_eq!(points, pairs.len(), "{}", figure.key);
        }
        findings(&Nodes, points)
    }

    #[test]
    fn the_farthest_pair_is_told() {
        let found = found(&[
            (0, 0, 100.0, 20.0),
            (0, 1, 150.0, 12.0),
            (1, 0, 180.0, 14.0),
            (1, 1, 100.0, 20.0),
        ]);
        assert!((value(&found, "latency", "times") - 1.8).abs() < 0.01);
        assert!((value(&found, "bandwidth", "times") - 0.6).abs() < 0.01);
        let said = found[0].sentence.to_string();
        assert!(said.starts_with("On node 1, a load from the memory of node 0"));
        assert!(found.iter().all(|finding| finding.grade == Grade::Certain));
    }

    #[test]
    fn nodes_that_are_alike_are_not_called_different() {
        let found = found(&[(0, 0, 100.0, 20.0), (0, 1, 100.0, 20.0)]);
        assert!(
            found
                .iter()
                .all(|finding| finding.grade == Grade::CannotBeTold)
        );
    }

    #[test]
    fn one_node_alone_says_nothing() {
        assert_eq!(found(&[(0, 0, 100.0, 20.0)]), []);
        assert_eq!(found(&[]), []);
    }
}
