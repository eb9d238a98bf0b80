//! A run on one card: a picture to show elsewhere.

use super::caption::{paragraph, write};
use super::picture::{WIDTH as COLUMN, drawn, height};
use super::svg::{FONT, Svg, px};
use crate::advice::gaining;
use crate::glance::pictures;
use crate::machines::Unusual;
use crate::page::plot::document;
use crate::page::render::{FIRST, title};
use crate::ranking::foremost;
use crate::view::run::trusted;
use crate::{Analysis, show};

const COLUMNS: usize = 3;
const MARGIN: f64 = 24.0;
const GAP: f64 = 30.0;
/// Width of three columns.
const INNER: f64 = 3.0 * COLUMN + 2.0 * GAP;
const WIDTH: f64 = INNER + 2.0 * MARGIN;
const TITLE: f64 = 22.0;
/// Height of the title of a picture.
const HEADING: f64 = 22.0;

/// The run as a complete SVG document: how far to trust it, the pictures of the machine, what is unusual there, and
/// what to set.
pub fn card(analysis: &Analysis<'_>) -> String {
    let mut svg = Svg::new(WIDTH);
    let mut y = MARGIN + TITLE;
    write(&mut svg, &title(analysis), ("title", MARGIN, y), TITLE);
    let (is_trusted, trust) = trusted(analysis);
    let class = if is_trusted { "name" } else { "caution" };
    let machine = show::machine(analysis.run);
    let measured = show::measured(&analysis.run.header);
    for (class, line) in [(class, trust), ("name", machine), ("name", measured)] {
        y = paragraph(&mut svg, &line, (class, MARGIN, y + 3.0), INNER);
    }
    y += 22.0;
    let left = |column: usize| MARGIN + (COLUMN + GAP) * column as f64;
    let pictures = pictures(analysis);
    let highest = pictures.iter().map(height).fold(0.0, f64::max);
    let row = highest + HEADING + 20.0;
    for (index, picture) in pictures.iter().enumerate() {
        let (left, top) = (left(index % COLUMNS), y + row * (index / COLUMNS) as f64);
        heading(&mut svg, picture.title, (left, top));
        let at = format!("translate({} {})", px(left), px(top + HEADING));
        svg.open(
            "g",
            &[
                ("class", &"glance"),
                ("transform", &at),
                ("font-size", &FONT),
            ],
        );
        let (body, _) = drawn(picture, COLUMN);
        svg.insert(&body);
        svg.close("g");
    }
    // Next to a picture that is alone in its row there is room for words, else below all.
    let rows = pictures.len().div_ceil(COLUMNS) as f64;
    let is_in_row = pictures.len() > 1 && pictures.len() % COLUMNS == 1;
    let (top, places, width) = if is_in_row {
        (y + row * (rows - 1.0), [left(1), left(2)], COLUMN)
    } else {
        let half = (INNER - GAP) / 2.0;
        (y + row * rows, [MARGIN, MARGIN + half + GAP], half)
    };
    let bottoms = [unusual, settings].map(|words| words(analysis));
    let bottoms = bottoms.iter().zip(places).map(|((title, lines), left)| {
        if lines.is_empty() {
            return top;
        }
        heading(&mut svg, title, (left, top));
        let lines = lines.iter();
        lines.fold(top + HEADING, |y, (class, words)| {
            let above = if *class == "code" { 0.0 } else { 5.0 };
            paragraph(&mut svg, words, (class, left, y + above), width)
        })
    });
    let bottom = bottoms.fold(y + row * rows, f64::max) + MARGIN;
    let body = svg.finish();
    document(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {bottom:.0}\" role=\"img\" \
         aria-label=\"A machine on one card\" font-size=\"13\">{body}</svg>"
    ))
}

fn heading(svg: &mut Svg, title: &str, (left, top): (f64, f64)) {
    write(svg, title, ("panel-title", left, top + 12.0), 14.0);
}

/// A title and paragraphs, each with its class.
type Words = (&'static str, Vec<(&'static str, String)>);

fn unusual(analysis: &Analysis<'_>) -> Words {
    let found = foremost(analysis, FIRST).into_iter();
    let found = found.map(|(_, finding)| finding.sentence.to_string());
    let sides = Unusual::of(analysis).sentences();
    let lines = found.chain(sides).map(|line| ("name", line));
    ("What is unusual here", lines.collect())
}

fn settings(analysis: &Analysis<'_>) -> Words {
    let settings = gaining(analysis).into_iter().flat_map(|it| {
        let (gain, _) = &it.gain;
        let words = format!(
            "{}: {} instead of {}, {gain} as fast",
            it.title, it.value, it.usual
        );
        let class = if it.is_command { "code" } else { "name" };
        [("name", words), (class, it.action)]
    });
    ("What to set here", settings.collect())
}
