//! The page's view of a machine at a glance.

use super::chart::{Names, picture, render};
use super::document::LinkTargets;
use super::figure::scales;
use crate::Analysis;
use crate::first_screen::first_screen;
use crate::glance::Picture;
use instrument::figure::{Figure, FigureKind};

/// Charts of experiments that replace the pictures of a whole machine.
const MOST_CHARTS: usize = 2;
/// With fewer pictures, a publication's own charts have room.
const FEW_PICTURES: usize = 2;
/// A chart with fewer points shows nothing that its numbers do not.
const FEWEST_POINTS: usize = 2;

/// One picture, ready for its template.
pub(super) struct PictureView<'a> {
    pub(super) id: String,
    pub(super) title: &'a str,
    pub(super) chart: String,
    /// Id of the chapter with most of its numbers.
    pub(super) chapter: Option<&'a str>,
}

/// The `pictures` of the machine; of a run that has none, the first charts of its experiments.
pub(super) fn pictures<'a>(
    analysis: &'a Analysis<'_>,
    pictures: &'a [Picture],
    chapters: &'a LinkTargets,
) -> Vec<PictureView<'a>> {
    let view = |drawn: &'a Picture| PictureView {
        id: drawn.title.to_lowercase().replace(' ', "-"),
        title: drawn.title,
        chart: picture(drawn),
        chapter: chapter(chapters, drawn.experiment),
    };
    let mut views: Vec<PictureView<'_>> = pictures.iter().map(view).collect();
    let is_reported = analysis.run.header.is_reported();
    if pictures.is_empty() || (is_reported && pictures.len() < FEW_PICTURES) {
        // The ladder has the values of this one.
        let drawn = (!pictures.is_empty()).then_some(first_screen().most_rungs.as_str());
        views.extend(first_charts(analysis, drawn, chapters));
    }
    views
}

/// The first chart of each experiment but for one that is `drawn` already, curves before bars; then the
/// second of each, and so on; at most [`MOST_CHARTS`].
fn first_charts<'a>(
    analysis: &'a Analysis<'_>,
    drawn: Option<&str>,
    chapters: &'a LinkTargets,
) -> impl Iterator<Item = PictureView<'a>> {
    let mut charts: Vec<(usize, &str, &Figure)> = Vec::new();
    for experiment in &analysis.experiments {
        let id = experiment.definition.id.as_str();
        let figures = experiment
            .figures
            .iter()
            .filter(|figure| is_worth_it(figure));
        let figures = figures.filter(|_| Some(id) != drawn).enumerate();
        charts.extend(figures.map(|(turn, figure)| (turn, id, figure)));
    }
    charts.sort_by_key(|(turn, _, figure)| (*turn, figure.kind != FigureKind::Curve));
    let first = charts.into_iter().take(MOST_CHARTS).enumerate();
    first.map(move |(index, (_, experiment, figure))| PictureView {
        id: format!("first-chart-{}", index + 1),
        title: &figure.title,
        chart: render(figure, scales(figure).0, Names::InChart),
        chapter: chapter(chapters, experiment),
    })
}

fn chapter<'a>(chapters: &'a LinkTargets, experiment: &str) -> Option<&'a str> {
    chapters.get(experiment).map(|(id, _)| id.as_str())
}

fn is_worth_it(figure: &Figure) -> bool {
    let points = figure.series.iter().map(|series| series.points.len());
    figure.kind != FigureKind::Timeline && points.sum::<usize>() >= FEWEST_POINTS
}
