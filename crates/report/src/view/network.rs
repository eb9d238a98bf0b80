//! A judged network: the ports and links that differ, the worst of each metric, and a heat map for each.

use super::method;
use crate::document::{Blocks, Document, Piece, Table, Text};
use crate::fleet::Standing;
use crate::lists::distinct;
use crate::network::{Matrix, Network, Odd, Origin};
use instrument::quantity::{Unit, counted};

/// Ports and links to show at first.
const FIRST_ODD: usize = 20;
/// A matrix of more nodes shows the first ones, those that differ before the others, so that the page stays small.
const MOST_NODES: usize = 64;

/// The document of `network`.
pub fn network(network: &Network) -> Document<'_> {
    let odd: Vec<&Odd> = network.ports.iter().chain(&network.links).collect();
    let odd = Table::of("ports and links that differ", &odd)
        .name("port or link", |odd| odd.name.as_str())
        .words("aspect", |odd| odd.aspect.name())
        .words("verdict", |odd| odd.standing.word())
        .words("as fast (95 %)", |odd| {
            Piece::ratio(odd.ratio, odd.interval)
        })
        .first(FIRST_ODD);
    let nodes = shown_nodes(network);
    let matrices = network
        .matrices
        .iter()
        .fold(Blocks::default(), |blocks, it| {
            blocks.section(it.title.as_str(), matrix(network, it, &nodes))
        });
    let blocks = Blocks::default()
        .remark(&network.remarks)
        .table(odd)
        .table(worst(network))
        .rest(matrices);
    Document {
        unfolded_by: "--json, or --page FILE",
        method: Some(method("How the network was judged", [judged(network)])),
        ..blocks.document(network.headline())
    }
}

/// The typical and the worst value of each metric.
fn worst(network: &Network) -> Table {
    let rows: Vec<_> = network
        .matrices
        .iter()
        .map(|it| (it, network.worst(it)))
        .collect();
    Table::of("metrics", &rows)
        .name("metric", |(matrix, _)| matrix.title.as_str())
        .number("typical", |(matrix, _)| matrix.show(matrix.typical))
        .number("worst", |(matrix, worst)| {
            worst.map_or_else(String::new, |(_, value)| matrix.show(value))
        })
        .words("between", |(matrix, worst)| {
            worst.map_or_else(String::new, |(link, _)| {
                link.name(&network.nodes, matrix.aspect)
            })
        })
        .into()
}

/// The nodes in the order of the matrices: all in their own order if they fit.
fn shown_nodes(network: &Network) -> Vec<usize> {
    let all = 0..network.nodes.len();
    if all.len() <= MOST_NODES {
        return all.collect();
    }
    let odd = network.ports.iter().chain(&network.links);
    let odd = odd.flat_map(|it| [it.link.from, it.link.to]);
    let mut shown = distinct(odd.chain(all));
    shown.truncate(MOST_NODES);
    shown.sort_unstable();
    shown
}

/// All values of a metric. Only what differs has a word.
fn matrix<'a>(network: &Network, matrix: &Matrix, nodes: &[usize]) -> Blocks<'a> {
    let heads = if matrix.aspect.is_mutual() {
        "between"
    } else {
        "from, to"
    };
    let name = |node: usize| network.nodes[node].as_str();
    let cell = |from: usize, to: usize| {
        let value = matrix.cells[from][to].map(|value| matrix.show(value));
        let word = network.standing(matrix, from, to).word();
        match (value, network.standing(matrix, from, to)) {
            (None, _) => Text::default(),
            (Some(value), Standing::Alike) => value.into(),
            (Some(value), _) => Piece::toned(word.tone, format!("{value} {}", word.text)).into(),
        }
    };
    let mut table = Table::of(matrix.title.as_str(), nodes).name(heads, |node| name(*node));
    for &to in nodes {
        table = table.number(name(to), |from| cell(*from, to));
    }
    let hidden = match network.nodes.len() - nodes.len() {
        0 => String::new(),
        hidden => format!(" {hidden} more nodes are in the output of --json."),
    };
    let note = format!("Typical: {}.{hidden}", matrix.show(matrix.typical));
    Blocks::default().say([Piece::faint(note)]).table(table)
}

fn judged(network: &Network) -> String {
    let measured = match network.origin {
        Origin::Oscope => format!(
            "Each link was measured {}, in rounds in which no node took part in two measurements. A value is the \
             median over them. Round trips are the median of many messages.",
            counted(network.passes, "time")
        ),
        Origin::Osu => format!(
            "The values are what osu_latency and osu_bw of the OSU benchmarks printed, the median over up to {} \
             of each pair: half a round trip of the smallest message, and the throughput of the largest one.",
            counted(network.passes, "run")
        ),
    };
    format!(
        "{measured} On the log scale, a value is what all links share, an effect of each of its two ports, and a \
         rest of the link: an additive model that is fitted by medians (median polish, Tukey 1977). A slow port \
         has an effect, a slow link a rest, that differs from those of the others as the nodes of a fleet are \
         judged. A deviation counts if it is larger than {} (TREAT, McCarthy and Smyth 2009). Of the ports and of \
         the links that are named at most 1 % may be false (Benjamini and Hochberg 1995).",
        Unit::Share.show(network.margin, 2)
    )
}
