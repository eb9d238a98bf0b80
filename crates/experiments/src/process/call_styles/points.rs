//! The numbers of rows that are measured in each style.

use super::definition::{ROWS, STYLE, Style};
use crate::optimisation::{COMPILER, Compiler};
use crate::prelude::*;

/// The fewest rows of a style without processes, and the factor to the next number of rows.
const FEWEST: u64 = 100;
const FACTOR: u64 = 4;
/// The number of calls that fit on the usual stack of 8 MiB.
const DEEPEST_RECURSION: u64 = 25_600;

pub(super) fn point(style: Style, rows: u64, compiler: Compiler) -> Point {
    Point::new()
        .at(STYLE, style)
        .at(ROWS, Count(rows))
        .at(COMPILER, compiler)
}

/// Rows from few to as many as take about a second in the thorough profile, which alone has C.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let (most, most_children) = match setting.profile {
        Profile::Quick => (6_400, 16),
        Profile::Standard => (409_600, 256),
        Profile::Thorough => (26_214_400, 4096),
    };
    let compilers = match setting.profile {
        Profile::Quick | Profile::Standard => &[Compiler::Rust],
        Profile::Thorough => Compiler::ALL,
    };
    let mut points = Vec::new();
    for style in Style::of(System::here()) {
        let range = match style {
            Style::Fork | Style::Program => (1, most_children),
            Style::Recursion => (FEWEST, most.min(DEEPEST_RECURSION)),
            Style::Inline | Style::Function => (FEWEST, most),
        };
        for rows in steps(range) {
            let with = compilers.iter().map(|it| point(style, rows, *it));
            points.extend(with);
        }
    }
    points
}

fn steps((fewest, most): (u64, u64)) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(fewest), |rows| Some(rows * FACTOR))
        .take_while(move |rows| *rows <= most)
}

#[cfg(test)]
mod tests {
    use super::{DEEPEST_RECURSION, ROWS, STYLE, Style, all};
    use crate::made_up::setting;
    use crate::prelude::*;

    #[test]
    fn each_style_has_at_least_three_numbers_of_rows() {
        let quick = all(&setting(Profile::Quick));
        assert!(quick.len() <= 20, "{}", quick.len());
        for style in Style::of(System::here()) {
            let points = quick.iter();
            let of_style = points.filter(|point| point.level(STYLE) == Ok(style));
            let count = of_style.count();
            assert!(count >= 3, "{style}: {count}");
        }
        assert!(all(&setting(Profile::Standard)).len() > quick.len());
    }

    #[test]
    fn no_recursion_goes_deeper_than_usual_stacks() {
        for point in all(&setting(Profile::Thorough)) {
            let rows = point.level(ROWS).expect("all have a number");
            let is_deep = rows > Count(DEEPEST_RECURSION);
            assert!(
                !is_deep || point.level(STYLE) != Ok(Style::Recursion),
                "{point}"
            );
        }
    }
}
