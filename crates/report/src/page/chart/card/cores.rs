//! The times between each two processors, as a heat map.

use super::super::format::Room;
use super::super::matrix;
use super::super::svg::Svg;
use super::Size;
use crate::show;
use instrument::figure::{Figure, FigureAxis};
use instrument::point::Level;
use instrument::quantity::Unit;

pub(super) fn draw(svg: &mut Svg, figure: &Figure, size: Size) {
    // Names of processors speak for themselves beside the title of the colours.
    let named = |axis: &FigureAxis, title: &str| FigureAxis {
        title: title.into(),
        ..axis.clone()
    };
    let figure = Figure {
        x: named(&figure.x, ""),
        y: named(&figure.y, "cache line between processors"),
        ..figure.clone()
    };
    let room = Room {
        width: size.width,
        height: size.height,
        font: size.font,
    };
    matrix::draw(svg, &figure, figure.y.scale, room);
}

/// The nearest and the farthest pair in words.
pub(super) fn words(figure: &Figure) -> String {
    let pairs = figure.series.iter().flat_map(|column| {
        let rows = column
            .points
            .iter()
            .filter(|point| point.estimate.is_sound());
        rows.map(|row| (&column.label, &row.x, row.estimate.centre))
    });
    let pairs: Vec<(&String, &Level, f64)> = pairs.collect();
    let by_time = |one: &&(_, _, f64), other: &&(_, _, f64)| one.2.total_cmp(&other.2);
    let told = |pair: Option<&(&String, &Level, f64)>, which: &str| {
        let (one, other, ns) = pair?;
        let time = show::value(Unit::Nanoseconds, *ns, None);
        Some(format!(
            "Between the {which} processors, {one} and {other}, a cache line takes {time}."
        ))
    };
    let nearest = told(pairs.iter().min_by(by_time), "nearest");
    let farthest = told(pairs.iter().max_by(by_time), "farthest");
    let parts: Vec<String> = nearest.into_iter().chain(farthest).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::{NARROW, THIRD, WIDE};
    use super::{draw, words};
    use crate::made_up::{estimate, matrix};
    use crate::page::chart::svg::Svg;
    use instrument::figure::Figure;

    /// Two clusters of four processors: 30 ns within one, 120 ns between them.
    fn eight() -> Figure {
        matrix(8, |row, column| {
            let is_near = row / 4 == column / 4;
            (row != column).then(|| estimate(if is_near { 30.0 } else { 120.0 }))
        })
    }

    #[test]
    fn eight_processors_fit_each_size_with_their_names_and_values() {
        for size in [WIDE, NARROW, THIRD] {
            let mut svg = Svg::default();
            svg.open("svg", &[]);
            draw(&mut svg, &eight(), size);
            svg.close("svg");
            let svg = svg.finish();
            let document = roxmltree::Document::parse(&svg).expect("well-formed");
            let all = || document.descendants();
            let number = |node: roxmltree::Node<'_, '_>, name| {
                let text = node.attribute(name)?;
                text.parse::<f64>().ok()
            };
            let cells: Vec<_> = all()
                .filter(|node| node.attribute("data-i").is_some())
                .collect();
            assert_eq!(cells.len(), 8 * 7);
            for cell in cells {
                let ends = |at, length| Some(number(cell, at)? + number(cell, length)?);
                assert!(ends("x", "width").is_some_and(|end| end <= size.width));
                assert!(ends("y", "height").is_some_and(|end| end <= size.height));
            }
            let texts = all().filter(roxmltree::Node::is_element);
            let texts: Vec<&str> = texts.filter_map(|node| node.text()).collect();
            assert_eq!(
                texts.iter().filter(|text| **text == "7").count(),
                2,
                "{texts:?}"
            );
            assert!(
                texts.iter().any(|text| text.starts_with("120")),
                "{texts:?}"
            );
        }
    }

    #[test]
    fn the_nearest_and_the_farthest_are_told_in_words() {
        let said = words(&eight());
        assert!(
            said.contains("nearest") && said.contains("30.0 ns"),
            "{said}"
        );
        assert!(
            said.contains("farthest") && said.contains("120 ns"),
            "{said}"
        );
    }
}
