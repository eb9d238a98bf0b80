//! Judging the figures of a table, one by one.

use super::here::{Here, Measured, Missing, Wanted};
use super::judge::{self, Outcome, TOLERANCE, TOLERANCE_OF_PLACES};
use super::printed::{Figure, System, Table};
use super::shape;
use super::{JudgedFigure, JudgedTable};

/// The table with each figure and each shape judged by what was measured on `machine`.
pub(super) fn judged(table: &'static Table, measured: &Measured<'_>, machine: &str) -> JudgedTable {
    let found: Vec<(&'static Figure, Found<'_>)> = table
        .figures
        .iter()
        .map(|figure| (figure, found(table, figure, measured)))
        .collect();
    let pairs: Vec<shape::Pair<'_, '_>> = found
        .iter()
        .map(|(figure, found)| (*figure, found.as_ref().ok()))
        .collect();
    let shapes = shape::all(table, &pairs);
    let figures = found
        .into_iter()
        .map(|(figure, found)| judged_figure(table, figure, found, machine))
        .collect();
    JudgedTable {
        table,
        figures,
        shapes,
    }
}

type Found<'a> = Result<Here<'a>, Lack>;

/// The reason why a figure has no value here.
enum Lack {
    Elsewhere(&'static str),
    NoCounterpart(String),
    Missing(Missing),
}

fn found<'a>(table: &Table, figure: &Figure, measured: &Measured<'a>) -> Found<'a> {
    if figure.system(table) == System::Windows {
        return Err(Lack::Elsewhere(
            "printed for Windows, on which oscope does not run yet",
        ));
    }
    match &figure.here {
        Some(counterpart) => measured.value(counterpart).map_err(Lack::Missing),
        None => Err(Lack::NoCounterpart(
            figure.why(table).unwrap_or_default().to_owned(),
        )),
    }
}

/// The reason for a point that no run has.
fn not_measured(wanted: &Wanted) -> String {
    if wanted.levels.is_empty() {
        return "not measured here yet".to_owned();
    }
    format!(
        "not measured here yet: no run of {} here has the point; the quick profile leaves some out",
        wanted.experiment
    )
}

fn judged_figure(
    table: &Table,
    figure: &'static Figure,
    found: Found<'_>,
    machine: &str,
) -> JudgedFigure {
    let open = JudgedFigure {
        figure,
        here: None,
        point: None,
        outcome: Outcome::CannotBeTold,
        reason: None,
        wanted: None,
    };
    let here = match found {
        Ok(here) => here,
        Err(Lack::Elsewhere(reason)) => {
            return JudgedFigure {
                reason: Some(reason.to_owned()),
                ..open
            };
        }
        Err(Lack::NoCounterpart(reason) | Lack::Missing(Missing::Unsound(reason))) => {
            return JudgedFigure {
                reason: Some(reason),
                ..open
            };
        }
        Err(Lack::Missing(Missing::Refused(reason))) => {
            return JudgedFigure {
                reason: Some(format!("it could not be measured here: {reason}")),
                ..open
            };
        }
        Err(Lack::Missing(Missing::NotMeasured(wanted))) => {
            return JudgedFigure {
                reason: Some(not_measured(&wanted)),
                wanted: Some(wanted),
                ..open
            };
        }
        Err(Lack::Missing(Missing::TooFew(wanted))) => {
            let reason = "measured here in too few processes for an interval: it takes more time";
            return JudgedFigure {
                reason: Some(reason.to_owned()),
                wanted: Some(wanted),
                ..open
            };
        }
    };
    let counterpart = figure.here.as_ref();
    let is_proportional = counterpart.is_some_and(|it| it.proportional);
    let tolerance = match counterpart.and_then(|it| it.knee.as_ref()) {
        Some(_) => TOLERANCE_OF_PLACES,
        None => TOLERANCE,
    };
    let outcome = if is_proportional {
        Outcome::CannotBeTold
    } else {
        judge::against(&here.quantity, figure.value(), figure.rounding(), tolerance)
    };
    let elsewhere = || match &table.machine {
        Some(there) => format!("measured there on {there}, here on {machine}"),
        None => format!("the report names no machine; here it is {machine}"),
    };
    let with_cause = |reason: String| match &table.because {
        Some(because) => format!("{reason}; {because}"),
        None => reason,
    };
    let reason = match outcome {
        Outcome::AsReported => None,
        Outcome::Differs => Some(with_cause(elsewhere())),
        Outcome::CannotBeTold if is_proportional => Some(with_cause(
            "the amount of work was not printed: its shape is judged".to_owned(),
        )),
        Outcome::CannotBeTold if here.quantity.interval.is_none() => {
            Some("seen too few times here".to_owned())
        }
        Outcome::CannotBeTold => Some("the interval leaves both open".to_owned()),
    };
    JudgedFigure {
        here: Some(here.quantity),
        point: here.point,
        outcome,
        reason,
        ..open
    }
}
