//! A reproduction as JSON for other programs.

use super::{Kind, Outcome, Report, Reproduction, ShapeKind, System, Tally};
use crate::json::{ClaimJson, FORMAT};
use instrument::quantity::{Quantity, Unit};
use instrument::statistics::Interval;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde_json::Value;

/// The reproduction: each figure as printed and as it is here, the shapes, the claims and the counts.
pub fn json(reproduction: &Reproduction) -> Value {
    crate::json::value(&document(reproduction))
}

/// The schema of [`json`].
pub fn schema() -> Schema {
    schema_for!(ReproductionJson<'_>)
}

/// The published reports, figure by figure.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "A reproduction by oscope")]
struct ReproductionJson<'a> {
    /// Version of the format.
    format: u32,
    /// The model of the processor here.
    machine: &'a str,
    tables: Vec<TableJson<'a>>,
    claims: Vec<ReportedClaim<'a>>,
    /// Commands that measure what is missing.
    commands: Vec<Vec<String>>,
    figures: Tally,
    shapes: Tally,
}

#[derive(Serialize, JsonSchema)]
struct TableJson<'a> {
    id: &'a str,
    report: Report,
    /// The report's own section, table or figure.
    place: &'a str,
    title: &'a str,
    kind: Kind,
    /// The machine of the report, if it is known.
    machine: Option<&'a str>,
    /// The part of the work that was not printed, and what it follows from.
    inferred: Option<&'a str>,
    figures: Vec<FigureJson<'a>>,
    shapes: Vec<ShapeJson<'a>>,
    /// What is known of a graph without its numbers.
    picture: Option<PictureJson<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct PictureJson<'a> {
    /// What the text of the report says of it.
    says: &'a str,
    /// The experiment that draws the same.
    experiment: &'a str,
    /// The charts that were drawn here.
    charts: Vec<&'a str>,
    /// The reasons for charts that are missing.
    reasons: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct FigureJson<'a> {
    what: &'a str,
    series: &'a str,
    system: System,
    /// The digits as printed, with the unit as printed.
    printed: &'a str,
    printed_unit: &'a str,
    /// The reported value in the base unit.
    reported: f64,
    /// Largest error by rounding.
    rounding: f64,
    unit: Unit,
    here: Option<f64>,
    interval: Option<Interval>,
    /// The point that gave the value here.
    point: Option<&'a str>,
    outcome: Outcome,
    reason: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct ShapeJson<'a> {
    kind: ShapeKind,
    /// The series; empty if it belongs to two.
    series: &'a str,
    of: &'a str,
    reported: Option<f64>,
    here: Option<f64>,
    interval: Option<Interval>,
    outcome: Outcome,
    remark: Option<&'a str>,
}

/// A claim of a report.
#[derive(Serialize, JsonSchema)]
struct ReportedClaim<'a> {
    report: Report,
    #[serde(flatten)]
    claim: ClaimJson<'a>,
}

fn document(reproduction: &Reproduction) -> ReproductionJson<'_> {
    let value = |quantity: &Option<Quantity>| quantity.as_ref().map(|it| it.value);
    let interval = |quantity: &Option<Quantity>| quantity.as_ref().and_then(|it| it.interval);
    let tables = reproduction.tables.iter().map(|judged| TableJson {
        id: &judged.table.id,
        report: judged.table.report,
        place: &judged.table.place,
        title: &judged.table.title,
        kind: judged.table.kind,
        machine: judged.table.machine.as_deref(),
        inferred: judged.table.inferred.as_deref(),
        figures: judged
            .figures
            .iter()
            .map(|it| FigureJson {
                what: &it.figure.what,
                series: &it.figure.series,
                system: it.figure.system(judged.table),
                printed: &it.figure.printed,
                printed_unit: it.figure.unit.name(),
                reported: it.figure.value(),
                rounding: it.figure.rounding(),
                unit: it.figure.unit.in_base().0,
                here: value(&it.here),
                interval: interval(&it.here),
                point: it.point.as_deref(),
                outcome: it.outcome,
                reason: it.reason.as_deref(),
            })
            .collect(),
        picture: judged.table.picture.as_ref().map(|picture| PictureJson {
            says: &picture.says,
            experiment: &picture.experiment,
            charts: (judged.drawn.charts.iter())
                .map(|chart| chart.key.as_str())
                .collect(),
            reasons: &judged.drawn.reasons,
        }),
        shapes: judged
            .shapes
            .iter()
            .map(|it| ShapeJson {
                kind: it.kind,
                series: &it.series,
                of: &it.of,
                reported: value(&it.reported),
                here: value(&it.here),
                interval: interval(&it.here),
                outcome: it.outcome,
                remark: it.remark.as_deref(),
            })
            .collect(),
    });
    let claims = reproduction.claims.iter();
    let claims = claims.map(|(report, claim, judgement)| ReportedClaim {
        report: *report,
        claim: ClaimJson::new(claim, judgement),
    });
    ReproductionJson {
        format: FORMAT,
        machine: &reproduction.machine,
        tables: tables.collect(),
        claims: claims.collect(),
        commands: reproduction.commands(),
        figures: reproduction.figures(),
        shapes: reproduction.shapes(),
    }
}
