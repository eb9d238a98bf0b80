//! Judging the figures of a table, one by one.

use super::here::{Here, Measurements, Missing, NEEDS_WINDOWS};
use super::judge::{self, Outcome, TOLERANCE, TOLERANCE_OF_PLACES};
use super::printed::{Figure, Query, System, Table};
use super::shape::{self, Shape};
use super::words::brief;
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
    let value = |figure: &Figure, query: Option<&Query>| match (of(figure), query) {
        (None, _) => Err(Missing::because(NEEDS_WINDOWS)),
        (Some(measured), Some(query)) => measured.value(query),
        (Some(_), None) => Err(Missing::because(figure.why(table).unwrap_or_default())),
    };
    let found: Vec<_> = (table.figures.iter())
        .map(|figure| value(figure, figure.here.as_ref()))
        .collect();
    let pairs = table.figures.iter().zip(&found);
    let for_shapes = pairs.map(|(figure, found)| {
        let query = figure.here.as_ref().filter(|_| found.is_err());
        let elsewhere = query.and_then(Query::at_any);
        elsewhere.map_or_else(|| found.clone(), |query| value(figure, Some(&query)))
    });
    let mut shapes = shapes_of(table, &for_shapes.collect::<Vec<_>>());
    let others: Vec<_> = (table.figures.iter())
        .map(|figure| {
            let query = figure.here.as_ref()?;
            let other = query.other_reading()?;
            let names = [query.reading(&other), other.reading(query)];
            Some((value(figure, Some(&other)), names))
        })
        .collect();
    if let Some((_, [first, second])) = others.iter().flatten().next() {
        let of_other = found.iter().zip(&others).map(|(found, other)| match other {
            Some((other, _)) => other.clone(),
            None => found.clone(),
        });
        let second = named(shapes_of(table, &of_other.collect::<Vec<_>>()), second);
        shapes = named(shapes, first);
        shapes.extend(second);
    }
    let figures = (table.figures.iter())
        .zip(found.into_iter().zip(others))
        .map(|(figure, (found, other))| {
            let machine = of(figure).map_or("", Measurements::machine);
            let first = judged_figure(table, figure, found, machine);
            let Some((found, names)) = other else {
                return first;
            };
            let second = judged_figure(table, figure, found, machine);
            either(first, second, &names)
        })
        .collect();
    JudgedTable {
        table,
        figures,
        shapes,
        drawn: Drawn::default(),
    }
}

fn shapes_of(table: &'static Table, found: &[Result<Here<'_>, Missing>]) -> Vec<Shape> {
    let pairs = table.figures.iter().zip(found);
    let pairs = pairs.map(|(figure, found)| (figure, found.as_ref().ok()));
    shape::all(table, &pairs.collect::<Vec<_>>())
}

/// The shapes of one reading, which its name is added to.
fn named(shapes: Vec<Shape>, reading: &str) -> Vec<Shape> {
    let of = |shape: Shape| Shape {
        series: format!("{}, {reading}", shape.series),
        ..shape
    };
    shapes.into_iter().map(of).collect()
}

/// A figure that can be read in two ways: as reported if one of them is, and different if both are.
fn either(first: JudgedFigure, second: JudgedFigure, names: &[String; 2]) -> JudgedFigure {
    let outcome = match (first.outcome, second.outcome) {
        (Outcome::AsReported, _) | (_, Outcome::AsReported) => Outcome::AsReported,
        (Outcome::Differs, Outcome::Differs) => Outcome::Differs,
        _ => Outcome::Undecided,
    };
    let reading = |(judged, name): (&JudgedFigure, &String)| {
        let here = judged.here.as_ref();
        let here = here.map_or_else(|| "not measured".to_owned(), brief);
        format!("{name} ({here}) {}", judged.outcome.word().text)
    };
    let readings: Vec<String> = [&first, &second]
        .into_iter()
        .zip(names)
        .map(reading)
        .collect();
    let readings = format!("which was meant was not printed: {}", readings.join(", "));
    let second_is_shown = first.here.is_none() || second.outcome == Outcome::AsReported;
    let wanted = match outcome {
        Outcome::Undecided => [first.wanted.as_slice(), &second.wanted].concat(),
        Outcome::AsReported | Outcome::Differs => Vec::new(),
    };
    let shown = if second_is_shown { second } else { first };
    let reason = match (outcome, shown.reason) {
        (Outcome::AsReported, _) | (_, None) => readings,
        (_, Some(reason)) => format!("{readings}; {reason}"),
    };
    JudgedFigure {
        outcome,
        reason: Some(reason),
        wanted,
        ..shown
    }
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
                wanted: wanted.into_iter().collect(),
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
        let (value, rounding) = (figure.value(), figure.rounding());
        judge::against(Some(here.quantity), value, rounding, tolerance)
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
        wanted: match outcome {
            Outcome::Undecided if !is_proportional => here.wide,
            _ => Vec::new(),
        },
        outcome,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::super::printed::tables;
    use super::{JudgedFigure, Outcome, either};
    use instrument::quantity::{Quantity, Unit};

    #[test]
    fn a_figure_that_can_be_read_in_two_ways_differs_only_if_both_do() {
        use Outcome::{AsReported, Differs, Undecided};
        let judged = |outcome, value| JudgedFigure {
            figure: &tables()[0].figures[0],
            here: Some(Quantity::exact(value, Unit::Ratio)),
            point: None,
            outcome,
            reason: None,
            wanted: Vec::new(),
        };
        for (warm, cold, expected, shown) in [
            (AsReported, Differs, AsReported, 1.0),
            (Differs, AsReported, AsReported, 2.0),
            (Differs, Differs, Differs, 1.0),
            (Differs, Undecided, Undecided, 1.0),
            (Undecided, AsReported, AsReported, 2.0),
        ] {
            let names = ["warm", "cold"].map(str::to_owned);
            let found = either(judged(warm, 1.0), judged(cold, 2.0), &names);
            assert_eq!(found.outcome, expected);
            assert_eq!(found.here.map(|here| here.value), Some(shown));
            let reason = found.reason.expect("both readings");
            for (name, outcome) in names.iter().zip([warm, cold]) {
                let word = outcome.word().text;
                assert!(reason.contains(name) && reason.contains(word), "{reason}");
            }
        }
    }
}
