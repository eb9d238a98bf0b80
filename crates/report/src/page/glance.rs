//! The page's view of a machine at a glance.

use super::chart::{Names, picture, render};
use super::figure::scales;
use crate::Analysis;
use crate::first_screen::first_screen;
use crate::glance::{Glance, Picture};
use instrument::figure::{Figure, FigureKind};

/// Charts of experiments that replace the pictures of a whole machine.
const MOST_CHARTS: usize = 2;
/// With fewer pictures, a publication's own charts have room.
const FEW_PICTURES: usize = 2;
/// A chart with fewer points shows nothing that its numbers do not.
const FEWEST_POINTS: usize = 2;

/// One picture, ready for its template.
pub(super) struct PictureView {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) chart: String,
    /// Id of the chapter with most of its numbers.
    pub(super) chapter: Option<String>,
}

/// The pictures of the machine that the run has something to draw in; of a run that has none, the
/// first charts of its experiments.
pub(super) fn pictures(
    analysis: &Analysis<'_>,
    place_of: impl Fn(&str) -> Option<(String, String)>,
) -> Vec<PictureView> {
    let view = |drawn: &Picture| PictureView {
        id: drawn.title.to_lowercase().replace(' ', "-"),
        title: drawn.title.into(),
        chart: picture(drawn),
        chapter: place_of(drawn.experiment).map(|(id, _)| id),
    };
    let glance = Glance::of(analysis);
    let mut pictures: Vec<PictureView> = glance.pictures.iter().map(view).collect();
    let is_reported = analysis.run.header.is_reported();
    if pictures.is_empty() || (is_reported && pictures.len() < FEW_PICTURES) {
        // The ladder has the values of this one.
        let drawn = (!pictures.is_empty()).then_some(first_screen().most_rungs.as_str());
        pictures.extend(first_charts(analysis, drawn, place_of));
    }
    pictures
}

/// The first chart of each experiment but for one that is `drawn` already, curves before bars; then the
/// second of each, and so on; at most [`MOST_CHARTS`].
fn first_charts(
    analysis: &Analysis<'_>,
    drawn: Option<&str>,
    place_of: impl Fn(&str) -> Option<(String, String)>,
) -> Vec<PictureView> {
    let mut charts: Vec<(usize, &str, &Figure)> = Vec::new();
    let all = analysis.experiments.iter();
    for experiment in all.filter(|it| Some(&*it.definition.id) != drawn) {
        let figures = experiment
            .figures
            .iter()
            .filter(|figure| is_worth_it(figure));
        let figures = figures.enumerate();
        charts.extend(figures.map(|(turn, figure)| (turn, &*experiment.definition.id, figure)));
    }
    charts.sort_by_key(|(turn, _, figure)| (*turn, figure.kind != FigureKind::Curve));
    let first = charts.into_iter().take(MOST_CHARTS).enumerate();
    let view = |(index, (_, experiment, figure)): (usize, (usize, &str, &Figure))| PictureView {
        id: format!("first-chart-{}", index + 1),
        title: figure.title.clone(),
        chart: render(figure, scales(figure).0, Names::InChart),
        chapter: place_of(experiment).map(|(id, _)| id),
    };
    first.map(view).collect()
}

fn is_worth_it(figure: &Figure) -> bool {
    let points = figure.series.iter().map(|series| series.points.len());
    figure.kind != FigureKind::Timeline && points.sum::<usize>() >= FEWEST_POINTS
}

/// Id and title of the chapters with numbers, for a run of which nothing can be drawn.
pub(super) fn chapters_with_numbers(
    analysis: &Analysis<'_>,
    place_of: impl Fn(&str) -> Option<(String, String)>,
) -> Vec<(String, String)> {
    let measured = analysis
        .experiments
        .iter()
        .filter(|experiment| !experiment.points.is_empty());
    measured
        .filter_map(|experiment| place_of(&experiment.definition.id))
        .collect()
}
