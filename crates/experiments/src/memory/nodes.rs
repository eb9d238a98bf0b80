//! `memory.nodes`: the cost of memory that is near to other processors (NUMA).

use super::jobs::{self, Job, READ, WRITE};
use super::{SHORTEST_LOAD_NS, hierarchy, pages, time_loads_from};
use crate::estimates::{by_ratio, found, ratio};
use crate::figures::{bars, linear};
use crate::prelude::*;
use instrument::finding::Say;
use platform::machine::Machine;
use platform::node::{self, Node};
use platform::placement::{parent_cpus, pin_to};
use std::fmt;

const PROCESSORS: AxisOf<NodeName> = AxisOf::new("processors", "processors of");
const MEMORY: AxisOf<NodeName> = AxisOf::new("memory", "memory of");
const LOAD: Metric = Metric::time("load", "load").bounded(SHORTEST_LOAD_NS);

/// A node by its number in the system. The level is called `node 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NodeName(usize);

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

impl LevelOf for NodeName {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.to_string())
    }

    fn of(level: &Level) -> Option<Self> {
        read_back(level, |name| {
            Some(Self(name.strip_prefix("node ")?.parse().ok()?))
        })
    }
}

impl Say for NodeName {
    fn say(&self, _name: &'static str, sentence: &mut Sentence) {
        sentence.push_text(&self.to_string());
    }
}

const DESIGN: Design = Design {
    id: "memory.nodes",
    title: "Memory of other NUMA nodes",
    question: "How much slower is the memory of another NUMA node?",
    method: "Memory is taken from one node, as verified, and used by the processors of one node, for each \
             pair of nodes. Load: one processor follows a chain of addresses in random order, one in \
             each cache line, as in memory.latency; in huge pages if the system provides them. Read and \
             write: each processor of the node runs a thread that passes over its own block, all \
             at the same time, as in memory.parallel. The chain is four times as large as the last-level \
             cache, and the blocks together as the caches of these processors, or smaller if the \
             smallest node has too little room.",
    source: "common practice (lmbench's lat_mem_rd and STREAM, under numactl)",
    axes: &[PROCESSORS.axis(), MEMORY.axis()],
    metrics: &[LOAD, READ, WRITE],
};

pub(crate) struct Nodes;

/// The chain, or all blocks together: no cache may hold a good part of them.
const AT_LEAST: u64 = 64 * MIB;
const AT_MOST: u64 = 4096 * MIB;
/// They take no more than this part of the memory that a node has available.
const SHARE_OF_NODE: u64 = 4;
/// From one place of the chain to the next, in bytes: a cache line.
const STRIDE: usize = 64;
/// The part of the memory that must lie on the node asked for.
const LEAST_SHARE_ON_NODE: f64 = 0.99;

impl Experiment for Nodes {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        let nodes = node::all().into_iter();
        vec![Need::Several {
            count: nodes.filter(|node| node.available_bytes.is_some()).count(),
            what: "memory nodes".into(),
        }]
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        pairs(&node::all())
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let nodes = node::all();
        let cpus = cpus_of(find(&nodes, point.level(PROCESSORS)?)?)?;
        let memory = find(&nodes, point.level(MEMORY)?)?.number;
        let machine = Machine::read();
        let chain = size(&nodes, hierarchy::last_bytes(&machine))?;
        time_load(sampler, cpus[0], memory, chain)?;
        let blocks = size(&nodes, hierarchy::bytes_for(&machine, cpus.len()))?;
        let each = blocks / cpus.len() / STRIDE * STRIDE;
        jobs::run(sampler, &[Job::Read, Job::Write], &cpus, each, Some(memory))
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([latency(results), bandwidth(results)])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let nodes = results.levels(PROCESSORS);
        let figure = |metric: Metric, title: &str| {
            let series = nodes.iter().map(|node| {
                let label = format!("processors of {node}");
                results.series(&label, metric, MEMORY, &[PROCESSORS.at(*node)])
            });
            let axes = (MEMORY, linear(title, metric.unit));
            let title = format!("Memory by node: {title}");
            bars(metric, &title, axes, series.collect())
        };
        vec![
            figure(LOAD, "time of a load"),
            figure(READ, "read by all processors"),
            figure(WRITE, "written by all processors"),
        ]
    }
}

/// Each node with processors, with each that has memory.
fn pairs(nodes: &[Node]) -> Vec<Point> {
    let with_memory = || nodes.iter().filter(|node| node.available_bytes.is_some());
    let with_processors = nodes.iter().filter(|node| !node.cpus.is_empty());
    with_processors
        .flat_map(|one| {
            let point = Point::new().at(PROCESSORS, NodeName(one.number));
            with_memory().map(move |other| point.clone().at(MEMORY, NodeName(other.number)))
        })
        .collect()
}

fn find(nodes: &[Node], name: NodeName) -> Result<&Node, MeasureError> {
    let found = nodes.iter().find(|node| node.number == name.0);
    found.ok_or_else(|| unsupported(format!("this machine has no {name}")))
}

