//! The pictures and the words of a machine as one picture, to be shown elsewhere.

use super::super::svg::{Px, Svg, text_width};
use super::{Picture, Size, WIDE};
use crate::glance::Glance;

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 24.0;
const TITLE: f64 = 22.0;
const TEXT: f64 = 13.0;
const LINE: f64 = 19.0;

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
pub(in crate::page) fn whole(lines: &Lines, glance: &Glance) -> (String, f64, f64) {
    let mut svg = Svg::default();
    let mut y = MARGIN + TITLE;
    write(&mut svg, &lines.title, ("title", MARGIN, y), TITLE);
    y += 6.0;
    for line in &lines.head {
        for part in wrapped(line, WIDTH - 2.0 * MARGIN, TEXT) {
            y += LINE;
            write(&mut svg, &part, ("name", MARGIN, y), TEXT);
        }
    }
    y += 22.0;
    let columns = [MARGIN, WIDTH - MARGIN - WIDE.width];
    let heading = 22.0;
    let row = |place: usize| y + (place / 2) as f64 * (WIDE.height + heading + 20.0);
    let mut place = 0;
    let drawn = Picture::ALL.into_iter();
    for picture in drawn.filter(|picture| !picture.is_empty(glance)) {
        let (left, top) = (columns[place % 2], row(place));
        write(
            &mut svg,
            picture.title(),
            ("panel-title", left, top + 12.0),
            14.0,
        );
        let at = format!("translate({} {})", Px(left), Px(top + heading));
        let Size { font, .. } = WIDE;
        svg.open("g", &[("transform", &at), ("font-size", &font)]);
        picture.draw(&mut svg, glance, WIDE);
        svg.close("g");
        place += 1;
    }
    if !lines.settings.is_empty() {
        let (left, top) = (columns[place % 2], row(place));
        write(
            &mut svg,
            lines.settings_title,
            ("panel-title", left, top + 12.0),
            14.0,
        );
        let mut down = top + heading;
        for (setting, command) in &lines.settings {
            for part in wrapped(setting, WIDE.width, TEXT) {
                down += LINE;
                write(&mut svg, &part, ("name", left, down), TEXT);
            }
            for part in wrapped(command, WIDE.width, TEXT) {
                down += LINE;
                write(&mut svg, &part, ("code", left, down), TEXT);
            }
            down += 6.0;
        }
        place += 1;
    }
    let height = row(place.div_ceil(2) * 2) + 4.0;
    (svg.finish(), WIDTH, height)
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

/// `text` in lines of at most `width` pixels.
fn wrapped(text: &str, width: f64, font: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let joined = lines.last().map(|line| format!("{line} {word}"));
        match joined.filter(|joined| text_width(joined, font) <= width) {
            Some(joined) => *lines.last_mut().expect("there is one") = joined,
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
