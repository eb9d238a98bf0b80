//! The memory staircase: latency and bandwidth over the size of what is walked.

use super::super::labels::rows;
use super::super::svg::{Px, Svg, text_width};
use super::plot::{Area, Side, curve, sizes, values, x_axis, y_axis};
use super::{Size, ends};
use crate::chart::Scale;
use crate::glance::{Curve, Knee, Staircase};
use crate::show;
use instrument::quantity::Unit;

pub(super) fn draw(svg: &mut Svg, staircase: &Staircase, size: Size) {
    let font = size.font;
    let Staircase {
        latency,
        bandwidth,
        knees,
    } = staircase;
    let all = || latency.iter().chain(bandwidth);
    let mut area = Area {
        left: 48.0,
        right: size.width - 70.0,
        top: font + 14.0,
        bottom: size.height - font - 9.0,
    };
    let labels = Labels::new(knees, &sizes(all(), area), area, font);
    area.top += labels.height(font);
    let x = sizes(all(), area);
    labels.draw(svg, area, font);
    let loads = latency.as_ref().map(|latency| {
        let y = values(std::iter::once(latency), below_stairs(area, font));
        let axis = (Unit::Nanoseconds, Side::Left, "s0 hue");
        y_axis(svg, &y, axis, area, size);
        title(svg, "a load takes", ("s0 direct", 0.0, "start"), font);
        curve(svg, latency, 0, &x, &y);
        (latency, y)
    });
    if let Some(bandwidth) = bandwidth {
        let y = values(std::iter::once(bandwidth), area);
        let axis = (Unit::BytesPerSecond, Side::Right, "s1 hue");
        y_axis(svg, &y, axis, area, size);
        title(
            svg,
            "one core reads",
            ("s1 direct", size.width, "end"),
            font,
        );
        curve(svg, bandwidth, 1, &x, &y);
    }
    // Values are last, so that no curve covers them.
    if let Some((latency, y)) = loads {
        stairs(svg, latency, knees, (&x, &y), font);
    }
    x_axis(svg, &x, area, size);
}

fn title(svg: &mut Svg, text: &str, (class, x, anchor): (&str, f64, &str), font: f64) {
    let attributes: [(&str, &dyn std::fmt::Display); 4] = [
        ("class", &class),
        ("x", &Px(x)),
        ("y", &Px(font)),
        ("text-anchor", &anchor),
    ];
    svg.text("text", &attributes, text);
}

/// The part of the plot that leaves room for a label above the highest stair.
fn below_stairs(area: Area, font: f64) -> Area {
    Area {
        top: area.top + font * 1.6,
        ..area
    }
}

/// The latency of each stair, above the middle of it, and that of the largest working set, above its end.
fn stairs(svg: &mut Svg, latency: &Curve, knees: &[Knee], (x, y): (&Scale, &Scale), font: f64) {
    let ends = knees.iter().map(|knee| knee.bytes).chain([f64::INFINITY]);
    let mut from = 0.0;
    for to in ends {
        // Next to its ends a stair is on its way to another.
        let on = |size: f64| size > from * 1.3 && size < to * 0.9;
        let stair: Vec<(f64, f64)> = latency
            .points
            .iter()
            .filter_map(|(size, value)| Some((*size, (*value)?)))
            .filter(|(size, _)| on(*size))
            .collect();
        from = to;
        let middle = stair.get(stair.len() / 2);
        let told = if to.is_infinite() {
            stair.last()
        } else {
            middle
        };
        let Some(&(size, value)) = told else {
            continue;
        };
        let (Some(left), Some(up)) = (x.position(size), y.position(value)) else {
            continue;
        };
        svg.text(
            "text",
            &[
                ("class", &"s0 direct halo"),
                ("x", &Px(left)),
                ("y", &Px(up - font * 0.7)),
                ("text-anchor", &"middle"),
            ],
            &show::value(Unit::Nanoseconds, value, None),
        );
    }
}

/// The names and sizes of the knees, in rows above the plot.
struct Labels {
    placed: Vec<(String, f64, usize, bool)>,
}

impl Labels {
    fn new(knees: &[Knee], x: &Scale, area: Area, font: f64) -> Self {
        let texts: Vec<(String, f64)> = knees
            .iter()
            .filter(|knee| x.contains(knee.bytes))
            .filter_map(|knee| {
                let text = named(knee);
                Some((text, x.position(knee.bytes)?))
            })
            .collect();
        let wanted: Vec<_> = texts
            .iter()
            .map(|(text, x)| (*x, text_width(text, font)))
            .collect();
        let rows = rows(&wanted, area.left, area.right + 60.0);
        let placed = texts.into_iter().zip(rows);
        Self {
            placed: placed
                .map(|((text, x), place)| (text, x, place.row, place.leftwards))
                .collect(),
        }
    }

    fn height(&self, font: f64) -> f64 {
        let rows = self.placed.iter().map(|(_, _, row, _)| row + 1).max();
        rows.unwrap_or(0) as f64 * (font + 3.0)
    }

    fn draw(&self, svg: &mut Svg, area: Area, font: f64) {
        for (text, x, row, leftwards) in &self.placed {
            let baseline = area.top - 4.0 - *row as f64 * (font + 3.0);
            let line = format!("M{} {}V{}", Px(*x), Px(baseline + 2.0), Px(area.bottom));
            svg.element("path", &[("class", &"mark found"), ("d", &line)]);
            let (anchor, at) = if *leftwards {
                ("end", x - 3.0)
            } else {
                ("start", x + 3.0)
            };
            svg.text(
                "text",
                &[
                    ("class", &"mark-label halo"),
                    ("x", &Px(at)),
                    ("y", &Px(baseline)),
                    ("text-anchor", &anchor),
                ],
                text,
            );
        }
    }
}

/// The size of a knee, after the cache that is documented to end there.
fn named(knee: &Knee) -> String {
    let size = show::value(Unit::Bytes, knee.bytes, None);
    match knee.cache_level {
        Some(level) => format!("L{level} {size}"),
        None => size,
    }
}

/// The staircase in words.
pub(super) fn words(staircase: &Staircase) -> String {
    let told = |curve: &Option<Curve>, what: &str, unit| {
        let [(small, first), (large, last)] = ends(curve.as_ref()?)?;
        let value = |value| show::value(unit, value, None);
        let bytes = |size| show::round(Unit::Bytes, size);
        Some(format!(
            "{what} {} in {} and {} in {}.",
            value(first),
            bytes(small),
            value(last),
            bytes(large)
        ))
    };
    let knees = staircase
        .knees
        .iter()
        .map(|knee| format!("A level ends at {}.", named(knee)));
    let parts = [
        told(&staircase.latency, "A load takes", Unit::Nanoseconds),
        told(&staircase.bandwidth, "One core reads", Unit::BytesPerSecond),
    ];
    parts
        .into_iter()
        .flatten()
        .chain(knees)
        .collect::<Vec<_>>()
        .join(" ")
}
