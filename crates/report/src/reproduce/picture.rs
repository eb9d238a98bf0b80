//! What a report drew as a picture: what its text says, and the same charts of this machine.

use super::here::{Measurements, Missing, NEEDS_WINDOWS, Wanted};
use super::printed::{Picture, System};
use instrument::figure::Figure;
use instrument::results::Results;

/// The charts that show what a picture showed.
#[derive(Debug, Default)]
pub struct Drawn {
    /// Each chart, with the place that it was measured at in its title.
    pub charts: Vec<Figure>,
    /// The reasons for charts that are missing.
    pub reasons: Vec<String>,
    /// The measurement that is needed first.
    pub wanted: Option<Wanted>,
}

/// The charts of `picture`: of what was measured here, and of what was measured on Windows if it shows that.
pub(super) fn drawn(
    picture: &Picture,
    here: (&Measurements<'_>, &[Results<'_>]),
    on_windows: &[Results<'_>],
) -> Drawn {
    let mut drawn = Drawn::default();
    for system in &picture.systems {
        let (place, results) = match system {
            System::Windows => ("On Windows", on_windows),
            System::Linux | System::Macos => ("Here", here.1),
        };
        let charts = charts(picture, results);
        let is_whole = *system == System::Windows || here.0.has_point(picture);
        if charts.is_empty() || !is_whole {
            let Missing { reason, wanted } = match system {
                System::Windows => Missing::because(NEEDS_WINDOWS),
                System::Linux | System::Macos => missing(picture, here.0),
            };
            drawn.reasons.push(reason);
            drawn.wanted = drawn.wanted.or(wanted);
        }
        drawn.charts.extend(charts.into_iter().map(|chart| Figure {
            title: format!("{place}: {}", chart.title),
            ..chart
        }));
    }
    drawn
}

fn charts(picture: &Picture, results: &[Results<'_>]) -> Vec<Figure> {
    let measured = results
        .iter()
        .find(|it| it.definition.id == picture.experiment);
    let known = measured.zip(experiments::find(&picture.experiment));
    let mut charts = known.map_or(Vec::new(), |(results, known)| known.figures(results));
    charts.retain(|chart| {
        let is_meant = picture.charts.is_empty() || picture.charts.contains(&chart.key);
        is_meant && chart.series.iter().any(|series| !series.points.is_empty())
    });
    charts
}

fn missing(picture: &Picture, here: &Measurements<'_>) -> Missing {
    if picture.levels.is_empty() {
        return here.missing_whole(&picture.experiment);
    }
    here.missing(&picture.experiment, &picture.levels)
}
