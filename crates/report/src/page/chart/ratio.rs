//! Ratios on a logarithmic axis centred on 1, with the margin shaded: small multiples with shared
//! axes along a numeric axis, else one row per ratio.

use super::axes::{Frame, Panels, Room, y_room};
use super::curves::{band, line};
use super::render::framed;
use super::rows::Rows;
use super::svg::{Attributes, Svg, WIDTH, px};
use crate::chart::{Curve as Line, Scale, Spot};
use crate::comparison::Row;
use instrument::figure::FigureScale::Logarithmic;
use instrument::point::{Axis, AxisKind};
use instrument::quantity::Unit;

/// Ratios along a numeric axis.
pub(crate) struct Curve<'a> {
    pub(crate) title: String,
    /// The points, in ascending order of x.
    pub(crate) points: Vec<(u64, &'a Row<'a>)>,
}

/// Height of a row with its padding.
const ROW: f64 = 22.0;

pub(crate) fn curves(curves: &[Curve<'_>], axis: &Axis, label: &str) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let y = reach(points().map(|(_, row)| *row));
    let x = Scale::around(points().map(|(x, _)| *x as f64), Logarithmic);
    let left = y_room(&y, Some(Unit::Ratio), Panels::HEIGHT);
    let panels = Panels::new(WIDTH, left, curves.iter().map(|curve| curve.title.as_str()));
    let mut svg = Svg::new(WIDTH);
    let mut bottom = 0.0;
    for (index, curve) in curves.iter().enumerate() {
        let frame = panels.plot(&mut svg, index);
        let margins = curve.points.iter().map(|(_, row)| row.margin);
        if let Some([low, high]) = margin(&y, margins.fold(0.0, f64::max)) {
            let (top, bottom) = (frame.y(high), frame.y(low));
            svg.rectangle("margin", [frame.left, top, frame.width, bottom - top]);
        }
        frame.y_axis(&mut svg, &y, Some(Unit::Ratio), panels.y_labels(index));
        if let Some(one) = y.position(1.0) {
            let (from, to, one) = (px(frame.left), px(frame.right()), px(frame.y(one)));
            svg.path("unity", &format!("M{from} {one}H{to}"));
        }
        frame.x_axis(&mut svg, &x, axis.unit(), panels.is_lowest(index));
        curve.draw(&mut svg, axis, (&x, &y), &frame);
        if index + 1 == curves.len() {
            bottom = frame.x_title(&mut svg, &axis.title);
        }
    }
    let size = Room {
        width: WIDTH,
        height: bottom,
    };
    framed("chart ratio", label, size, &svg.finish())
}

pub(crate) fn rows(named: &[(String, &Row<'_>)], label: &str) -> String {
    let right = WIDTH - 16.0;
    let titles = || named.iter().map(|(name, _)| name.as_str());
    let left = Rows::name_room(titles(), right);
    let step = ROW.max(Rows::name_height(titles(), left));
    let rows = Rows {
        left,
        right,
        top: 0.0,
        bottom: step * named.len() as f64 + 6.0,
    };
    let scale = reach(named.iter().map(|(_, row)| *row));
    let mut svg = Svg::new(WIDTH);
    for (index, (name, row)) in named.iter().enumerate() {
        let middle = step * (index as f64 + 0.5) + 3.0;
        rows.name(&mut svg, name, middle);
        let ends = margin(&scale, row.margin).map(|ends| ends.map(|end| rows.x(end)));
        if let Some([low, high]) = ends {
            svg.rectangle("margin", [low, middle - step / 2.0, high - low, step]);
        }
        let place = |value| Some(px(rows.x(scale.position(value)?)));
        let ends = row
            .interval
            .and_then(|ends| place(ends.low).zip(place(ends.high)));
        if let Some((low, high)) = ends {
            let class = format!("reach {}", row.verdict.word().class);
            svg.path(&class, &format!("M{low} {}H{high}", px(middle)));
        }
        if let Some(at) = scale.position(row.ratio) {
            dot(&mut svg, rows.x(at), middle, row);
        }
    }
    if let Some(one) = scale.position(1.0) {
        let (one, bottom) = (px(rows.x(one)), px(rows.bottom));
        svg.path("unity", &format!("M{one} 0V{bottom}"));
    }
    let size = Room {
        width: WIDTH,
        height: rows.axis(&mut svg, &scale, Some(Unit::Ratio)),
    };
    framed("chart ratio", label, size, &svg.finish())
}

impl Curve<'_> {
    fn draw(&self, svg: &mut Svg, axis: &Axis, (x, y): (&Scale, &Scale), frame: &Frame) {
        let spot = |(level, row): &(u64, &Row<'_>)| {
            let across = *level as f64;
            let ends = row.interval;
            Some(Spot {
                level: 0,
                value: (across, row.ratio),
                at: (x.position(across)?, y.position(row.ratio)?),
                reach: ends.and_then(|ends| Some([y.position(ends.low)?, y.position(ends.high)?])),
                processes: Vec::new(),
                doubtful: false,
            })
        };
        let spots: Vec<Option<Spot>> = self.points.iter().map(spot).collect();
        let curve = Line::through(spots.iter().cloned());
        // There is nothing between two counts.
        let is_continuous = axis.kind != AxisKind::Count;
        let is_band = |one: &Spot, next: &Spot| is_continuous && one.is_near(next);
        svg.path("ratio-band", &band(&curve, is_band, frame));
        line(svg, &curve, frame, "ratio-line");
        for (spot, (_, row)) in spots.iter().zip(&self.points) {
            if let Some(spot) = spot {
                dot(svg, frame.x(spot.at.0), frame.y(spot.at.1), row);
            }
        }
    }
}

/// The places of the ends of a margin around 1.
fn margin(scale: &Scale, margin: f64) -> Option<[f64; 2]> {
    Some([
        scale.position(1.0 / (1.0 + margin))?,
        scale.position(1.0 + margin)?,
    ])
}

fn dot(svg: &mut Svg, x: f64, y: f64, row: &Row<'_>) {
    let class = format!("verdict-dot {}", row.verdict.word().class);
    let [x, y] = [x, y].map(px);
    let attributes: Attributes<'_> = &[("class", &class), ("cx", &x), ("cy", &y), ("r", &3.2)];
    svg.element("circle", attributes);
}

/// Symmetric range around 1 that includes all ratios, and their intervals as far as they leave the
/// ratios distinguishable.
fn reach<'a>(rows: impl Iterator<Item = &'a Row<'a>> + Clone) -> Scale {
    const LEAST: f64 = 0.1;
    let size = |value: f64| value.ln().abs();
    let centres = rows
        .clone()
        .map(|row| size(row.ratio))
        .filter(|size| size.is_finite());
    let furthest = centres.fold(LEAST, f64::max);
    let ends = rows.filter_map(|row| row.interval);
    let ends = ends.flat_map(|interval| [size(interval.low), size(interval.high)]);
    let furthest_end = ends
        .filter(|end| *end <= 2.0 * furthest)
        .fold(furthest, f64::max);
    let high = (furthest_end * 1.05).min(200.0).exp();
    Scale {
        kind: Logarithmic,
        low: 1.0 / high,
        high,
    }
}

#[cfg(test)]
mod tests {
    use super::{Curve, curves, rows};
    use crate::comparison::Row;
    use instrument::experiment::{Better, Definition, Metric};
    use instrument::point::{Axis, Point};
    use instrument::quantity::Unit;

    /// The number of areas in the band of a curve along `axis` at 1, 2, 4 and 8.
    fn areas(axis: Axis) -> usize {
        let metric = Metric::new("read", "read", Unit::BytesPerSecond, Better::Higher);
        let definition = Definition {
            axes: vec![axis],
            metrics: vec![metric],
            ..Definition::default()
        };
        let axis = &definition.axes[0];
        let levels = [1_u64, 2, 4, 8];
        let points = levels.map(|level| Point::new().with(&axis.name, level));
        let rows = points
            .each_ref()
            .map(|point| Row::made_up(&definition, point, 1.2));
        let curve = Curve {
            title: "read".into(),
            points: levels.into_iter().zip(&rows).collect(),
        };
        let chart = curves(&[curve], axis, "as fast");
        let (_, band) = chart.split_once("ratio-band").expect("a band");
        let (band, _) = band.split_once("/>").expect("an end");
        band.matches('z').count()
    }

    #[test]
    fn intervals_are_a_band_along_sizes_and_bars_along_counts() {
        assert_eq!(areas(Axis::bytes("block_size", "block size")), 1);
        assert_eq!(areas(Axis::count("threads", "threads")), 4);
    }

    #[test]
    fn a_name_for_which_there_is_room_is_written_in_full() {
        let metric = Metric::new("latency", "latency", Unit::Nanoseconds, Better::Lower);
        let definition = Definition {
            metrics: vec![metric],
            ..Definition::default()
        };
        let point = Point::new();
        let row = Row::made_up(&definition, &point, 1.2);
        let name = "latency, getpid, optimisation 3";
        let chart = rows(&[(name.to_owned(), &row)], "as fast");
        assert!(chart.contains(&format!(">{name}</text>")), "{chart}");
    }
}
