//! One figure as a standalone SVG file.

use super::chart::{STEPS, captioned};
use super::figure::{mark, scales};
use instrument::figure::Figure;
use std::fmt::Write as _;

/// The colours of series, the same as on the page.
const COLOURS: [&str; 6] = [
    "#0068ad", "#c04a00", "#007a58", "#a03e86", "#80600a", "#4a5566",
];

/// The colours of values in a matrix, from low to high, the same as on the page.
const HEAT: [&str; STEPS] = [
    "#f8f4b2", "#b4df8f", "#57c88d", "#08a598", "#0a7f90", "#025b83", "#26385f",
];

/// `figure` as a complete SVG document on a light background, with its title, where its values are from (`about`),
/// and its marks in words.
pub fn plot(figure: &Figure, about: &str) -> String {
    let (scale, _) = scales(figure);
    let marks = figure.marks.iter().map(|it| mark(figure, it).1);
    document(&captioned(figure, scale, about, &marks.collect::<Vec<_>>()))
}

/// A chart that needs no style sheet: an `svg` element with its colours and a light background.
pub(super) fn document(chart: &str) -> String {
    let Some((head, body)) = chart.split_once('>') else {
        return chart.to_owned();
    };
    format!(
        "{head}><style>{}</style><rect width=\"100%\" height=\"100%\" fill=\"#fdfdfb\"/>{body}\n",
        style()
    )
}

fn style() -> String {
    let mut style = include_str!("../../assets/plot.css").to_owned();
    for (index, colour) in COLOURS.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(
            style,
            ".s{index} .line, .s{index} .dots {{ stroke: {colour}; }}\n\
             .s{index} .band, .s{index} .m, .s{index} .bar, .s{index} .direct, .s{index}.direct, .s{index}.hue, \
             .s{index}.bar {{ fill: {colour}; }}\n\
             .s{index} .m.doubtful {{ fill: #fdfdfb; stroke: {colour}; stroke-width: 1.6; }}\n\
             .s{index} .bar.doubtful, .s{index}.bar.doubtful {{ stroke: {colour}; }}\n"
        );
    }
    for (step, colour) in HEAT.iter().enumerate() {
        let letters = if step < 4 { "#1d2024" } else { "#fdfdfb" };
        let _ = write!(
            style,
            ".h{step}, .m.h{step} {{ fill: {colour}; }}\n.on{step} {{ fill: {letters}; }}\n"
        );
    }
    style.replace('<', "")
}

#[cfg(test)]
mod tests {
    use super::{COLOURS, HEAT};

    #[test]
    fn colours_are_those_of_the_page() {
        let page = include_str!("../../assets/page.css");
        for (names, colours) in [("c", &COLOURS[..]), ("h", &HEAT[..])] {
            for (index, colour) in colours.iter().enumerate() {
                let rule = format!("--{names}{index}: {colour};");
                assert!(page.contains(&rule), "{rule}");
            }
        }
    }
}
