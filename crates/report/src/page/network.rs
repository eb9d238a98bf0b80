//! The page of a judged network: a heat map for each metric.

use super::render::Error;
use crate::fleet::Standing;
use crate::network::{Matrix, Network, Odd, Origin, Shown};
use askama::Template;
use instrument::quantity::{Unit, counted};

/// A matrix of more nodes shows the first ones, those that differ before the others, so that the page stays small.
const MOST_NODES: usize = 64;

/// The page of `network`: a complete HTML document without external references or scripts.
///
/// # Errors
/// [`Error`] if a template cannot be written. No such case is known.
pub fn network(network: &Network) -> Result<String, Error> {
    let nodes = shown_nodes(network);
    let page = Page {
        title: network.headline(),
        remarks: &network.remarks,
        ports: network
            .ports
            .iter()
            .map(|it| OddView::new(network, it))
            .collect(),
        links: network
            .links
            .iter()
            .map(|it| OddView::new(network, it))
            .collect(),
        names: nodes
            .iter()
            .map(|node| network.nodes[*node].as_str())
            .collect(),
        hidden: network.nodes.len() - nodes.len(),
        matrices: network
            .matrices
            .iter()
            .map(|it| MatrixView::new(network, it, &nodes))
            .collect(),
        margin: Unit::Share.show(network.margin, 2),
        measured: match network.origin {
            Origin::Oscope => format!(
                "Each link was measured {}, in rounds in which no node took part in two measurements; a value is \
                 the median over them. Round trips are the median of many messages.",
                counted(network.passes, "time")
            ),
            Origin::Osu => format!(
                "The values are what osu_latency and osu_bw of the OSU benchmarks printed, the median over up to {} \
                 of each pair: half a round trip of the smallest message, and the throughput of the largest one.",
                counted(network.passes, "run")
            ),
        },
        version: env!("CARGO_PKG_VERSION"),
        css: include_str!("../../assets/page.css"),
    };
    Ok(page.render()?)
}

/// The nodes in the order of the matrices: all in their own order if they fit.
fn shown_nodes(network: &Network) -> Vec<usize> {
    let all = 0..network.nodes.len();
    if all.len() <= MOST_NODES {
        return all.collect();
    }
    let of_ports = network.ports.iter().map(|it| it.what.0);
    let of_links = network
        .links
        .iter()
        .flat_map(|it| [it.what.from, it.what.to]);
    let mut shown = Vec::new();
    for node in of_ports.chain(of_links).chain(all) {
        if shown.len() < MOST_NODES && !shown.contains(&node) {
            shown.push(node);
        }
    }
    shown.sort_unstable();
    shown
}

#[derive(Template)]
#[template(path = "network.html")]
struct Page<'a> {
    title: String,
    remarks: &'a [String],
    ports: Vec<OddView>,
    links: Vec<OddView>,
    /// The nodes of the matrices.
    names: Vec<&'a str>,
    /// Number of nodes that the matrices do not show.
    hidden: usize,
    matrices: Vec<MatrixView<'a>>,
    margin: String,
    measured: String,
    version: &'static str,
    css: &'static str,
}

/// A port or a link that differs.
struct OddView {
    name: String,
    aspect: &'static str,
    verdict: &'static str,
    class: &'static str,
    ratio: String,
    interval: String,
}

struct MatrixView<'a> {
    title: &'a str,
    typical: String,
    /// The words for the heads of the rows.
    rows: &'static str,
    cells: Vec<Vec<CellView>>,
}

struct CellView {
    text: String,
    /// The verdict in words, so that colour is not the only sign; empty for a healthy link.
    verdict: &'static str,
    class: &'static str,
}

impl OddView {
    fn new<T: Shown>(network: &Network, odd: &Odd<T>) -> Self {
        let word = odd.standing.word();
        Self {
            name: odd.name(network),
            aspect: odd.aspect.name(),
            verdict: word.text,
            class: word.class,
            ratio: odd.shown_ratio(),
            interval: odd.shown_interval(),
        }
    }
}

impl<'a> MatrixView<'a> {
    fn new(network: &Network, matrix: &'a Matrix, nodes: &[usize]) -> Self {
        let cell = |from: usize, to: usize| {
            let standing = network.standing(matrix, from, to);
            let value = matrix.cells[from][to];
            let (verdict, class) = match standing {
                Standing::Slower | Standing::Faster if value.is_some() => {
                    (standing.word().text, standing.word().class)
                }
                _ => ("", ""),
            };
            CellView {
                text: value.map_or_else(String::new, |value| matrix.shown(value)),
                verdict,
                class,
            }
        };
        let row = |from: &usize| nodes.iter().map(|to| cell(*from, *to)).collect();
        Self {
            title: &matrix.title,
            typical: matrix.shown(matrix.typical),
            rows: if matrix.aspect.is_mutual() {
                "between"
            } else {
                "from, to"
            },
            cells: nodes.iter().map(row).collect(),
        }
    }
}
