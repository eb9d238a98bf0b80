//! The table: a row for each peer, medians with the lowest and highest value.

use std::collections::BTreeMap;
use std::io;

const COLUMNS: [(&str, &str); 11] = [
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
    ("memory", "idle thread, bytes"),
];

/// Prints lines of `peer metric value` as a table in Markdown.
pub fn print(lines: impl Iterator<Item = io::Result<String>>) {
    let mut values: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
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
    let heads: Vec<_> = COLUMNS.iter().map(|(_, head)| *head).collect();
    println!("| ns | {} |", heads.join(" | "));
    println!("| --- |{}", " --- |".repeat(COLUMNS.len()));
    for peer in peers {
        let cells: Vec<_> = COLUMNS
            .iter()
            .map(|(metric, _)| {
                let values = values.get_mut(&(peer.clone(), (*metric).to_owned()));
                values.map_or_else(String::new, |values| cell(values))
            })
            .collect();
        println!("| {peer} | {} |", cells.join(" | "));
    }
}

fn cell(values: &mut [f64]) -> String {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[0], values[values.len() - 1]);
    let median = values[values.len() / 2];
    if median >= 100.0 {
        format!("{median:.0} ({low:.0} to {high:.0})")
    } else {
        format!("{median:.1} ({low:.1} to {high:.1})")
    }
}
