//! `memory.nodes`: what it costs that memory is near to other processors (NUMA).

mod findings;

use super::caches;
use super::chain::time_loads_from;
use super::parallel::{self, READ, WRITE};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use platform::machine::Machine;
use platform::memory::{Mapping, PageSize};
use platform::node::{self, Node};
use platform::placement::{parent_cpus, pin_to};

/// What it costs that memory is near to other processors.
pub(crate) struct Nodes;

const PROCESSORS: &str = "processors";
const MEMORY: &str = "memory";
const LOAD: &str = "load";

const MIB: u64 = 1 << 20;
/// All blocks together: no cache may hold a good part of them.
const AT_LEAST: u64 = 64 * MIB;
const AT_MOST: u64 = 1024 * MIB;
/// They take no more than this part of what a node has available.
const SHARE_OF_NODE: u64 = 4;
/// From one place of the chain to the next, in bytes: a cache line.
const STRIDE: usize = 64;
/// The part of the memory that must lie where it was asked for.
const LEAST_SHARE_ON_NODE: f64 = 0.99;

/// A load from the nearest cache takes several cycles; no processor does ten in a nanosecond.
const SHORTEST_LOAD_NS: f64 = 0.1;
/// Two registers of 64 bytes a cycle at 8 GHz, on each core of the largest machine.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9 * 4096.0;

impl Experiment for Nodes {
    fn id(&self) -> &'static str {
        "memory.nodes"
    }

    fn definition(&self) -> Definition {
        let bandwidth = |name, title| {
            Metric::new(name, title, Unit::BytesPerSecond, Better::Higher)
                .bounded(MOST_BYTES_PER_SECOND)
        };
        Definition {
            id: self.id().into(),
            title: "Memory of other nodes".into(),
            question: "What does it cost a program that its memory is near to other processors than \
                       its own?"
                .into(),
            method: "Memory is taken from one node, as verified, and used by the processors of one, \
                     for each pair of them. Load: one processor follows a chain of addresses in random \
                     order, one in each cache line, as in memory.latency, in huge pages where the \
                     system gives them. Read and write: a thread on each processor of the node goes \
                     over a block of its own at the same time as the others, as in memory.parallel. \
                     The blocks together are four times as large as the last cache, as far as the \
                     smallest node has room."
                .into(),
            source: "common practice (lmbench's lat_mem_rd and STREAM, under numactl)".into(),
            axes: vec![
                Axis::choice(PROCESSORS, "processors of"),
                Axis::choice(MEMORY, "memory of"),
            ],
            metrics: vec![
                Metric::new(LOAD, "load", Unit::Nanoseconds, Better::Lower)
                    .bounded(SHORTEST_LOAD_NS),
                bandwidth(READ, "read"),
                bandwidth(WRITE, "write"),
            ],
            isolation: Isolation::FreshProcess,
        }
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
        let cpus = cpus_of(find(&nodes, point.choice(PROCESSORS)?)?)?;
        let memory = find(&nodes, point.choice(MEMORY)?)?.number;
        let size = size(&nodes, caches::last_bytes(&Machine::read()))?;
        time_load(sampler, cpus[0], memory, size)?;
        let each = size / cpus.len() / STRIDE * STRIDE;
        parallel::run(sampler, &[READ, WRITE], &cpus, each, Some(memory))
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// The level for a node.
fn name(node: &Node) -> String {
    format!("node {}", node.number)
}

/// Each node with processors, with each that has memory.
fn pairs(nodes: &[Node]) -> Vec<Point> {
    let with_memory = || nodes.iter().filter(|node| node.available_bytes.is_some());
    let with_processors = nodes.iter().filter(|node| !node.cpus.is_empty());
    with_processors
        .flat_map(|one| {
            let point = Point::new().with(PROCESSORS, name(one).as_str());
            with_memory().map(move |other| point.clone().with(MEMORY, name(other).as_str()))
        })
        .collect()
}

/// The node that a level means here.
fn find<'n>(nodes: &'n [Node], level: &str) -> Result<&'n Node, MeasureError> {
    let found = nodes.iter().find(|node| name(node) == level);
    found.ok_or_else(|| MeasureError::Unsupported(format!("this machine has no {level}")))
}