/// The processors of a node that this process may use, the last first: most interrupts go to the first.
fn cpus_of(node: &Node) -> Result<Vec<usize>, MeasureError> {
    let allowed = parent_cpus()?.into_iter().rev();
    let cpus: Vec<usize> = allowed.filter(|cpu| node.cpus.contains(cpu)).collect();
    if cpus.is_empty() {
        return Err(MeasureError::Unsupported(format!(
            "no processor of {} may be used here",
            NodeName(node.number)
        )));
    }
    Ok(cpus)
}

/// The number of bytes that are measured next to caches of this many, the same at each pair.
fn size(nodes: &[Node], cache_bytes: u64) -> Result<usize, MeasureError> {
    let wanted = (4 * cache_bytes).clamp(AT_LEAST, AT_MOST);
    let room = nodes.iter().filter_map(|node| node.available_bytes).min();
    match room.map(|room| room / SHARE_OF_NODE) {
        Some(room) if room >= AT_LEAST => Ok(wanted.min(room) as usize / STRIDE * STRIDE),
        room => Err(MeasureError::Unsupported(format!(
            "this needs {:.3}, and a quarter of the free memory of the fullest node is {:.3}",
            Bytes(AT_LEAST),
            Bytes(room.unwrap_or(0))
        ))),
    }
}

fn time_load(
    sampler: &mut Sampler<'_>,
    cpu: usize,
    node: usize,
    size: usize,
) -> Result<(), MeasureError> {
    pin_to(&[cpu])?;
    let mut memory = pages::largest(size)?;
    memory.bind_to_node(node)?;
    memory.populate()?;
    let on_node = memory.bytes_on_node(node)?;
    if (on_node as f64) < LEAST_SHARE_ON_NODE * size as f64 {
        return Err(MeasureError::Unsupported(format!(
            "only {:.3} of {:.3} came from node {node}",
            Bytes(on_node),
            Bytes(size as u64)
        )));
    }
    pages::remark_on_base(sampler, &memory)?;
    time_loads_from(sampler, LOAD, &mut memory, size / STRIDE, |place, _| {
        place * STRIDE
    })
}

/// The processors of one node, the memory of another, and the first one's own memory and that of the other.
type Pair<'r> = (NodeName, NodeName, &'r Estimate, &'r Estimate);

/// The value of the far memory over that of the near.
fn times((.., near, far): &Pair<'_>) -> f64 {
    far.centre / near.centre
}

/// Every pair of different nodes whose first one has its own memory.
fn compared<'r>(results: &'r Results, metric: Metric) -> Vec<Pair<'r>> {
    let of =
        |processors, memory| results.sound(metric, &[PROCESSORS.at(processors), MEMORY.at(memory)]);
    let pairs = results.points.iter().filter_map(|result| {
        let processors = result.point.level(PROCESSORS).ok()?;
        let memory = result.point.level(MEMORY).ok()?;
        let [near, far] = [of(processors, processors)?, of(processors, memory)?];
        (processors != memory).then_some((processors, memory, near, far))
    });
    pairs.collect()
}

fn latency(results: &Results) -> Option<Finding> {
    let pairs = compared(results, LOAD).into_iter();
    let slowest = pairs.max_by(|one, other| times(one).total_cmp(&times(other)));
    let (processors, memory, near, far) = slowest?;
    let times = ratio(far, near)?;
    let said = sentence!(
        "On the processors of {processors}, a load from the memory of {memory} takes {far}, {times} as \
         long as from their own ({near}). No pair of nodes is slower."
    );
    Some(by_ratio("latency", said, &times).weighing(0.75))
}

fn bandwidth(results: &Results) -> Option<Finding> {
    let pairs = compared(results, READ).into_iter();
    let narrowest = pairs.min_by(|one, other| times(one).total_cmp(&times(other)));
    let (processors, memory, near, far) = narrowest?;
    let times = ratio(far, near)?;
    let said = sentence!(
        "All processors of {processors} together read the memory of {memory} at {far}, {times} as \
         fast as their own ({near}). No pair of nodes has less bandwidth."
    );
    Some(by_ratio("bandwidth", said, &times).weighing(0.65))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(processors: usize, memory: usize) -> Point {
        Point::new()
            .at(PROCESSORS, NodeName(processors))
            .at(MEMORY, NodeName(memory))
    }

    fn node(number: usize, cpus: &[usize], mib: Option<u64>) -> Node {
        Node {
            number,
            cpus: cpus.to_vec(),
            available_bytes: mib.map(|mib| mib * MIB),
        }
    }

    #[test]
    fn each_node_is_measured_from_each_with_processors() {
        // The last is a memory expander.
        let nodes = [
            node(0, &[0, 1], Some(1000)),
            node(1, &[2, 3], None),
            node(4, &[], Some(1000)),
        ];
        let expected = [point(0, 0), point(0, 4), point(1, 0), point(1, 4)];
        assert_eq!(pairs(&nodes), expected);
    }

    #[test]
    fn no_node_is_filled_by_more_than_its_share() {
        let nodes = [node(0, &[0], Some(64_000)), node(1, &[1], Some(400))];
        assert_eq!(size(&nodes, 300 * MIB).expect("room"), (100 * MIB) as usize);
        assert_eq!(size(&nodes[..1], MIB).expect("room"), AT_LEAST as usize);
        let error = size(&[node(0, &[0], Some(100))], MIB).expect_err("no room");
        assert!(error.to_string().contains("is 25"), "{error}");
    }
}
