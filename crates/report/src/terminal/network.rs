//! A judged network.

use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::fleet::Standing;
use crate::network::{Network, Odd, Shown};

/// Number of ports and of links to show.
const FIRST_ODD: usize = 20;

/// The counts, remarks, what differs, and the typical and the worst value of each metric.
pub fn network(network: &Network, style: &Style) -> String {
    let mut text = title(&network.headline(), style);
    for remark in &network.remarks {
        text += &paragraph(&style.paint(Role::Doubtful, "! "), remark, style);
    }
    text += &odd("port", network, &network.ports, style);
    text += &odd("link", network, &network.links, style);
    text += "\n";
    text += &metrics(network, style);
    text
}

fn odd<T: Shown>(header: &str, network: &Network, all: &[Odd<T>], style: &Style) -> String {
    if all.is_empty() {
        return String::new();
    }
    let shown = &all[..all.len().min(FIRST_ODD)];
    let column = |cell: &dyn Fn(&Odd<T>) -> Cell| shown.iter().map(cell).collect();
    let verdict = |standing: Standing| Cell {
        text: standing.word().text.into(),
        role: standing.word().tone.into(),
    };
    let grid = Grid {
        lead: vec![Column::left(
            header,
            column(&|it| Cell::plain(it.name(network))),
        )],
        groups: vec![vec![
            Column::left("aspect", column(&|it| Cell::plain(it.aspect.name()))),
            Column::left("verdict", column(&|it| verdict(it.standing))),
            Column::right("as fast", column(&|it| Cell::plain(it.shown_ratio()))),
            Column::left(
                "95 % interval",
                column(&|it| Cell::plain(it.shown_interval())),
            ),
        ]],
    };
    let mut text = format!("\n{}", grid.render(style));
    if all.len() > FIRST_ODD {
        let more = format!("and {} more: --json, or --page FILE", all.len() - FIRST_ODD);
        text += &paragraph("", &more, style);
    }
    text
}

fn metrics(network: &Network, style: &Style) -> String {
    let matrices = &network.matrices;
    let worst: Vec<(String, String)> = matrices
        .iter()
        .map(|matrix| match network.worst(matrix) {
            Some((link, value)) => (
                matrix.shown(value),
                // Throughput has a direction.
                link.shown(network, matrix.aspect),
            ),
            None => (String::new(), String::new()),
        })
        .collect();
    let cells = |texts: Vec<String>| texts.into_iter().map(Cell::plain).collect();
    let titles = matrices.iter().map(|it| it.title.clone());
    let typical = matrices.iter().map(|it| it.shown(it.typical));
    let (values, links): (Vec<String>, Vec<String>) = worst.into_iter().unzip();
    Grid {
        lead: vec![Column::left("metric", cells(titles.collect()))],
        groups: vec![vec![
            Column::right("typical", cells(typical.collect())),
            Column::right("worst", cells(values)),
            Column::left("between", cells(links)),
        ]],
    }
    .render(style)
}