/// The processors of a node that this process may use, the last first, since the first is where most
/// interrupts go.
fn cpus_of(node: &Node) -> Result<Vec<usize>, MeasureError> {
    let allowed = parent_cpus()?.into_iter().rev();
    let cpus: Vec<usize> = allowed.filter(|cpu| node.cpus.contains(cpu)).collect();
    if cpus.is_empty() {
        return Err(MeasureError::Unsupported(format!(
            "no processor of {} may be used here",
            name(node)
        )));
    }
    Ok(cpus)
}

/// How many bytes are measured, the same at each pair.
fn size(nodes: &[Node], last_cache: u64) -> Result<usize, MeasureError> {
    let wanted = (4 * last_cache).clamp(AT_LEAST, AT_MOST);
    let room = nodes.iter().filter_map(|node| node.available_bytes).min();
    match room.map(|room| room / SHARE_OF_NODE) {
        Some(room) if room >= AT_LEAST => Ok(wanted.min(room) as usize / STRIDE * STRIDE),
        room => Err(MeasureError::Unsupported(format!(
            "a quarter of the free memory of the fullest node is {:.3}, and it takes {:.3}",
            Bytes(room.unwrap_or(0)),
            Bytes(AT_LEAST)
        ))),
    }
}

/// Times a load by one processor from the memory of a node.
fn time_load(
    sampler: &mut Sampler<'_>,
    cpu: usize,
    node: usize,
    size: usize,
) -> Result<(), MeasureError> {
    pin_to(&[cpu])?;
    let mut memory = Mapping::anonymous(size, PageSize::Huge)
        .or_else(|_| Mapping::anonymous(size, PageSize::Base))?;
    memory.bind_to_node(node)?;
    memory.populate()?;
    let [on_node, huge] = [memory.bytes_on_node(node)?, memory.huge_bytes()?];
    if (on_node as f64) < LEAST_SHARE_ON_NODE * size as f64 {
        return Err(MeasureError::Unsupported(format!(
            "only {:.3} of {:.3} came from node {node}",
            Bytes(on_node),
            Bytes(size as u64)
        )));
    }
    if huge < size as u64 {
        sampler.remark(format!(
            "{:.3} of {:.3} were in huge pages: the translation of addresses is in the rest",
            Bytes(huge),
            Bytes(size as u64)
        ))?;
    }
    time_loads_from(sampler, LOAD, &mut memory, size / STRIDE, |place, _| {
        place * STRIDE
    })
}

#[cfg(test)]
mod tests {
    use super::{AT_LEAST, LOAD, MEMORY, MIB, Nodes, PROCESSORS, READ, WRITE, name, pairs, size};
    use crate::made_up::{count, measure};
    use instrument::point::Point;
    use platform::node::{self, Node};
    use std::path::Path;

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
        let shown: Vec<String> = pairs(&nodes).iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 4, "{shown:?}");
        let point = Point::new()
            .with(PROCESSORS, "node 1")
            .with(MEMORY, "node 4");
        assert!(pairs(&nodes).contains(&point));
    }

    #[test]
    fn no_node_is_filled_by_more_than_its_share() {
        let nodes = [node(0, &[0], Some(64_000)), node(1, &[1], Some(400))];
        assert_eq!(size(&nodes, 300 * MIB).expect("room"), (100 * MIB) as usize);
        assert_eq!(size(&nodes[..1], MIB).expect("room"), AT_LEAST as usize);
        let error = size(&[node(0, &[0], Some(100))], MIB).expect_err("no room");
        assert!(error.to_string().contains("is 25"), "{error}");
    }

    #[test]
    fn the_memory_of_a_node_is_measured_here() {
        let nodes = node::all();
        let Some(first) = nodes
            .iter()
            .find(|it| it.available_bytes.is_some() && !it.cpus.is_empty())
        else {
            return println!("skipped: the system tells of no nodes");
        };
        let point = Point::new()
            .with(PROCESSORS, name(first).as_str())
            .with(MEMORY, name(first).as_str());
        match measure(&Nodes, &point, Path::new("/")) {
            Ok((samples, _)) => {
                for metric in [LOAD, READ, WRITE] {
                    assert!(count(&samples, metric) >= 1, "{metric}");
                }
            }
            Err(error) => println!("skipped: {error}"),
        }
    }
}
