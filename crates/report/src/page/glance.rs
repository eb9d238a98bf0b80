//! The page's view of a machine at a glance.

use super::chart::Picture;
use crate::Analysis;
use crate::glance::Glance;

/// One picture, ready for its template.
pub(super) struct PictureView {
    pub(super) id: String,
    pub(super) title: &'static str,
    /// Its charts, one for each width.
    pub(super) charts: String,
    /// Id of the chapter with most of its numbers.
    pub(super) chapter: Option<String>,
}

/// The pictures that the run has something to draw in.
pub(super) fn pictures(
    analysis: &Analysis<'_>,
    place_of: impl Fn(&str) -> Option<(String, String)>,
) -> Vec<PictureView> {
    let glance = Glance::of(analysis);
    let drawn = Picture::ALL
        .into_iter()
        .filter(|picture| !picture.is_empty(&glance));
    drawn
        .map(|picture| PictureView {
            id: picture.title().to_lowercase().replace(' ', "-"),
            title: picture.title(),
            charts: picture.charts(&glance),
            chapter: place_of(picture.experiment()).map(|(id, _)| id),
        })
        .collect()
}
