//! Text above and below the charts of a picture that has no page around it.

use super::axes::Room;
use super::labels::wrapped;
use super::render::{body, framed, key};
use super::svg::{BOLD, FONT, Svg, WIDTH, px};
use instrument::figure::{Figure, FigureScale};

/// Distance of the lines of a paragraph.
const STEP: f64 = 19.0;
/// Size of the title of a chart.
const TITLE: f64 = 15.0;

/// `figure` below its title and `about`, and above `notes`, as an `svg` element.
pub(in crate::page) fn captioned(
    figure: &Figure,
    kind: FigureScale,
    about: &str,
    notes: &[String],
) -> String {
    const AIR: f64 = 8.0;
    let width = WIDTH - 2.0 * AIR;
    let mut drawn = Svg::new(width);
    let room = Room {
        width,
        height: f64::INFINITY,
    };
    let shown = body(&mut drawn, figure, kind, None, room);
    let shown = shown + key(&mut drawn, figure, (width, shown));

    let mut svg = Svg::new(WIDTH);
    let mut y = AIR;
    for line in wrapped(&figure.title, width * FONT / TITLE / BOLD) {
        y += STEP;
        write(&mut svg, &line, ("title", AIR, y), TITLE);
    }
    y = paragraph(&mut svg, about, ("about", AIR, y), width) + 14.0;
    let at = format!("translate({} {})", px(AIR), px(y));
    svg.open("g", &[("transform", &at)]);
    svg.insert(&drawn.finish());
    svg.close("g");
    y += shown;
    for note in notes {
        y = paragraph(&mut svg, note, ("mark-label", AIR, y), width);
    }
    let size = Room {
        width: WIDTH,
        height: y + AIR,
    };
    framed("chart", &figure.title, size, &svg.finish())
}

pub(super) fn write(svg: &mut Svg, text: &str, (class, x, y): (&str, f64, f64), font: f64) {
    svg.text(
        "text",
        &[
            ("class", &class),
            ("x", &px(x)),
            ("y", &px(y)),
            ("font-size", &font),
        ],
        text,
    );
}

/// Writes `text` below y in lines of at most `width` pixels; returns the y of the last.
pub(super) fn paragraph(
    svg: &mut Svg,
    text: &str,
    (class, x, mut y): (&str, f64, f64),
    width: f64,
) -> f64 {
    let bold = if class == "caution" { BOLD } else { 1.0 };
    for line in wrapped(text, width / bold) {
        y += STEP;
        write(svg, &line, (class, x, y), FONT);
    }
    y
}
