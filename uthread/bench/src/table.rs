//! The tables: a row for each peer, medians with the lowest and highest value of all rounds.

use std::collections::BTreeMap;
use std::io;

const COLUMNS: [(&str, &str); 13] = [
    ("yield_2", "yield, 2 threads"),
    ("yield_1000", "yield, 1000 threads"),
    ("create", "create + join"),
    ("lock", "lock + unlock"),
    ("contended", "lock, 99 threads"),
    ("ten_2", "lock, 10 threads, 2 workers"),
    ("contended_2", "lock, 99 threads, 2 workers"),
    ("wait_2", "longest wait for it, us"),
    ("channel", "channel, a value"),
    ("mesa", "Mesa, a turn of each of two"),
    ("echo", "TCP echo, a round"),
    ("sleep", "sleep of 1 ms while another computes, us"),
    ("memory", "idle thread, bytes"),
];

/// The peer with which the second table compares.
const OWN: &str = "uthread";

/// Values in the order of their rounds, by peer and metric.
type Values = BTreeMap<(String, String), Vec<f64>>;

/// Prints lines of `peer metric value` as tables in Markdown: the values, and their ratios to those of `uthread` in the same
/// round.
pub fn print(lines: impl Iterator<Item = io::Result<String>>) {
    let mut values = Values::new();
    let mut peers = Vec::new();
    for line in lines.map_while(Result::ok) {
        let words: Vec<_> = line.split_whitespace().collect();
        let [peer, metric, value] = words[..] else {
            continue;
        };
        let Ok(value) = value.parse() else { continue };
        if !peers.iter().any(|known| known == peer) {
            peers.push(peer.to_owned());
        }
        values
            .entry((peer.to_owned(), metric.to_owned()))
            .or_default()
            .push(value);
    }
    let of = |peer: &str, metric: &str| values.get(&(peer.to_owned(), metric.to_owned()));
    print_rows("ns", &peers, |peer, metric| {
        of(peer, metric).map_or_else(String::new, |values| cell(values.clone()))
    });
    if !peers.iter().any(|peer| peer == OWN) {
        return;
    }
    println!();
    let others: Vec<_> = peers.into_iter().filter(|peer| peer != OWN).collect();
    print_rows("ratio to uthread", &others, |peer, metric| {
        let (Some(theirs), Some(own)) = (of(peer, metric), of(OWN, metric)) else {
            return String::new();
        };
        cell(
            theirs
                .iter()
                .zip(own)
                .map(|(their, own)| their / own)
                .collect(),
        )
    });
}

fn print_rows(title: &str, peers: &[String], cell: impl Fn(&str, &str) -> String) {
    let heads: Vec<_> = COLUMNS.iter().map(|(_, head)| *head).collect();
    println!("| {title} | {} |", heads.join(" | "));
    println!("| --- |{}", " --- |".repeat(COLUMNS.len()));
    for peer in peers {
        let cells: Vec<_> = COLUMNS
            .iter()
            .map(|(metric, _)| cell(peer, metric))
            .collect();
        println!("| {peer} | {} |", cells.join(" | "));
    }
}

fn cell(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[0], values[values.len() - 1]);
    let median = values[values.len() / 2];
    if median >= 100.0 {
        format!("{median:.0} ({low:.0} to {high:.0})")
    } else if median >= 10.0 {
        format!("{median:.1} ({low:.1} to {high:.1})")
    } else {
        format!("{median:.2} ({low:.2} to {high:.2})")
    }
}
