//! The states of several actors over time: one line per actor, one character per state.

use super::super::style::{Role, Style};
use super::axis::{below_rows, cell};
use crate::chart::{Block, Timeline, moments};
use crate::lists::joined;
use instrument::figure::Figure;

/// The characters of the first states, in Unicode and in ASCII; further states share the last one.
const STATES: [(char, char); 5] = [('█', '#'), ('░', '-'), ('▒', 'w'), ('▓', '='), ('╌', '.')];

/// The lanes of `figure` above its axis, with a legend of the characters; `None` if it has no
/// lanes.
pub(super) fn draw(figure: &Figure, style: &Style) -> Option<String> {
    moments(figure).first()?;
    let layout = Timeline::of(figure);
    let series = figure.series.iter();
    let names = series.map(|series| series.label.chars().count()).max()?;
    let room = style.width.saturating_sub(names + 3).max(10);
    let mut text = String::new();
    for (series, blocks) in figure.series.iter().zip(&layout.lanes) {
        let lane = lane(blocks, room, style);
        text.extend([format!("{:<names$}  {}\n", series.label, lane.trim_end())]);
    }
    text += &below_rows((&layout.scale, figure.y.unit), (names + 2, room), style);
    let key = layout.states.iter().enumerate().map(|(index, state)| {
        let character = style.paint(Role::Series(index), &character(index, style).to_string());
        format!("{character} {state}")
    });
    let (key, indent) = (joined("   ", key), " ".repeat(names + 2));
    text.extend([format!("{indent}{key}; {}\n", figure.y.title)]);
    Some(text)
}

fn character(state: usize, style: &Style) -> char {
    let (unicode, ascii) = STATES[state.min(STATES.len() - 1)];
    style.choose(unicode, ascii)
}

/// One lane; a state with a duration has at least one column.
fn lane(blocks: &[Block], room: usize, style: &Style) -> String {
    let mut cells: Vec<Option<usize>> = vec![None; room];
    for block in blocks {
        let (from, to) = (cell(block.from, room), cell(block.to, room));
        cells[from..to.max(from + 1)].fill(Some(block.state));
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
