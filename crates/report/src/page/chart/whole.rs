//! The pictures and the words of a machine as one picture, to be shown elsewhere.

use super::picture::{HEIGHT, drawn};
use super::svg::{FONT, Px, Svg, WIDTH as COLUMN, text_width};
use crate::glance::Picture;

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 24.0;
const TITLE: f64 = 22.0;
const TEXT: f64 = 13.0;
const LINE: f64 = 19.0;
/// Height of the title of a picture.
const HEADING: f64 = 22.0;

/// The words of a card.
pub(in crate::page) struct Lines {
    pub(in crate::page) title: String,
    /// Machine, run and verdict, a line or more each.
    pub(in crate::page) head: Vec<String>,
    pub(in crate::page) settings_title: &'static str,
    /// A setting and its command each.
    pub(in crate::page) settings: Vec<(String, String)>,
}

/// The body of the card, and its width and height in pixels.
pub(in crate::page) fn whole(lines: &Lines, pictures: &[Picture]) -> (String, f64, f64) {
    let mut svg = Svg::new(WIDTH);
    write(
        &mut svg,
        &lines.title,
        ("title", MARGIN, MARGIN + TITLE),
        TITLE,
    );
    let mut y = MARGIN + TITLE + 6.0;
    let wide = WIDTH - 2.0 * MARGIN;
    for line in &lines.head {
        y = paragraph(&mut svg, line, ("name", MARGIN, y), wide);
    }
    y += 22.0;
    let place = |index: usize| {
        let left = [MARGIN, WIDTH - MARGIN - COLUMN][index % 2];
        let down = (index / 2) as f64 * (HEIGHT + HEADING + 20.0);
        (left, y + down)
    };
    for (index, picture) in pictures.iter().enumerate() {
        let (left, top) = place(index);
        write(
            &mut svg,
            picture.title,
            ("panel-title", left, top + 12.0),
            14.0,
        );
        let at = format!("translate({} {})", Px(left), Px(top + HEADING));
        svg.open("g", &[("transform", &at), ("font-size", &FONT)]);
        let (body, _) = drawn(picture, COLUMN);
        svg.insert(&body);
        svg.close("g");
    }
    let mut count = pictures.len();
    if !lines.settings.is_empty() {
        let (left, top) = place(count);
        let title = ("panel-title", left, top + 12.0);
        write(&mut svg, lines.settings_title, title, 14.0);
        let mut down = top + HEADING;
        for (setting, command) in &lines.settings {
            down = paragraph(&mut svg, setting, ("name", left, down), COLUMN);
            down = paragraph(&mut svg, command, ("code", left, down), COLUMN) + 6.0;
        }
        count += 1;
    }
    let (_, height) = place(count.div_ceil(2) * 2);
    (svg.finish(), WIDTH, height + 4.0)
}

fn write(svg: &mut Svg, text: &str, (class, x, y): (&str, f64, f64), font: f64) {
    svg.text(
        "text",
        &[
            ("class", &class),
            ("x", &Px(x)),
            ("y", &Px(y)),
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
            Some(line) if text_width(&format!("{line} {word}"), TEXT) <= width => {
                line.extend([" ", word]);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for line in lines {
        y += LINE;
        write(svg, &line, (class, x, y), TEXT);
    }
    y
}
