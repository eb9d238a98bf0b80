//! The results of a verification.

use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use super::text::paragraph;
use instrument::quantity::counted;
use record::Proof;
use record::store::{Verification, VerifiedRun};

const OLDER: &str = "it comes from a file without checksums.";

/// A table of the runs of a store, details of the damage, and a sentence on the store's structure.
pub fn verification(found: &Verification, style: &Style) -> String {
    let runs = &found.runs;
    let column = |cell: fn(&VerifiedRun) -> Cell| runs.iter().map(cell).collect();
    let mut text = String::new();
    if !runs.is_empty() {
        let grid = Grid {
            lead: vec![
                Column::right("run", column(|run| Cell::plain(run.number.to_string()))),
                Column::left(
                    "name",
                    column(|run| Cell::plain(run.name.as_deref().unwrap_or(""))),
                ),
            ],
            groups: vec![vec![Column::left("", column(|run| word(&run.proof)))]],
        };
        text += &grid.render(style);
        text.push('\n');
    }
    for run in runs {
        text += &details(&format!("run {}", run.number), &run.proof, style);
    }
    let unproven = runs.iter().filter(|run| run.proof == Proof::Unproven);
    match unproven.count() {
        0 => {}
        unproven => {
            let runs = counted(unproven, "run");
            text += &paragraph("", &format!("{runs} unproven: {OLDER}"), style);
        }
    }
    if found.structure.is_empty() {
        text += &paragraph("", "The structure of the store is sound.", style);
    } else {
        text += &paragraph("", "The structure of the store is damaged:", style);
        for finding in &found.structure {
            text += &paragraph("  ", finding, style);
        }
    }
    text
}

/// The results for the exported file called `name`.
pub fn proof(name: &str, proof: &Proof, style: &Style) -> String {
    let mut text = paragraph("", &format!("{name} is {}.", word(proof).text), style);
    text += &details(name, proof, style);
    if *proof == Proof::Unproven {
        text += &paragraph("", &format!("The reason: {OLDER}"), style);
    }
    text
}

fn word(proof: &Proof) -> Cell {
    let (text, role) = match proof {
        Proof::Proven => ("proven", Role::Plain),
        Proof::Unproven => ("unproven", Role::Doubtful),
        Proof::Damaged { .. } => ("damaged", Role::Broken),
        Proof::Unreadable { .. } => ("unreadable", Role::Broken),
    };
    Cell {
        text: text.into(),
        role,
    }
}

/// One line for each damaged part.
fn details(what: &str, proof: &Proof, style: &Style) -> String {
    match proof {
        Proof::Proven | Proof::Unproven => String::new(),
        Proof::Damaged { parts } => {
            let first = format!("Of {what}, this does not agree with its checksum:");
            let mut text = paragraph("", &first, style);
            for part in parts {
                text += &paragraph("  ", &part.to_string(), style);
            }
            text
        }
        Proof::Unreadable { reason } => {
            paragraph("", &format!("{what} cannot be read: {reason}"), style)
        }
    }
}
