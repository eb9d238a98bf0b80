//! How many rows are measured in which style.

use super::{FORK, RECURSION, ROWS, STYLE, STYLES};
use crate::levels::{C, COMPILER, RUST};
use instrument::plan::{Profile, Setting};
use instrument::point::Point;

/// The fewest rows of a style without processes, and the step to the next number of them.
const FEWEST: u64 = 100;
const FACTOR: u64 = 4;
/// So many calls fit on the stack of 8 MiB that programs usually get.
const DEEPEST_RECURSION: u64 = 25_600;

pub(super) fn point(style: &str, rows: u64, compiler: &str) -> Point {
    Point::new()
        .with(STYLE, style)
        .with(ROWS, rows)
        .with(COMPILER, compiler)
}

/// Rows from few to as many as take about a second in the thorough profile, which alone has C.
pub(super) fn all(setting: &Setting) -> Vec<Point> {
    let (most, most_children) = match setting.profile {
        Profile::Quick => (6_400, 16),
        Profile::Standard => (409_600, 256),
        Profile::Thorough => (26_214_400, 4096),
    };
    let compilers: &[&str] = match setting.profile {
        Profile::Quick | Profile::Standard => &[RUST],
        Profile::Thorough => &[RUST, C],
    };
    let each = |style: &'static str| {
        let range = match style {
            FORK => (1, most_children),
            RECURSION => (FEWEST, most.min(DEEPEST_RECURSION)),
            _ => (FEWEST, most),
        };
        steps(range).map(move |rows| (style, rows))
    };
    let wanted = STYLES.into_iter().flat_map(each);
    wanted
        .flat_map(|(style, rows)| {
            compilers
                .iter()
                .map(move |compiler| point(style, rows, compiler))
        })
        .collect()
}

fn steps((fewest, most): (u64, u64)) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(fewest), |rows| Some(rows * FACTOR))
        .take_while(move |rows| *rows <= most)
}

#[cfg(test)]
mod tests {
    use super::super::{RECURSION, ROWS, STYLE};
    use super::{DEEPEST_RECURSION, all};
    use crate::made_up::setting;
    use instrument::plan::Profile;

    #[test]
    fn each_style_has_at_least_three_numbers_of_rows() {
        let quick = all(&setting(Profile::Quick));
        assert!(quick.len() <= 20, "{}", quick.len());
        for style in super::STYLES {
            let count = quick
                .iter()
                .filter(|point| point.choice(STYLE) == Ok(style))
                .count();
            assert!(count >= 3, "{style}: {count}");
        }
        assert!(all(&setting(Profile::Standard)).len() > quick.len());
    }

    #[test]
    fn no_recursion_goes_deeper_than_usual_stacks() {
        for point in all(&setting(Profile::Thorough)) {
            let is_deep = point
                .number(ROWS)
                .is_ok_and(|rows| rows > DEEPEST_RECURSION);
            assert!(!is_deep || point.choice(STYLE) != Ok(RECURSION), "{point}");
        }
    }
}
