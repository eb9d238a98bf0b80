//! The page of the published reports: counts, then each table with its numbers and graphs, then the claims.

use super::anchor::Anchors;
use super::chart::{Names, render};
use super::render::Error;
use crate::reproduce::words::{brief, number, printed, quoted, shape_word, value, word};
use crate::reproduce::{
    self, Graph, JudgedFigure, JudgedTable, Outcome, Report, Reproduction, Shape, Tally, graphs,
};
use crate::show;
use askama::Template;
use instrument::claim::{Claim, Judgement};
use instrument::figure::{Figure, FigureKind};

/// A longer table is folded.
const LONG: usize = 40;

/// The page of a reproduction: a complete HTML document without external references.
///
/// # Errors
/// [`Error`] if a template or the data cannot be written. No such case is known.
pub fn reproduction(reproduction: &Reproduction) -> Result<String, Error> {
    let mut anchors = Anchors::default();
    for name in ["top", "claims", "missing", "method"] {
        anchors.take(name);
    }
    let page = Page {
        title: title(reproduction),
        machine: &reproduction.machine,
        counts: counts(reproduction),
        claim_counts: claim_counts(reproduction),
        reports: reports(reproduction, &mut anchors),
        claims: claims(reproduction),
        commands: reproduction
            .commands()
            .iter()
            .map(|it| quoted(it))
            .collect(),
        tolerance: reproduce::TOLERANCE,
        tolerance_of_places: reproduce::TOLERANCE_OF_PLACES,
        tolerance_of_growth: reproduce::TOLERANCE_OF_GROWTH,
        data: serde_json::to_string(&reproduce::json(reproduction))?.replace('<', "\\u003c"),
        version: env!("CARGO_PKG_VERSION"),
        css: include_str!("../../assets/page.css"),
    };
    Ok(page.render()?)
}

#[derive(Template)]
#[template(path = "reproduction.html")]
struct Page<'a> {
    title: String,
    machine: &'a str,
    counts: Vec<(&'static str, Tally)>,
    claim_counts: [String; 3],
    reports: Vec<ReportView>,
    claims: Vec<ClaimView>,
    commands: Vec<String>,
    tolerance: f64,
    tolerance_of_places: f64,
    tolerance_of_growth: f64,
    data: String,
    version: &'static str,
    css: &'static str,
}

/// The tables of one report.
struct ReportView {
    id: String,
    title: String,
    tables: Vec<TableView>,
}

/// One table.
struct TableView {
    id: String,
    place: String,
    title: String,
    machine: String,
    tally: Tally,
    series: Vec<SeriesView>,
    reasons: Vec<String>,
    graphs: Vec<GraphView>,
    shapes: Vec<ShapeView>,
    is_long: bool,
    /// Number of figures.
    count: usize,
}

/// The figures of one series.
struct SeriesView {
    name: String,
    rows: Vec<RowView>,
}

/// One figure.
struct RowView {
    what: String,
    printed: String,
    here: String,
    /// The ends of the interval, and the point that gave the value.
    detail: String,
    verdict: VerdictView,
    /// Number of its reason in the list below the table.
    reason: Option<usize>,
}

/// A verdict with its CSS class.
struct VerdictView {
    word: &'static str,
    class: &'static str,
}

/// One shape.
struct ShapeView {
    name: &'static str,
    of: String,
    reported: String,
    here: String,
    verdict: VerdictView,
    remark: String,
}

/// Two charts side by side.
struct GraphView {
    reported: String,
    here: Option<String>,
    note: String,
}

/// A claim with its ruling.
struct ClaimView {
    says: &'static str,
    source: &'static str,
    ruling: &'static str,
    class: &'static str,
    because: String,
}

fn title(reproduction: &Reproduction) -> String {
    let mut letters: Vec<char> = letters(reproduction);
    letters.dedup();
    match (letters.as_slice(), reproduction.tables.as_slice()) {
        ([letter], [one]) => format!("Report {letter}, {}, here", one.table.place),
        ([letter], _) => format!("Report {letter}, figure by figure"),
        _ => "The reports, figure by figure".to_owned(),
    }
}

/// The letter of each table and of each claim.
fn letters(reproduction: &Reproduction) -> Vec<char> {
    let tables = reproduction.tables.iter().map(|it| it.table.report);
    let claims = reproduction.claims.iter().map(|(report, ..)| *report);
    let mut reports: Vec<Report> = tables.chain(claims).collect();
    reports.sort_unstable();
    reports.into_iter().map(Report::letter).collect()
}

fn counts(reproduction: &Reproduction) -> Vec<(&'static str, Tally)> {
    let both = [
        ("figures", reproduction.figures()),
        ("shapes", reproduction.shapes()),
    ];
    both.into_iter().filter(|(_, it)| it.all() > 0).collect()
}

fn claim_counts(reproduction: &Reproduction) -> [String; 3] {
    let [holds, in_part, does_not, open] = reproduction.claims();
    let in_part = match in_part {
        0 => String::new(),
        count => format!(", {count} in part"),
    };
    [
        format!("{holds} hold{in_part}"),
        format!("{does_not} do not hold"),
        open.to_string(),
    ]
}

