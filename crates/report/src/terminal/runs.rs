//! The list of stored runs.

use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use crate::show;
use record::store::RunSummary;

/// A table of runs in the given order, or a sentence if there are none.
pub fn runs(runs: &[RunSummary], style: &Style) -> String {
    if runs.is_empty() {
        return "No run has been stored yet.\n".into();
    }
    let column = |cell: fn(&RunSummary) -> Cell| runs.iter().map(cell).collect();
    let lead = vec![
        Column::right("run", column(|run| Cell::plain(run.number.to_string()))),
        Column::left(
            "name",
            column(|run| Cell::plain(run.name.as_deref().unwrap_or(""))),
        ),
    ];
    let groups = vec![
        vec![
            Column::left(
                "started",
                column(|run| Cell::plain(show::moment(run.started))),
            ),
            Column::right("took", column(took)),
        ],
        vec![
            Column::left(
                "profile",
                column(|run| Cell::plain(run.profile.to_string())),
            ),
            Column::right(
                "experiments",
                column(|run| Cell::plain(run.experiments.to_string())),
            ),
            Column::right("points", column(|run| Cell::plain(run.points.to_string()))),
            Column::right(
                "samples",
                column(|run| Cell::plain(run.samples.to_string())),
            ),
        ],
        vec![
            Column::left(
                "machine",
                column(|run| Cell::plain(run.machine_fingerprint.as_str())),
            ),
            Column::left("tags", column(|run| Cell::plain(tags(run)))),
        ],
    ];
    Grid { lead, groups }.render(style)
}

fn tags(run: &RunSummary) -> String {
    let tags = run.tags.iter().map(|(key, value)| format!("{key}={value}"));
    tags.collect::<Vec<_>>().join(" ")
}

fn took(run: &RunSummary) -> Cell {
    let doubtful = |text: &str| Cell {
        text: text.into(),
        role: Role::Doubtful,
    };
    match run.ended {
        _ if run.damaged => Cell {
            text: "damaged".into(),
            role: Role::Broken,
        },
        None => doubtful("unfinished"),
        Some(_) if run.interrupted => doubtful("interrupted"),
        Some(ended) => {
            let ns = ended.duration_since(run.started).as_nanos();
            Cell::plain(show::length(ns as f64))
        }
    }
}
