//! The published reports, figure by figure: the counts, each table with its reasons and shapes, the claims.

use super::claims::item;
use super::method;
use crate::document::{Blocks, Chart, Document, Piece, Table, Text, text};
use crate::lists::by_key;
use crate::reproduce::words::{brief, number, printed, shape_word};
use crate::reproduce::{
    self, Graph, JudgedFigure, JudgedTable, Picture, Report, Reproduction, Shape, TOLERANCE,
    TOLERANCE_OF_GROWTH, TOLERANCE_OF_PLACES, Tally, graphs, tables,
};
use crate::show;
use instrument::figure::FigureKind;
use instrument::quantity::counted;

/// A longer table is folded.
const LONG: usize = 40;

/// The document of `reproduction`.
pub fn reproduction(reproduction: &Reproduction) -> Document<'_> {
    let judged = format!(
        "A report prints one number without its spread. A value here has a 95 % interval. It is as reported if all \
         of the interval lies within a factor of {TOLERANCE} of the printed number, allowing for rounding \
         ({TOLERANCE_OF_PLACES} for a place on a curve, {TOLERANCE_OF_GROWTH} for an exponent). It differs if all of \
         it lies outside. Else it is undecided. The reports print neither spread nor state of the caches. Bands \
         and whiskers are 95 % intervals."
    );
    let mut blocks = Blocks::default()
        .say([format!("Here: {}.", reproduction.machine)])
        .say(reproduction.caution.clone())
        .table(counts(reproduction));
    for report in Report::ALL {
        let tables = reproduction.tables.iter();
        let tables = tables.filter(|it| it.table.report == report);
        let is_known = |it: &&JudgedTable| {
            it.figures.iter().any(|figure| figure.here.is_some())
                || it.shapes.iter().any(|shape| shape.here.is_some())
                || !it.drawn.charts.is_empty()
        };
        let (known, unknown): (Vec<_>, Vec<_>) = tables.partition(is_known);
        let counted = match (known.len(), unknown.len()) {
            (0, _) => "Nothing of it was measured here".to_owned(),
            (_, missing) => format!(
                "{} of which nothing was measured here",
                counted(missing, "place")
            ),
        };
        let title = format!("Report {}: {}", report.letter(), report.subject());
        // Claims are judged unless a place was asked for.
        let shown = |tables: &[_]| sections(tables, reproduction.claims.is_empty());
        blocks = blocks.section(title, shown(&known).fold(counted, shown(&unknown)));
    }
    let commands = reproduction.commands();
    let all = "`oscope reproduce --run` measures all of it.";
    let all = Blocks::default().say((!commands.is_empty()).then_some(all));
    let commands = commands.iter();
    let commands = commands.map(|words| Piece::command(format!("oscope {}", show::command(words))));
    let blocks = blocks
        .section("Claims", claims(reproduction))
        .section("Still to be measured", all.list(commands));
    Document {
        method: Some(method("How this was judged", [judged])),
        ..blocks.document(title(reproduction))
    }
}

/// A section for each place; `is_alone` if it was asked for.
fn sections<'a>(tables: &[&'a JudgedTable], is_alone: bool) -> Blocks<'a> {
    tables.iter().fold(Blocks::default(), |blocks, it| {
        let title = Piece::faint(format!(": {}", it.table.title));
        let shown = match &it.table.picture {
            Some(picture) => drawn(it, picture, is_alone),
            None => table(it),
        };
        blocks.section(text![it.table.place.as_str(), title], shown)
    })
}

/// All places that can be asked for, with the number of figures of each.
pub fn places() -> Document<'static> {
    let all: usize = tables().iter().map(|table| table.figures.len()).sum();
    let places = Table::of("places", tables())
        .name("report", |table| table.report.letter().to_string())
        .name("place", |table| table.place.as_str())
        .number("figures", |table| match table.picture {
            Some(_) => "picture".to_owned(),
            None => table.figures.len().to_string(),
        })
        .words("", |table| table.title.as_str());
    Blocks::default()
        .table(places)
        .say([format!("{all} figures")])
        .document("")
}

