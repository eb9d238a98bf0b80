//! Text of a judged network, shared by the terminal and the page.

use super::aspect::Metric;
use super::{Aspect, Link, Matrix, Network, Port};
use crate::fleet::Standing;
use crate::show;
use instrument::quantity::{Bytes, Unit, counted};
use network::Protocol;

impl Metric {
    pub(super) fn title(self) -> String {
        match self {
            Self::RoundTrip {
                loaded,
                protocol,
                message_bytes,
            } => {
                let protocol = match protocol {
                    Protocol::Tcp => "TCP",
                    Protocol::Udp => "UDP",
                };
                let load = if loaded { " beside a stream" } else { "" };
                format!("{protocol} round trip{load}, {}", Bytes(message_bytes))
            }
            Self::Throughput => "TCP throughput".into(),
            Self::MpiLatency { message_bytes } => format!("MPI latency, {}", Bytes(message_bytes)),
            Self::MpiThroughput { message_bytes } => {
                format!("MPI throughput, {}", Bytes(message_bytes))
            }
        }
    }

    pub(super) fn unit(self) -> Unit {
        match self {
            Self::RoundTrip { .. } | Self::MpiLatency { .. } => Unit::Nanoseconds,
            Self::Throughput | Self::MpiThroughput { .. } => Unit::BytesPerSecond,
        }
    }

    /// The logarithm of a value, signed so that more is better.
    pub(super) fn merit(self, value: f64) -> f64 {
        match self {
            Self::RoundTrip { .. } | Self::MpiLatency { .. } => -value.ln(),
            Self::Throughput | Self::MpiThroughput { .. } => value.ln(),
        }
    }
}

/// A thing that has a name in words.
pub trait Shown {
    /// The words for it in `aspect`.
    fn shown(&self, network: &Network, aspect: Aspect) -> String;
}

impl Shown for Port {
    fn shown(&self, network: &Network, _aspect: Aspect) -> String {
        network.nodes[self.0].clone()
    }
}

impl Shown for Link {
    fn shown(&self, network: &Network, aspect: Aspect) -> String {
        let [from, to] = [self.from, self.to].map(|node| &network.nodes[node]);
        let word = if aspect.is_mutual() { "and" } else { "to" };
        format!("{from} {word} {to}")
    }
}

impl Network {
    /// Counts: `4 nodes, 6 links: 1 slower port, no slower link`.
    pub fn headline(&self) -> String {
        let count = self.nodes.len();
        let links = count * count.saturating_sub(1) / 2;
        let slower = |whats: Vec<usize>, one: &str| {
            let mut whats = whats;
            whats.sort_unstable();
            whats.dedup();
            match whats.len() {
                0 => format!("no slower {one}"),
                count => counted(count, &format!("slower {one}")),
            }
        };
        let is_slower = |standing: Standing| standing == Standing::Slower;
        let ports = self.ports.iter().filter(|it| is_slower(it.standing));
        let ports = slower(ports.map(|it| it.what.0).collect(), "port");
        let odd_links = self.links.iter().filter(|it| is_slower(it.standing));
        let of_pair = |link: Link| link.from.min(link.to) * count + link.from.max(link.to);
        let odd_links = slower(odd_links.map(|it| of_pair(it.what)).collect(), "link");
        let (nodes, links) = (counted(count, "node"), counted(links, "link"));
        format!("{nodes}, {links}: {ports}, {odd_links}")
    }

    /// The link of `matrix` with the worst value; `None` without values.
    pub fn worst(&self, matrix: &Matrix) -> Option<(Link, f64)> {
        let count = self.nodes.len();
        let links = (0..count).flat_map(|from| (0..count).map(move |to| Link { from, to }));
        let links = links.filter(|link| !matrix.aspect.is_mutual() || link.from < link.to);
        let values = links.filter_map(|link| Some((link, matrix.cells[link.from][link.to]?)));
        if matrix.aspect.is_mutual() {
            values.max_by(|(_, one), (_, other)| one.total_cmp(other))
        } else {
            values.min_by(|(_, one), (_, other)| one.total_cmp(other))
        }
    }
}

impl Matrix {
    /// A value with its unit.
    pub fn shown(&self, value: f64) -> String {
        show::value(self.unit, value, None)
    }
}
