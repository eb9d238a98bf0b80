//! The latency ladder: everything that takes time, from a nanosecond to a second.

use super::super::labels::shortened;
use super::super::marker::outline;
use super::super::svg::{Path, Px, Svg, text_width};
use super::Size;
use crate::chart::{Domain, Scale};
use crate::glance::Rung;
use crate::show;
use instrument::figure::FigureScale;
use instrument::quantity::Unit;

/// The ends of the ladder in ns; it is longer where something is shorter or longer.
const ENDS_NS: [f64; 2] = [1.0, 1e9];

/// Distance between a rung and its label.
const GAP: f64 = 8.0;

pub(super) fn draw(svg: &mut Svg, ladder: &[Rung], size: Size) {
    let font = size.font;
    let (left, right) = (6.0, size.width - 20.0);
    let (top, bottom) = (4.0, size.height - font - 9.0);
    let latencies = ladder.iter().map(|rung| rung.ns).chain(ENDS_NS);
    let domain = Domain::around(latencies, FigureScale::Logarithmic);
    let x = domain.between(FigureScale::Logarithmic, left, right);
    axis(svg, &x, (top, bottom), size);
    let step = (bottom - top) / ladder.len().max(1) as f64;
    for (index, rung) in ladder.iter().enumerate() {
        let Some(at) = x.position(rung.ns) else {
            continue;
        };
        let y = top + (index as f64 + 0.5) * step;
        svg.open("g", &[("class", &"s0")]);
        let shape = outline(0, at, y, 3.4);
        svg.element("path", &[("class", &"m"), ("d", &shape)]);
        svg.close("g");
        let value = show::value(Unit::Nanoseconds, rung.ns, None);
        let room = [size.width - at - GAP, at - GAP];
        let needed = text_width(&format!("{} {value}", rung.label), font);
        let (anchor, place, room) = if needed <= room[0] || room[0] >= room[1] {
            ("start", at + GAP, room[0])
        } else {
            ("end", at - GAP, room[1])
        };
        let label = shortened(
            rung.label,
            font,
            room - text_width(&format!(" {value}"), font),
        );
        svg.open(
            "text",
            &[
                ("class", &"name"),
                ("x", &Px(place)),
                ("y", &Px(y + font * 0.35)),
                ("text-anchor", &anchor),
            ],
        );
        svg.text("tspan", &[], &format!("{label} "));
        svg.text("tspan", &[("class", &"strong")], &value);
        svg.close("text");
    }
}

/// A line for each power of ten, with a label at every third.
fn axis(svg: &mut Svg, x: &Scale, (top, bottom): (f64, f64), size: Size) {
    let mut grid = Path::default();
    for exponent in -3..=12_i32 {
        let ns = 10_f64.powi(exponent);
        let Some(at) = x.position(ns).filter(|_| x.contains(ns)) else {
            continue;
        };
        grid.line([(at, top), (at, bottom)]);
        if exponent % 3 == 0 {
            svg.text(
                "text",
                &[
                    ("class", &"x-tick"),
                    ("x", &Px(at.max(14.0))),
                    ("y", &Px(bottom + size.font + 5.0)),
                ],
                &show::round(Unit::Nanoseconds, ns),
            );
        }
    }
    svg.element("path", &[("class", &"grid"), ("d", &grid)]);
}

/// The ladder in words.
pub(super) fn words(ladder: &[Rung]) -> String {
    let rung = |rung: &Rung| {
        let value = show::value(Unit::Nanoseconds, rung.ns, None);
        format!("{}: {value}", rung.label)
    };
    ladder.iter().map(rung).collect::<Vec<_>>().join("; ")
}