fn title(reproduction: &Reproduction) -> String {
    let tables = reproduction.tables.iter().map(|it| it.table.report);
    let claims = reproduction.claims.iter().map(|(report, ..)| *report);
    let mut letters: Vec<char> = tables.chain(claims).map(Report::letter).collect();
    letters.sort_unstable();
    letters.dedup();
    match (letters.as_slice(), reproduction.tables.as_slice()) {
        ([letter], [one]) => format!("Report {letter}, {}, here", one.table.place),
        ([letter], _) => format!("Report {letter}, figure by figure"),
        _ => "The reports, figure by figure".to_owned(),
    }
}

fn counts(reproduction: &Reproduction) -> Table {
    let row = |name: &str, tally: Tally| {
        let counts = [tally.as_reported, tally.differs, tally.undecided];
        (
            tally.all(),
            name.to_owned(),
            counts.map(|count| count.to_string()),
        )
    };
    let [holds, in_part, does_not, open] = reproduction.claims();
    let in_part = match in_part {
        0 => String::new(),
        count => format!(", {count} in part"),
    };
    let claims = [
        format!("{holds} hold{in_part}"),
        format!("{does_not} do not"),
        open.to_string(),
    ];
    let mut rows = vec![
        row("figure", reproduction.figures()),
        row("shape", reproduction.shapes()),
        (reproduction.claims.len(), "claim".to_owned(), claims),
    ];
    rows.retain(|(all, ..)| *all > 0);
    Table::of("counts", &rows)
        .name("", |(all, name, _)| counted(*all, name))
        .number("as reported", |(.., counts)| counts[0].as_str())
        .number("differs", |(.., counts)| counts[1].as_str())
        .number("undecided", |(.., counts)| counts[2].as_str())
        .into()
}

/// What the text says of a picture, and the charts that show the same.
fn drawn<'a>(judged: &'a JudgedTable, picture: &'a Picture, is_alone: bool) -> Blocks<'a> {
    let says = format!(
        "A picture, without its numbers. The text says: {}",
        picture.says
    );
    let charts = judged.drawn.charts.iter().cloned();
    let charts = charts.map(|chart| Chart::of(chart, "", None));
    let charts = Blocks::default().charts(charts);
    let blocks = Blocks::default()
        .say([Piece::faint(there(judged.table)).into(), Text::from(says)])
        .list(&judged.drawn.reasons);
    if is_alone {
        blocks.with(charts)
    } else {
        blocks.rest(charts)
    }
}

fn there(table: &reproduce::Table) -> String {
    match &table.machine {
        Some(machine) => format!("Measured there on {machine}."),
        None => "The report names no machine.".to_owned(),
    }
}

fn table(judged: &JudgedTable) -> Blocks<'_> {
    let tally = judged.tally();
    let there = there(judged.table);
    let note = format!(
        "{there} {} of {} as reported, {} differ, {} undecided.",
        tally.as_reported,
        tally.all(),
        tally.differs,
        tally.undecided
    );
    let reasons = Reasons::of(judged);
    let series = judged.figures.iter();
    let series = by_key(series.map(|it| (it.figure.series.as_str(), it)));
    let numbers = series
        .iter()
        .fold(Blocks::default(), |blocks, (series, all)| {
            blocks.table(figures(&judged.table.place, series, all, &reasons))
        });
    let count = judged.figures.len();
    let blocks = Blocks::default()
        .say([Piece::faint(note)])
        .say(&judged.table.inferred)
        .with(graphs(judged).into_iter().flat_map(graph));
    let blocks = if count > LONG {
        blocks.fold(format!("The {count} numbers"), numbers)
    } else {
        blocks.with(numbers)
    };
    let shapes_title = format!(
        "Its {}, which suit machines of any age",
        counted(judged.shapes.len(), "shape")
    );
    let shapes = shapes(&judged.shapes);
    blocks.list(reasons.list(count)).fold(shapes_title, shapes)
}

