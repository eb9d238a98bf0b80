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
mod json;
mod judge;
pub mod osu;
mod polish;
#[cfg(test)]
mod tests;
mod text;

pub use aspect::Aspect;
pub use gather::Gathering;
pub use json::{FORMAT, json, schema};
pub use text::Shown;

use crate::fleet::Standing;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use schemars::JsonSchema;
use serde::Serialize;

/// With fewer nodes, a slow port cannot be told from a slow link.
pub const FEWEST_NODES: usize = 4;

/// Whoever measured a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `oscope fleet network`.
    Oscope,
    /// `osu_latency` and `osu_bw`, under MPI.
    Osu,
}

/// A judged network.
#[derive(Clone, Debug)]
pub struct Network {
    /// Whoever measured it.
    pub origin: Origin,
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// Differences up to this are ignored: 0.1 for 10 %.
    pub margin: f64,
    /// Measurements of each link.
    pub passes: usize,
    /// A matrix for each metric.
    pub matrices: Vec<Matrix>,
    /// The ports that differ: the slower ones first, each the largest difference first.
    pub ports: Vec<Odd<Port>>,
    /// The links that differ, apart from their ports; in the same order.
    pub links: Vec<Odd<Link>>,
    /// Caveats to read before the numbers.
    pub remarks: Vec<String>,
    /// True if a node or a part of a link could not be measured.
    pub lacks_something: bool,
}

/// A metric over all links.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Title: `TCP round trip, 1 B`.
    pub title: String,
    /// The aspect of a link of which it speaks.
    pub aspect: Aspect,
    /// Unit of the values.
    pub unit: Unit,
    /// The median over the links.
    pub typical: f64,
    /// The median over the passes: from the first node to the second one. `None` on the diagonal and where it could not be
    /// measured. Round trips are the same in both directions.
    pub cells: Vec<Vec<Option<f64>>>,
}

/// Something that differs from the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Odd<T> {
    /// The port or link.
    pub what: T,
    /// The aspect in which it differs.
    pub aspect: Aspect,
    /// Slower or faster.
    pub standing: Standing,
    /// Improvement over the others: 0.5 means half as fast.
    pub ratio: f64,
    /// Its 95 % confidence interval.
    pub interval: Option<Interval>,
    /// The p-value of "no more than the margin", adjusted for all ports or all links.
    pub adjusted_p: f64,
}

/// The connection of a node to the network, by the index of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Port(pub usize);

/// A way from one node to another, by their indices. Of a round trip, the first index is the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
}

impl Network {
    /// True if a port or a link is slower than the others.
    pub fn has_slower(&self) -> bool {
        let ports = self.ports.iter().map(|it| it.standing);
        let mut all = ports.chain(self.links.iter().map(|it| it.standing));
        all.any(|standing| standing == Standing::Slower)
    }

    /// The verdict on a cell of `matrix`: that of its link, or else of its ports.
    pub fn standing(&self, matrix: &Matrix, from: usize, to: usize) -> Standing {
        let of_link = self.links.iter().find(|odd| {
            let is_same = odd.what == Link { from, to };
            let is_turned = matrix.aspect.is_mutual() && odd.what == Link { from: to, to: from };
            (is_same || is_turned) && matrix.aspect.concerns(odd.aspect)
        });
        let of_port = self.ports.iter().find(|odd| {
            let Port(node) = odd.what;
            let is_its = match odd.aspect {
                Aspect::Sending => node == from,
                Aspect::Receiving => node == to,
                Aspect::RoundTrip | Aspect::Loaded => node == from || node == to,
            };
            is_its && matrix.aspect.concerns(odd.aspect)
        });
        let of_link = of_link.map(|odd| odd.standing);
        of_link
            .or_else(|| of_port.map(|odd| odd.standing))
            .unwrap_or(Standing::Alike)
    }
}
