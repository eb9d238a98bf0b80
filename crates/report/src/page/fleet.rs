//! The page of a judged fleet: a row for each node, a column for each component.

use super::anchor::Anchors;
use super::render::Error;
use crate::comparison::Circumstance;
use crate::fleet::{Alarm, Fleet, Node, Part, Standing, Value};
use crate::show::words::NOT_MEASURED;
use askama::Template;
use instrument::point::Choice;
use instrument::quantity::Unit;

/// Number of values to show for a node.
const FIRST_VALUES: usize = 20;
/// Number of nodes to show in detail, so that the page of a thousand sick nodes stays small.
const MOST_DETAILS: usize = 100;

/// The page of `fleet`: a complete HTML document without external references or scripts.
///
/// # Errors
/// [`Error`] if a template cannot be written. No such case is known.
pub fn fleet(fleet: &Fleet) -> Result<String, Error> {
    let mut anchors = Anchors::default();
    let mut details = Vec::new();
    let nodes = fleet.nodes.iter();
    let rows: Vec<RowView<'_>> = nodes
        .map(|node| {
            let is_odd = node.standing != Standing::Alike;
            let id = (is_odd && details.len() < MOST_DETAILS).then(|| anchors.take(&node.name));
            if let Some(id) = &id {
                details.push(DetailsView::new(id.clone(), fleet, node));
            }
            RowView::new(id, node, fleet.words().alike)
        })
        .collect();
    let left_out = fleet.left_out();
    let second = fleet.second.iter();
    let again = second.flat_map(|it| it.alarms.iter().map(Alarm::sentence));
    let again: Vec<String> = again.collect();
    let page = Page {
        title: fleet.headline(),
        components: fleet.components.iter().map(|it| it.name()).collect(),
        rows: &rows,
        details: &details,
        remarks: fleet.caveats(),
        left_out: &left_out,
        again: &again,
        margin: Unit::Share.show(fleet.margin, 2),
        values: fleet.values,
        is_since: fleet.is_since,
        version: env!("CARGO_PKG_VERSION"),
        css: include_str!("../../assets/page.css"),
    };
    Ok(page.render()?)
}

#[derive(Template)]
#[template(path = "fleet.html")]
struct Page<'a> {
    title: String,
    components: Vec<&'static str>,
    rows: &'a [RowView<'a>],
    details: &'a [DetailsView<'a>],
    remarks: Vec<String>,
    left_out: &'a [String],
    /// The outcome of each alarm that was measured again.
    again: &'a [String],
    margin: String,
    values: usize,
    is_since: bool,
    version: &'static str,
    css: &'static str,
}

/// A node in the table of all.
struct RowView<'a> {
    /// The anchor of its details, if there are any.
    id: Option<String>,
    name: &'a str,
    verdict: &'static str,
    class: &'static str,
    cells: Vec<CellView>,
}

/// A component of a node.
struct CellView {
    ratio: String,
    interval: String,
    /// The verdict in words, so that colour is not the only sign; empty for a healthy component.
    verdict: &'static str,
    class: &'static str,
}

/// A node that differs.
struct DetailsView<'a> {
    id: String,
    name: &'a str,
    sentence: String,
    values: Vec<ValueView<'a>>,
    further: usize,
    circumstances: &'a [Circumstance],
    missing: String,
}

/// A value that differs.
struct ValueView<'a> {
    ratio: String,
    interval: String,
    class: &'static str,
    verdict: &'static str,
    component: &'static str,
    place: &'a str,
    experiment: &'a str,
    here: String,
    elsewhere: String,
    doubtful: bool,
}

impl<'a> RowView<'a> {
    fn new(id: Option<String>, node: &'a Node, alike: &'static str) -> Self {
        Self {
            id,
            name: &node.name,
            verdict: match node.standing {
                Standing::Alike => alike,
                standing => standing.word().text,
            },
            class: colour(node.standing),
            cells: node
                .parts
                .iter()
                .map(|it| CellView::new(it.as_ref()))
                .collect(),
        }
    }
}

impl CellView {
    fn new(part: Option<&Part>) -> Self {
        let Some(part) = part else {
            return Self {
                ratio: NOT_MEASURED.into(),
                interval: String::new(),
                verdict: "",
                class: "",
            };
        };
        Self {
            ratio: part.shown_ratio(),
            interval: part.shown_interval(),
            verdict: match part.standing {
                Standing::Alike => "",
                standing => standing.word().text,
            },
            class: colour(part.standing),
        }
    }
}

impl<'a> DetailsView<'a> {
    fn new(id: String, fleet: &'a Fleet, node: &'a Node) -> Self {
        let parts = node.differing(fleet).map(|(component, part)| {
            let [word, ratio, interval] = [
                part.standing.word().text.into(),
                part.shown_ratio(),
                part.shown_interval(),
            ];
            let values = part.shown_values();
            let component = component.name();
            format!("{component} {word}: {ratio} as fast ({interval}), {values} values differ")
        });
        Self {
            id,
            name: &node.name,
            sentence: parts.collect::<Vec<_>>().join("; "),
            further: node.values.len().saturating_sub(FIRST_VALUES),
            values: node
                .values
                .iter()
                .take(FIRST_VALUES)
                .map(ValueView::new)
                .collect(),
            circumstances: &node.circumstances,
            missing: fleet.missing(node).join(", "),
        }
    }
}

impl<'a> ValueView<'a> {
    fn new(value: &'a Value) -> Self {
        let standing = if value.ratio < 1.0 {
            Standing::Slower
        } else {
            Standing::Faster
        };
        let [here, elsewhere] = value.shown();
        Self {
            ratio: value.shown_ratio(),
            interval: value.shown_interval(),
            class: colour(standing),
            verdict: standing.word().text,
            component: value.component.name(),
            place: &value.place,
            experiment: &value.experiment,
            here,
            elsewhere,
            doubtful: value.doubtful,
        }
    }
}

/// Only verdicts of difference have a colour.
fn colour(standing: Standing) -> &'static str {
    match standing {
        Standing::Alike => "",
        standing => standing.word().class,
    }
}
