//! A judged network as JSON for other programs. Its schema is `schema/network-1.schema.json` in this crate;
//! `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-report --test schemas` regenerates it.

use super::{Aspect, Matrix, Network, Odd, Origin, Shown};
use crate::fleet::Standing;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

/// The version of this format.
pub const FORMAT: u32 = 1;

/// The JSON schema of [`json`].
pub fn schema() -> Schema {
    schema_for!(Document<'_>)
}

/// The judged network.
pub fn json(network: &Network) -> serde_json::Value {
    serde_json::to_value(Document::new(network)).expect("plain data whose maps have text for keys")
}

/// The network between the nodes of a fleet, judged by oscope.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A network judged by oscope")]
struct Document<'a> {
    /// The version of this format.
    format: u32,
    /// Whoever measured it.
    origin: Origin,
    /// The names of the nodes, in the order of the matrices.
    nodes: &'a [String],
    /// Differences up to this are ignored: 0.1 for 10 %.
    margin: f64,
    /// Measurements of each link.
    passes: usize,
    /// The ports that differ from the others: the slower ones first.
    ports: Vec<OddJson>,
    /// The links that differ, apart from their ports: the slower ones first.
    links: Vec<OddJson>,
    /// Caveats to read before the numbers.
    remarks: &'a [String],
    /// The metrics over all links.
    matrices: Vec<MatrixJson<'a>>,
}

/// A port or link that differs.
#[derive(Serialize, JsonSchema)]
struct OddJson {
    /// A node, or the two nodes of a link: `node1 to node2` in one direction, `node1 and node2` in both.
    name: String,
    /// The aspect in which it differs.
    aspect: Aspect,
    /// The verdict.
    verdict: Standing,
    /// Improvement over the others: 0.5 means half as fast.
    ratio: f64,
    /// Its 95 % confidence interval.
    interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all ports or all links.
    adjusted_p: f64,
}

/// A metric over all links.
#[derive(Serialize, JsonSchema)]
struct MatrixJson<'a> {
    title: &'a str,
    aspect: Aspect,
    unit: Unit,
    /// The median over the links.
    typical: f64,
    /// The median over the passes, in base units: a row for each node that sends, a column for each that receives. Null
    /// where there is no value. Round trips are the same in both directions.
    cells: &'a [Vec<Option<f64>>],
}

impl<'a> Document<'a> {
    fn new(network: &'a Network) -> Self {
        let matrix = |matrix: &'a Matrix| MatrixJson {
            title: &matrix.title,
            aspect: matrix.aspect,
            unit: matrix.unit,
            typical: matrix.typical,
            cells: &matrix.cells,
        };
        Self {
            format: FORMAT,
            origin: network.origin,
            nodes: &network.nodes,
            margin: network.margin,
            passes: network.passes,
            ports: network.ports.iter().map(|it| odd(network, it)).collect(),
            links: network.links.iter().map(|it| odd(network, it)).collect(),
            remarks: &network.remarks,
            matrices: network.matrices.iter().map(matrix).collect(),
        }
    }
}

fn odd<T: Shown>(network: &Network, odd: &Odd<T>) -> OddJson {
    OddJson {
        name: odd.what.shown(network, odd.aspect),
        aspect: odd.aspect,
        verdict: odd.standing,
        ratio: odd.ratio,
        interval: odd.interval,
        adjusted_p: odd.adjusted_p,
    }
}
