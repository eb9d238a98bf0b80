//! One figure as one SVG element.

use super::axes::Room;
use super::marker::{STYLES, outline};
use super::svg::{Anchor, FONT, Svg, WIDTH, px, text_width};
use super::{curves, matrix, rows};
use crate::chart::{Curves, Matrix, drawn_centre, moments};
use crate::lists::joined;
use crate::show;
use instrument::figure::{Figure, FigureKind, FigureScale};

/// The place of the names of the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// Below the chart.
    InChart,
    /// In the page: the chart has them below its lower edge, for readers who save it.
    InPage,
}

/// `figure` as an `svg` element with its value axis scaled by `kind`.
pub(crate) fn render(figure: &Figure, kind: FigureScale, names: Names) -> String {
    let room = Room {
        width: WIDTH,
        height: f64::INFINITY,
    };
    let mut svg = Svg::new(WIDTH);
    let scale = match kind {
        FigureScale::Linear => "linear",
        FigureScale::Logarithmic => "logarithmic",
    };
    svg.text("desc", &[], &description(figure, scale));
    let shown = body(&mut svg, figure, kind, None, room);
    let whole = shown + key(&mut svg, figure, (room.width, shown));
    let height = match names {
        Names::InChart => whole,
        Names::InPage => shown,
    };
    let size = Room { height, ..room };
    framed(
        &format!("chart {scale}"),
        &figure.title,
        size,
        &svg.finish(),
    )
}

/// Draws the chart without the names of its series; returns its height.
pub(super) fn body(
    svg: &mut Svg,
    figure: &Figure,
    kind: FigureScale,
    second: Option<&Figure>,
    room: Room,
) -> f64 {
    match figure.kind {
        FigureKind::Curve => curves::draw(svg, figure, kind, second, room),
        FigureKind::Bars => rows::bars(svg, figure, kind, room),
        FigureKind::Timeline => rows::timeline(svg, figure, room),
        FigureKind::Matrix => matrix::draw(svg, figure, kind, room),
    }
}

/// `body` as an `svg` element of the given size.
pub(super) fn framed(class: &str, label: &str, size: Room, body: &str) -> String {
    let mut svg = Svg::new(size.width);
    let view = format!("0 0 {} {}", px(size.width), px(size.height));
    svg.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("class", &class),
            ("viewBox", &view),
            ("role", &"img"),
            ("aria-label", &label),
            ("font-size", &FONT),
        ],
    );
    svg.insert(body);
    svg.close("svg");
    svg.finish()
}

/// True if the marks of the figure's series need names.
pub(crate) fn has_key(figure: &Figure) -> bool {
    let is_marked = matches!(figure.kind, FigureKind::Curve | FigureKind::Bars);
    is_marked && (2..=STYLES).contains(&figure.series.len())
}

/// Draws the marker and the name of each series in rows below `top`; returns their height.
pub(super) fn key(svg: &mut Svg, figure: &Figure, (width, top): (f64, f64)) -> f64 {
    const ROW: f64 = FONT + 5.0;
    let mut at = (0.0, top + ROW / 2.0 + 2.0);
    if !has_key(figure) {
        return 0.0;
    }
    for (index, series) in figure.series.iter().enumerate() {
        let length = 16.0 + text_width(&series.label);
        if at.0 > 0.0 && at.0 + length > width {
            at = (0.0, at.1 + ROW);
        }
        let (x, y) = at;
        svg.open_series(index, index);
        let shape = outline(index, x + 6.0, y, 4.0);
        svg.path("m", &shape);
        let name = (x + 14.0, y, Anchor::Start);
        svg.label("name", &series.label, name);
        svg.close("g");
        at.0 += length + 14.0;
    }
    at.1 + ROW / 2.0 + 2.0 - top
}

/// True if a logarithmic value axis would show anything.
pub(crate) fn can_be_logarithmic(figure: &Figure) -> bool {
    let is_timeline = figure.kind == FigureKind::Timeline;
    let mut centres = figure.points().filter_map(|it| drawn_centre(&it.estimate));
    !is_timeline && centres.any(|centre| centre > 0.0)
}

/// Number of points without a place in the chart: values below resolution, and on a logarithmic axis values that
/// are not positive. Rows of bars have a place for every point.
pub(crate) fn undrawn(figure: &Figure) -> usize {
    let all = figure.points().count();
    all.saturating_sub(match figure.kind {
        FigureKind::Bars => all,
        FigureKind::Timeline => moments(figure).len(),
        FigureKind::Matrix => Matrix::new(figure, figure.y.scale).cells().count(),
        FigureKind::Curve => Curves::of(figure, figure.y.scale).spots().count(),
    })
}

/// Description of the chart for screen readers.
fn description(figure: &Figure, scale: &str) -> String {
    let labels = figure.series.iter().map(|series| series.label.as_str());
    let centres = figure
        .points()
        .filter_map(|point| drawn_centre(&point.estimate));
    let (low, high) = centres.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), centre| {
        (low.min(centre), high.max(centre))
    });
    let range = match figure.y.unit {
        Some(unit) if low <= high => format!(" from {}", show::extent(unit, low, high)),
        _ => String::new(),
    };
    let (y, x, labels) = (&figure.y.title, &figure.x.title, joined(", ", labels));
    let what = match figure.kind {
        FigureKind::Matrix => {
            format!("{y}{range} ({scale} colours) by {x} in rows and in columns: {labels}")
        }
        FigureKind::Curve | FigureKind::Bars | FigureKind::Timeline => {
            format!("{y}{range} ({scale} axis) by {x}: {labels}")
        }
    };
    format!("{what}. The numbers are in the table below the figure.")
}

#[cfg(test)]
mod tests {
    use super::{Names, render};
    use crate::made_up::{estimate, matrix};
    use instrument::figure::{Figure, FigureKind, FigurePoint, FigureScale, Series};
    use instrument::point::Level;
    use instrument::quantity::Unit;

    /// A chart of one value at these levels, which are in this unit.
    fn drawn(kind: FigureKind, levels: &[Level], unit: Option<Unit>) -> String {
        let point = |level: &Level| FigurePoint {
            x: level.clone(),
            estimate: estimate(20.0),
            doubtful: false,
        };
        let series = Series {
            label: "read".into(),
            points: levels.iter().map(point).collect(),
        };
        let mut figure = Figure {
            kind,
            series: vec![series],
            ..matrix(0, |_, _| None)
        };
        figure.x.unit = unit;
        render(&figure, FigureScale::Logarithmic, Names::InChart)
    }

    #[test]
    fn intervals_are_a_band_along_sizes_and_bars_along_counts() {
        let levels = [1, 2, 4, 8].map(Level::Number);
        for (unit, areas) in [(Unit::Bytes, 1), (Unit::Count, 4)] {
            let chart = drawn(FigureKind::Curve, &levels, Some(unit));
            let (_, band) = chart.split_once("class=\"band\"").expect("a band");
            let (band, _) = band.split_once("/>").expect("an end");
            assert_eq!(band.matches('z').count(), areas, "{band}");
        }
    }

    #[test]
    fn a_name_for_which_there_is_room_is_written_in_full() {
        let name = "latency, getpid, optimisation 3";
        let chart = drawn(FigureKind::Bars, &[Level::Choice(name.into())], None);
        assert!(chart.contains(&format!(">{name}</text>")), "{chart}");
    }
}