fn reports(reproduction: &Reproduction, anchors: &mut Anchors) -> Vec<ReportView> {
    let mut views = Vec::new();
    for report in Report::ALL {
        let of_report = reproduction.tables.iter();
        let tables: Vec<_> = of_report.filter(|it| it.table.report == report).collect();
        if tables.is_empty() {
            continue;
        }
        let letter = report.letter();
        views.push(ReportView {
            id: anchors.take(&format!("report-{letter}")),
            title: format!("Report {letter}: {}", report.subject()),
            tables: tables
                .into_iter()
                .map(|judged| TableView::new(judged, anchors))
                .collect(),
        });
    }
    views
}

fn claims(reproduction: &Reproduction) -> Vec<ClaimView> {
    let mut claims: Vec<_> = reproduction.claims.iter().collect();
    claims.sort_by_key(|(report, _, judgement)| (*report, judgement.ruling));
    let view = |(_, claim, judgement): &&(Report, &'static Claim, Judgement)| {
        let ruling = show::ruling(judgement.ruling);
        ClaimView {
            says: claim.says,
            source: claim.source,
            ruling: ruling.text,
            class: ruling.class,
            because: show::sentence(&judgement.because),
        }
    };
    claims.iter().map(view).collect()
}

impl TableView {
    fn new(judged: &JudgedTable, anchors: &mut Anchors) -> Self {
        let table = judged.table;
        let mut reasons: Vec<String> = Vec::new();
        let mut series: Vec<SeriesView> = Vec::new();
        for figure in &judged.figures {
            let row = RowView::new(figure, &mut reasons);
            let name = &figure.figure.series;
            match series.iter_mut().find(|it| it.name == *name) {
                Some(series) => series.rows.push(row),
                None => series.push(SeriesView {
                    name: name.clone(),
                    rows: vec![row],
                }),
            }
        }
        Self {
            id: anchors.take(&table.id),
            place: table.place.clone(),
            title: table.title.clone(),
            machine: match &table.machine {
                Some(machine) => format!("Measured there on {machine}."),
                None => "The report names no machine.".to_owned(),
            },
            tally: judged.tally(),
            series,
            reasons,
            graphs: graphs(judged).iter().map(GraphView::new).collect(),
            shapes: judged.shapes.iter().map(ShapeView::new).collect(),
            is_long: judged.figures.len() > LONG,
            count: judged.figures.len(),
        }
    }
}

impl RowView {
    fn new(figure: &JudgedFigure, reasons: &mut Vec<String>) -> Self {
        let reason = figure.reason.as_ref().map(|reason| {
            let known = reasons.iter().position(|other| other == reason);
            known.unwrap_or_else(|| {
                reasons.push(reason.clone());
                reasons.len() - 1
            }) + 1
        });
        let range = figure.here.as_ref().map(value).unwrap_or_default();
        Self {
            what: figure.figure.what.clone(),
            printed: printed(figure),
            here: figure.here.as_ref().map_or_else(|| "–".into(), brief),
            detail: match &figure.point {
                Some(point) => format!("{range} at {point}"),
                None => range,
            },
            verdict: verdict(figure.outcome),
            reason,
        }
    }
}

impl ShapeView {
    fn new(shape: &Shape) -> Self {
        Self {
            name: shape_word(shape.kind),
            of: format!("{} {}", shape.series, shape.of).trim().to_owned(),
            reported: number(shape.reported.as_ref()),
            here: number(shape.here.as_ref()),
            verdict: verdict(shape.outcome),
            remark: shape.remark.clone().unwrap_or_default(),
        }
    }
}

fn verdict(outcome: Outcome) -> VerdictView {
    VerdictView {
        word: word(outcome),
        class: match outcome {
            Outcome::AsReported => "faster",
            Outcome::Differs => "slower",
            Outcome::CannotBeTold => "open",
        },
    }
}

impl GraphView {
    fn new(graph: &Graph) -> Self {
        let draw = |figure: &Figure| render(figure, figure.y.scale, Names::InChart);
        let missing = graph.here.as_ref().map_or(0, |_| graph.missing);
        let is_curve = graph.reported.kind == FigureKind::Curve;
        let axes = match (graph.has_reported_axes, is_curve) {
            (true, _) => "The axes are the report's",
            (false, true) => "The report has the numbers; the scales of the axes are chosen here",
            (false, false) => "The report has the numbers, drawn here",
        };
        let lacking = match missing {
            0 => String::new(),
            1 => " 1 value is not known well enough here to be drawn.".to_owned(),
            more => format!(" {more} values are not known well enough here to be drawn."),
        };
        Self {
            reported: draw(&graph.reported),
            here: graph.here.as_ref().map(draw),
            note: format!("{axes}. Each chart has its own range: compare their shapes.{lacking}"),
        }
    }
}
