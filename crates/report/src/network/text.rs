//! A judged network in words.

use super::{Aspect, Link, Matrix, Network, Odd};
use crate::fleet::Standing;
use crate::lists::distinct;
use crate::show;
use instrument::quantity::counted;

impl Link {
    /// `node1 to node2` in one direction, `node1 and node2` in both, `node1` for a port.
    pub fn name(self, nodes: &[String], aspect: Aspect) -> String {
        let [from, to] = [self.from, self.to].map(|node| &nodes[node]);
        match aspect.is_mutual() {
            _ if self.from == self.to => from.clone(),
            true => format!("{from} and {to}"),
            false => format!("{from} to {to}"),
        }
    }
}

impl Network {
    /// Counts: `4 nodes, 6 links: 1 slower port, no slower link`.
    pub fn headline(&self) -> String {
        let count = self.nodes.len();
        let links = count * count.saturating_sub(1) / 2;
        let slower = |odd: &[Odd], one: &str| {
            let slower = odd.iter().filter(|it| it.standing == Standing::Slower);
            let ends =
                slower.map(|Odd { link, .. }| (link.from.min(link.to), link.from.max(link.to)));
            match distinct(ends).len() {
                0 => format!("no slower {one}"),
                count => counted(count, &format!("slower {one}")),
            }
        };
        let (nodes, links) = (counted(count, "node"), counted(links, "link"));
        let (ports, odd_links) = (slower(&self.ports, "port"), slower(&self.links, "link"));
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
    pub fn show(&self, value: f64) -> String {
        show::value(self.unit, value, None)
    }
}
