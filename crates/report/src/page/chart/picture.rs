//! The pictures of a machine at a glance.

use super::axes::{Room, X_LABELS};
use super::render::{body, framed, key};
use super::svg::{FONT, Svg};
use crate::chart::show_level;
use crate::glance::Picture;
use crate::lists::joined;
use crate::show;
use instrument::figure::{Figure, FigureKind, FigurePoint};
use instrument::quantity::Unit;

/// Width of a picture: three fit a row at a desk, and one fills a phone.
pub(super) const WIDTH: f64 = 340.0;
/// Height of a picture, with the names of its series.
const HEIGHT: f64 = 222.0;
/// Height of a rung of the ladder: its text has the size of [`FONT`].
const RUNG: f64 = FONT + 2.0;

/// The height that a picture needs.
pub(super) fn height(picture: &Picture) -> f64 {
    match picture.figure.kind {
        FigureKind::Bars => {
            let rungs = picture
                .figure
                .series
                .iter()
                .map(|series| series.points.len());
            HEIGHT.max(RUNG * rungs.sum::<usize>() as f64 + X_LABELS)
        }
        _ => HEIGHT,
    }
}

/// `picture` as an `svg` element.
pub(in crate::page) fn picture(picture: &Picture) -> String {
    let (body, height) = drawn(picture, WIDTH);
    let size = Room {
        width: WIDTH,
        height,
    };
    framed("chart glance", picture.title, size, &body)
}

/// `picture` with its description, and its height.
pub(super) fn drawn(picture: &Picture, width: f64) -> (String, f64) {
    let figure = &picture.figure;
    let mut svg = Svg::new(width);
    let all = [Some(figure), picture.second.as_ref()];
    let words = joined("; ", all.into_iter().flatten().map(words));
    svg.text("desc", &[], &words);
    let room = Room {
        width,
        height: height(picture) - key(&mut Svg::new(width), figure, (width, 0.0)),
    };
    let second = picture.second.as_ref();
    let bottom = body(&mut svg, figure, figure.y.scale, second, room);
    let height = bottom + key(&mut svg, figure, (width, bottom));
    (svg.finish(), height)
}

/// The values of `figure` in words, for readers who do not see it: all bars, the ends of a curve, and the
/// extremes of a matrix.
fn words(figure: &Figure) -> String {
    let value = |point: &FigurePoint| {
        let unit = figure.y.unit.unwrap_or(Unit::Count);
        show::value(unit, point.estimate.centre, None)
    };
    let at = |point: &FigurePoint| show_level(&figure.x, &point.x);
    let mut words: Vec<String> = Vec::new();
    let mut cells: Vec<(&FigurePoint, &str)> = Vec::new();
    for series in &figure.series {
        let points = series.points.iter();
        let mut sound = points.filter(|point| point.estimate.is_sound());
        match figure.kind {
            FigureKind::Bars | FigureKind::Timeline => {
                words.extend(sound.map(|point| format!("{}: {}", at(point), value(point))));
            }
            FigureKind::Matrix => cells.extend(sound.map(|point| (point, series.label.as_str()))),
            FigureKind::Curve => {
                let (first, last) = (sound.next(), sound.next_back());
                words.extend(first.zip(last).map(|(first, last)| {
                    let name = format!("{} {}", figure.y.title, series.label);
                    let ends = [first, last].map(|end| format!("{} at {}", value(end), at(end)));
                    format!("{}: {}", name.trim(), ends.join(", "))
                }));
            }
        }
    }
    cells.sort_by(|(one, _), (other, _)| one.estimate.centre.total_cmp(&other.estimate.centre));
    let ends = [("least", cells.first()), ("most", cells.last())];
    words.extend(ends.into_iter().filter_map(|(which, end)| {
        let (point, column) = end?;
        Some(format!(
            "{which}: {} between {} and {column}",
            value(point),
            at(point)
        ))
    }));
    words.extend(
        figure
            .marks
            .iter()
            .map(|mark| format!("a level ends at {}", mark.label)),
    );
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::words;
    use crate::made_up::{estimate, matrix};

    #[test]
    fn the_nearest_and_the_farthest_processors_are_in_the_description() {
        let clusters = matrix(8, |row, column| {
            let is_near = row / 4 == column / 4;
            (row != column).then(|| estimate(if is_near { 30.0 } else { 120.0 }))
        });
        let words = words(&clusters);
        assert!(words.starts_with("least: 30.0 ns between"), "{words}");
        assert!(words.contains("most: 120 ns between"), "{words}");
    }
}