/// The reasons of a table's verdicts, each once with its number of figures.
struct Reasons<'a>(Vec<(&'a str, usize)>);

impl<'a> Reasons<'a> {
    fn of(judged: &'a JudgedTable) -> Self {
        let reasons = judged.figures.iter();
        let reasons = reasons.filter_map(|it| Some((it.reason.as_deref()?, ())));
        let counted = by_key(reasons).into_iter();
        Self(counted.map(|(reason, all)| (reason, all.len())).collect())
    }

    /// The mark of a reason next to its verdict.
    fn mark(&self, reason: Option<&str>) -> String {
        let place = reason.and_then(|reason| self.0.iter().position(|(known, _)| *known == reason));
        place.map_or_else(String::new, |place| format!(" [{}]", place + 1))
    }

    fn list(&self, all: usize) -> impl Iterator<Item = String> {
        let reasons = self.0.iter().enumerate();
        reasons.map(move |(place, (reason, count))| {
            format!("[{}] {count} of {all}: {reason}", place + 1)
        })
    }
}

/// The figures of one series.
fn figures(place: &str, series: &str, all: &[&JudgedFigure], reasons: &Reasons<'_>) -> Table {
    Table::of(format!("numbers of {place}"), all)
        .name(series, |it| it.figure.what.as_str())
        .number("reported", |it| printed(it))
        .number("here", |it| {
            it.here.as_ref().map_or_else(|| "-".to_owned(), brief)
        })
        .words("verdict", |it| {
            text![
                it.outcome.word(),
                Piece::faint(reasons.mark(it.reason.as_deref()))
            ]
        })
        .into()
}

/// The shapes of each series, then those of several.
fn shapes<'a>(shapes: &[Shape]) -> Blocks<'a> {
    let series = by_key(shapes.iter().map(|it| (it.series.as_str(), it)));
    series
        .iter()
        .fold(Blocks::default(), |blocks, (series, shapes)| {
            let table = Table::of("shapes", shapes)
                .name(*series, |it| format!("{}: {}", shape_word(it.kind), it.of))
                .number("reported", |it| number(it.reported.as_ref()))
                .number("here", |it| number(it.here.as_ref()))
                .words("verdict", |it| it.outcome.word())
                .words("remark", |it| it.remark.as_deref().unwrap_or(""));
            blocks.table(table)
        })
}

/// The printed graph next to that of the values here.
fn graph<'a>(graph: Graph) -> Blocks<'a> {
    let is_curve = graph.reported.kind == FigureKind::Curve;
    let axes = match (graph.has_reported_axes, is_curve) {
        (true, _) => "The axes are the report's",
        (false, true) => "The report has the numbers; the scales of the axes are chosen here",
        (false, false) => "The report has the numbers, drawn here",
    };
    let are = if graph.missing == 1 { "is" } else { "are" };
    let missing = match (&graph.here, graph.missing) {
        (None, _) => " None of it was measured here.".to_owned(),
        (Some(_), 0) => String::new(),
        (Some(_), missing) => {
            let values = counted(missing, "value");
            format!(" {values} {are} not known well enough here to be drawn.")
        }
    };
    let note = format!("{axes}. Each chart has its own range: compare their shapes.{missing}");
    let printed = [("As printed", graph.reported)].into_iter();
    let chart = Chart {
        title: String::new(),
        figures: printed
            .chain(graph.here.map(|here| ("Here", here)))
            .collect(),
        note,
        file: None,
    };
    Blocks::default().rest(Blocks::default().charts([chart]))
}

fn claims<'a>(reproduction: &Reproduction) -> Blocks<'a> {
    let mut claims: Vec<_> = reproduction.claims.iter().collect();
    claims.sort_by_key(|(report, _, judgement)| (*report, judgement.ruling));
    let items = claims
        .into_iter()
        .map(|(_, claim, judgement)| item(claim, judgement));
    Blocks::default().items(items)
}
