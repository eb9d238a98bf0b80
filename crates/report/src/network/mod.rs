//! The network between the nodes of a fleet: which port and which link is slow.
//!
//! # Method
//!
//! A metric of all pairs is a matrix. On the log scale, a value is what all links share, plus an effect of each of its
//! two ports, plus a rest of the link itself: an additive model that is fitted by medians (`polish`), so that a port
//! does not spoil the links of the others and a link not its ports. A slow *port* is one whose effect differs from those
//! of the others, as [`peers`](instrument::statistics::peers) judges nodes, and a slow *link* one whose rest does. A
//! difference counts only beyond a margin, and the false discovery rate is controlled over all ports, and again over all
//! links.

mod aspect;
mod gather;
mod judge;
pub mod osu;
mod polish;
#[cfg(test)]
mod tests;
mod text;

pub use aspect::Aspect;
pub use gather::Gathering;

use crate::fleet::Standing;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

/// With fewer nodes, a slow port cannot be distinguished from a slow link.
pub const FEWEST_NODES: usize = 4;

/// The version of the JSON format. The schema is `schema/network-1.schema.json` in this crate;
/// `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-report --test schemas` regenerates it.
pub const FORMAT: u32 = 1;

/// The program that measured a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `oscope fleet network`.
    #[default]
    Oscope,
    /// `osu_latency` and `osu_bw`, under MPI.
    Osu,
}

/// A judged network.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Network {
    /// The program that measured it.
    pub origin: Origin,
    /// The names of the nodes, in the order of the matrices.
    pub nodes: Vec<String>,
    /// Differences up to this are ignored: 0.1 for 10 %.
    pub margin: f64,
    /// Measurements of each link.
    pub passes: usize,
    /// The metrics over all links.
    pub matrices: Vec<Matrix>,
    /// The ports that differ: the slower ones first, each the largest difference first.
    pub ports: Vec<Odd>,
    /// The links that differ, apart from their ports; in the same order.
    pub links: Vec<Odd>,
    /// Caveats to read before the numbers.
    pub remarks: Vec<String>,
    /// True if a node or a part of a link could not be measured.
    #[serde(skip)]
    pub is_incomplete: bool,
}

/// A metric over all links.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Matrix {
    /// Title: `TCP round trip, 1 B`.
    pub title: String,
    /// The aspect of a link that it measures.
    pub aspect: Aspect,
    /// Unit of the values.
    pub unit: Unit,
    /// The median over the links.
    pub typical: f64,
    /// The median over the passes, in base units: a row for each node that sends, a column for each that receives. Null
    /// on the diagonal and where there is no value. Round trips are the same in both directions.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// A port or link that differs from the others.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Odd {
    /// A node, or the two nodes of a link: `node1 to node2` in one direction, `node1 and node2` in both.
    pub name: String,
    /// The nodes at its ends. Both are the node of a port.
    #[serde(skip)]
    pub link: Link,
    /// The aspect in which it differs.
    pub aspect: Aspect,
    /// The verdict.
    #[serde(rename = "verdict")]
    pub standing: Standing,
    /// Improvement over the others: 0.5 means half as fast.
    pub ratio: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all ports or all links.
    pub adjusted_p: f64,
}

/// A way from one node to another, by their indices. Of a round trip, the first index is the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
}

/// The network between the nodes of a fleet, judged by oscope.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A network judged by oscope")]
struct NetworkJson<'a> {
    /// The version of this format.
    format: u32,
    #[serde(flatten)]
    network: &'a Network,
}

/// The JSON schema of [`json`].
pub fn schema() -> Schema {
    schema_for!(NetworkJson<'_>)
}

/// The judged network for other programs.
pub fn json(network: &Network) -> serde_json::Value {
    crate::json::value(&NetworkJson {
        format: FORMAT,
        network,
    })
}

impl Network {
    /// True if a port or a link is slower than the others.
    pub fn has_slower(&self) -> bool {
        let mut all = self.ports.iter().chain(&self.links);
        all.any(|odd| odd.standing == Standing::Slower)
    }

    /// The verdict on a cell of `matrix`: that of its link, or else of its ports.
    pub fn standing(&self, matrix: &Matrix, from: usize, to: usize) -> Standing {
        let of_link = self.links.iter().find(|odd| {
            let is_same = odd.link == Link { from, to };
            let is_turned = matrix.aspect.is_mutual() && odd.link == Link { from: to, to: from };
            (is_same || is_turned) && matrix.aspect.concerns(odd.aspect)
        });
        let of_port = self.ports.iter().find(|odd| {
            let node = odd.link.from;
            let is_its = match odd.aspect {
                Aspect::Sending => node == from,
                Aspect::Receiving => node == to,
                Aspect::RoundTrip | Aspect::Loaded => node == from || node == to,
            };
            is_its && matrix.aspect.concerns(odd.aspect)
        });
        let odd = of_link.or(of_port);
        odd.map_or(Standing::Alike, |odd| odd.standing)
    }
}
