//! A run on one card: a picture to show elsewhere.

use super::picture::{HEIGHT, drawn};
use super::svg::{FONT, Svg, WIDTH as COLUMN, px, text_width};
use crate::advice::gaining;
use crate::glance::Glance;
use crate::machines::Unusual;
use crate::page::plot::document;
use crate::page::render::title;
use crate::{Analysis, Verdict, show};

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 24.0;
const TITLE: f64 = 22.0;
const LINE: f64 = 19.0;
/// Height of the title of a picture.
const HEADING: f64 = 22.0;

/// The run as a complete SVG document: machine, verdict, memory staircase, latency ladder, files and the
/// settings that gain most.
pub fn card(analysis: &Analysis<'_>) -> String {
    let header = &analysis.run.header;
    let mut svg = Svg::new(WIDTH);
    let mut y = MARGIN + TITLE;
    write(&mut svg, &title(analysis), ("title", MARGIN, y), TITLE);
    y += 6.0;
    let head = [
        show::machine(analysis.run),
        format!(
            "Measured {}, {} profile, by oscope {}.",
            show::moment(header.started),
            header.profile,
            header.version
        ),
        Verdict::of(analysis).text(),
        Unusual::of(analysis).sentences().join(" "),
    ];
    for line in head {
        let at = ("name", MARGIN, y);
        y = paragraph(&mut svg, &line, at, WIDTH - 2.0 * MARGIN);
    }
    y += 22.0;
    let place = |index: usize| {
        let left = [MARGIN, WIDTH - MARGIN - COLUMN][index % 2];
        let down = (index / 2) as f64 * (HEIGHT + HEADING + 20.0);
        (left, y + down)
    };
    let pictures = Glance::of(analysis).pictures;
    for (index, picture) in pictures.iter().enumerate() {
        let (left, top) = place(index);
        let title = ("panel-title", left, top + 12.0);
        write(&mut svg, picture.title, title, 14.0);
        let at = format!("translate({} {})", px(left), px(top + HEADING));
        svg.open("g", &[("transform", &at), ("font-size", &FONT)]);
        let (body, _) = drawn(picture, COLUMN);
        svg.insert(&body);
        svg.close("g");
    }
    let settings = gaining(analysis);
    if !settings.is_empty() {
        let (left, top) = place(pictures.len());
        let title = ("panel-title", left, top + 12.0);
        write(&mut svg, "Settings that gain most", title, 14.0);
        let mut y = top + HEADING;
        for it in &settings {
            let (gain, _) = &it.gain;
            let words = format!(
                "{}: {} instead of {}, {gain} as fast",
                it.title, it.value, it.usual
            );
            y = paragraph(&mut svg, &words, ("name", left, y), COLUMN);
            y = paragraph(&mut svg, &it.set, ("code", left, y), COLUMN) + 6.0;
        }
    }
    let count = pictures.len() + usize::from(!settings.is_empty());
    let (_, height) = place(count.div_ceil(2) * 2);
    let body = svg.finish();
    document(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" \
         aria-label=\"A machine on one card\" font-size=\"13\">{body}</svg>",
        height + 4.0
    ))
}

fn write(svg: &mut Svg, text: &str, (class, x, y): (&str, f64, f64), font: f64) {
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
fn paragraph(svg: &mut Svg, text: &str, (class, x, mut y): (&str, f64, f64), width: f64) -> f64 {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}")) <= width => {
                line.extend([" ", word]);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for line in lines {
        y += LINE;
        write(svg, &line, (class, x, y), FONT);
    }
    y
}
