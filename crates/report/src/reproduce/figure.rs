//! Judging the figures of a table, one by one.

use super::here::{Here, Measurements, Missing, NEEDS_WINDOWS};
use super::judge::{self, Outcome, TOLERANCE, TOLERANCE_OF_PLACES};
use super::printed::{Figure, System, Table};
use super::shape;
use super::{Drawn, JudgedFigure, JudgedTable};

/// The table with each figure and each shape judged by what was measured here, and those that were printed for
/// Windows by what was measured `on_windows`, if anything was.
pub(super) fn judged(
    table: &'static Table,
    here: &Measurements<'_>,
    on_windows: Option<&Measurements<'_>>,
) -> JudgedTable {
    let of = |figure: &Figure| match figure.system(table) {
        System::Windows => on_windows,
        System::Linux | System::Macos => Some(here),
    };
    let found = |figure: &Figure| match of(figure) {
        Some(measured) => found(table, figure, measured),
        None => Err(Missing::because(NEEDS_WINDOWS)),
    };
    let found: Vec<(&'static Figure, Result<Here<'_>, Missing>)> = table
        .figures
        .iter()
        .map(|figure| (figure, found(figure)))
        .collect();
    let pairs: Vec<shape::Pair<'_, '_>> = found
        .iter()
        .map(|(figure, found)| (*figure, found.as_ref().ok()))
        .collect();
    let shapes = shape::all(table, &pairs);
    let figures = found
        .into_iter()
        .map(|(figure, found)| {
            let machine = of(figure).map_or("", Measurements::machine);
            judged_figure(table, figure, found, machine)
        })
        .collect();
    JudgedTable {
        table,
        figures,
        shapes,
        drawn: Drawn::default(),
    }
}

fn found<'a>(
    table: &Table,
    figure: &Figure,
    measured: &Measurements<'a>,
) -> Result<Here<'a>, Missing> {
    let Some(counterpart) = &figure.here else {
        return Err(Missing::because(figure.why(table).unwrap_or_default()));
    };
    measured.value(counterpart)
}

fn judged_figure(
    table: &Table,
    figure: &'static Figure,
    found: Result<Here<'_>, Missing>,
    machine: &str,
) -> JudgedFigure {
    let here = match found {
        Ok(here) => here,
        Err(Missing { reason, wanted }) => {
            return JudgedFigure {
                figure,
                here: None,
                point: None,
                outcome: Outcome::Undecided,
                reason: Some(reason),
                wanted,
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
        Outcome::Undecided
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
        Outcome::Undecided if is_proportional => Some(with_cause(
            "the amount of work was not printed: its shape is judged".to_owned(),
        )),
        Outcome::Undecided if here.quantity.interval.is_none() => {
            Some("seen too few times here".to_owned())
        }
        Outcome::Undecided => Some("the interval leaves both open".to_owned()),
    };
    JudgedFigure {
        figure,
        here: Some(here.quantity),
        point: here.point,
        outcome,
        reason,
        wanted: None,
    }
}
