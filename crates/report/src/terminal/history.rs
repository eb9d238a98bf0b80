//! A metric over the stored runs.

use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::comparison::show_ratio;
use crate::history::History;
use crate::show;
use instrument::experiment::Better;
use instrument::quantity::counted;
use instrument::statistics::changes::{Change, LEAST};
use instrument::statistics::summary::median;

/// More runs than this add nothing to a line of bars.
const BARS: usize = 60;

/// A single history in full; several histories as one line each, the latest changes first.
pub fn histories(histories: &[History], style: &Style) -> String {
    match histories {
        [] => "No run has it.\n".into(),
        [history] => single(history, style),
        several => overview(several, style),
    }
}

fn overview(histories: &[History], style: &Style) -> String {
    let mut ordered: Vec<&History> = histories.iter().collect();
    let last = |history: &&History| {
        history
            .changes
            .last()
            .map(|change| history.runs[change.at].run)
    };
    ordered.sort_by_key(|history| std::cmp::Reverse(last(history)));
    let column = |cell: &dyn Fn(&History) -> Cell| -> Vec<Cell> {
        ordered.iter().map(|history| cell(history)).collect()
    };
    let newest = |history: &History| {
        let newest = history.runs.last();
        newest.map_or_else(String::new, |entry| {
            show::value(history.metric.unit, entry.value, entry.interval)
        })
    };
    let changed = |history: &History| match history.changes.last() {
        Some(change) => change_words(history, change),
        None => Cell::plain(""),
    };
    Grid {
        lead: vec![
            Column::left("point", column(&|history| Cell::plain(place(history)))),
            Column::left(
                "metric",
                column(&|history| Cell::plain(history.metric.name.as_str())),
            ),
        ],
        groups: vec![
            vec![
                Column::right(
                    "runs",
                    column(&|history| Cell::plain(history.runs.len().to_string())),
                ),
                Column::right("newest", column(&|history| Cell::plain(newest(history)))),
            ],
            vec![
                Column::right(
                    "changes",
                    column(&|history| Cell::plain(history.changes.len().to_string())),
                ),
                Column::left("the last one", column(&changed)),
            ],
        ],
    }
    .render(style)
}

fn single(history: &History, style: &Style) -> String {
    let mut text = title(
        &format!(
            "{} {}: {}",
            history.definition.id,
            history.metric.name,
            place(history)
        ),
        style,
    );
    if style.unicode {
        text += &bars(history);
    }
    let runs = history.runs.len();
    if runs < LEAST {
        let few = format!(
            "{}: changes are looked for from {LEAST} runs on.",
            counted(runs, "run")
        );
        text += &paragraph("", &few, style);
    }
    text += &levels(history, style);
    if history.left_out > 0 {
        let left_out = format!(
            "{} left out: of another version of the metric, measured in another way, or not sound.",
            counted(history.left_out, "run")
        );
        text += &paragraph("", &left_out, style);
    }
    if history.damaged > 0 {
        let damaged = format!(
            "{} left out: damaged. `oscope verify` tells what is.",
            counted(history.damaged, "run")
        );
        text += &paragraph("", &damaged, style);
    }
    text
}

/// One row for each stretch between changes.
fn levels(history: &History, style: &Style) -> String {
    let stretches = history.levels();
    let unit = history.metric.unit;
    let runs = stretches.iter().map(|stretch| {
        let (first, last) = (&history.runs[stretch.start], &history.runs[stretch.end - 1]);
        Cell::plain(format!("{} to {}", first.run, last.run))
    });
    let since = stretches
        .iter()
        .map(|stretch| Cell::plain(show::moment(history.runs[stretch.start].started)));
    let values = stretches.iter().map(|stretch| {
        let values: Vec<f64> = history.runs[stretch.clone()]
            .iter()
            .map(|entry| entry.value)
            .collect();
        Cell::plain(
            median(&values).map_or_else(String::new, |value| show::value(unit, value, None)),
        )
    });
    let changes = [Cell::plain("")].into_iter().chain(
        history
            .changes
            .iter()
            .map(|change| change_words(history, change)),
    );
    Grid {
        lead: vec![Column::left("runs", runs.collect())],
        groups: vec![
            vec![
                Column::left("since", since.collect()),
                Column::right("median", values.collect()),
            ],
            vec![Column::left("change", changes.collect())],
        ],
    }
    .render(style)
}

/// `1.21 × (1.18 to 1.24) at run 17, from 16 to 18`.
fn change_words(history: &History, change: &Change) -> Cell {
    let run = |index: usize| history.runs[index].run;
    let interval = change.ratio.interval.map_or_else(String::new, |interval| {
        format!(
            " ({} to {})",
            show_ratio(interval.low).trim_end_matches(" ×"),
            show_ratio(interval.high).trim_end_matches(" ×")
        )
    });
    let (earliest, latest) = change.between;
    let place = if earliest == latest {
        String::new()
    } else {
        format!(", from {} to {}", run(earliest), run(latest))
    };
    let worse = match history.metric.better {
        Better::Higher => change.ratio.centre < 1.0,
        Better::Lower => change.ratio.centre > 1.0,
        Better::Neither => false,
    };
    Cell {
        text: format!(
            "{}{interval} at run {}{place}",
            show_ratio(change.ratio.centre),
            run(change.at)
        ),
        role: if worse { Role::Broken } else { Role::Accent },
    }
}

fn place(history: &History) -> String {
    show::point(&history.definition, &history.point)
}

/// The newest values as a line of bars, scaled from the lowest to the highest.
fn bars(history: &History) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let newest = &history.runs[history.runs.len().saturating_sub(BARS)..];
    let (low, high) = newest
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), entry| {
            (low.min(entry.value), high.max(entry.value))
        });
    let height = |value: f64| {
        let part = (value - low) / (high - low);
        HEIGHTS[(part * 7.0).round().clamp(0.0, 7.0) as usize]
    };
    let bars: String = newest.iter().map(|entry| height(entry.value)).collect();
    let unit = history.metric.unit;
    let end = |value: f64| show::value(unit, value, None);
    format!("{bars}  {} to {}\n", end(low), end(high))
}
