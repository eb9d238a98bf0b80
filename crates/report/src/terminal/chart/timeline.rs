//! The states of several actors over time: one line per actor, one character per state.

use super::super::style::{Role, Style};
use super::axis::{axis, cell};
use crate::chart::{Domain, Scale};
use instrument::figure::{Figure, FigurePoint, FigureScale, Series};

/// The characters of the first states, in Unicode and in ASCII; further states share the last one.
const STATES: [(char, char); 5] = [('█', '#'), ('░', '-'), ('▒', 'w'), ('▓', '='), ('╌', '.')];

/// The lanes of `figure` above its axis, with a legend of the characters; `None` if it has no
/// lanes.
pub(super) fn draw(figure: &Figure, style: &Style) -> Option<String> {
    let times = figure
        .series
        .iter()
        .flat_map(|series| &series.points)
        .filter_map(time);
    let kind = FigureScale::Linear;
    let scale = Domain::of(times, kind)?.between(kind, 0.0, 1.0);
    let states = figure.states();
    let lengths = figure
        .series
        .iter()
        .map(|series| series.label.chars().count());
    let names = lengths.max().unwrap_or(0);
    let room = style.width.saturating_sub(names + 3).max(10);
    let mut text = String::new();
    for series in &figure.series {
        let lane = lane(series, &states, &scale, room, style);
        text.extend([format!("{:<names$}  {}\n", series.label, lane.trim_end())]);
    }
    let cross = style.choose("┴", "+");
    let column = |place| cell(place, room);
    text += &axis(
        (&scale, figure.y.unit),
        (names + 2, room),
        ("", cross),
        column,
        style,
    );
    let key = states.iter().enumerate().map(|(index, state)| {
        let character = style.paint(Role::Series(index), &character(index, style).to_string());
        format!("{character} {state}")
    });
    let key = key.collect::<Vec<_>>().join("   ");
    text.extend([format!(
        "{}{key}; {}\n",
        " ".repeat(names + 2),
        figure.y.title
    )]);
    Some(text)
}

fn time(point: &FigurePoint) -> Option<f64> {
    point.estimate.is_sound().then_some(point.estimate.centre)
}

fn character(state: usize, style: &Style) -> char {
    let (unicode, ascii) = STATES[state.min(STATES.len() - 1)];
    if style.unicode { unicode } else { ascii }
}

/// One lane; a state with a duration has at least one column.
fn lane(series: &Series, states: &[String], scale: &Scale, room: usize, style: &Style) -> String {
    let mut cells: Vec<Option<usize>> = vec![None; room];
    for pair in series.points.windows(2) {
        let state = states
            .iter()
            .position(|state| *state == pair[0].x.to_string());
        let ends = time(&pair[0]).zip(time(&pair[1]));
        let ends = ends.and_then(|(from, to)| Some((scale.position(from)?, scale.position(to)?)));
        if let (Some(state), Some((from, to))) = (state, ends) {
            let (from, to) = (cell(from, room), cell(to, room));
            cells[from..to.max(from + 1)].fill(Some(state));
        }
    }
    let runs = cells
        .chunk_by(|one, other| one == other)
        .map(|run| match run[0] {
            None => " ".repeat(run.len()),
            Some(state) => {
                let block = character(state, style).to_string().repeat(run.len());
                style.paint(Role::Series(state), &block)
            }
        });
    runs.collect()
}
