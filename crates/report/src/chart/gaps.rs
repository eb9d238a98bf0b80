//! Lines through measured points that claim nothing about what lies between them.

/// Values of neighbours that differ by more than this factor are a cliff.
const CLIFF: f64 = 2.0;
/// A cliff between places closer than this factor is known well enough to be drawn as a line.
const CLOSE: f64 = 1.25;
/// Between places farther apart than this factor nobody knows the way from one value to another.
const FAR: f64 = 10.0;
/// Values closer than this factor are one, wherever they are.
const SAME: f64 = 1.25;

/// A measured point: its values and its place in the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    /// Position and value, in the units of the axes.
    pub(crate) value: (f64, f64),
    /// Position in the chart.
    pub(crate) at: (f64, f64),
}

/// A line, as the positions that it joins.
pub(crate) type Line = Vec<(f64, f64)>;

/// The line of a curve in two parts.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Lines {
    /// Between neighbours that a line may join.
    pub(crate) solid: Vec<Line>,
    /// Across cliffs: the value changes somewhere in between, and nobody measured where.
    pub(crate) cliffs: Vec<Line>,
}

impl Lines {
    /// The line through `places`; a place without a value interrupts it.
    pub(crate) fn through(places: &[Option<Place>]) -> Self {
        let line = |piece: &[Place]| piece.iter().map(|place| place.at).collect();
        let mut lines = Self::default();
        for stretch in places.split(Option::is_none) {
            let known: Vec<Place> = stretch.iter().copied().flatten().collect();
            let joined = known.chunk_by(|one, other| !is_cliff(one.value, other.value));
            lines
                .solid
                .extend(joined.filter(|piece| piece.len() > 1).map(line));
            let cliffs = known.windows(2);
            let cliffs = cliffs.filter(|pair| is_cliff(pair[0].value, pair[1].value));
            lines.cliffs.extend(cliffs.map(line));
        }
        lines
    }
}

/// True if the value between two places jumps by more than their distance explains, or if they are so far
/// apart that nothing explains it.
fn is_cliff(one: (f64, f64), other: (f64, f64)) -> bool {
    let factor = |a: f64, b: f64| {
        if a > 0.0 && b > 0.0 {
            (a / b).max(b / a)
        } else {
            1.0
        }
    };
    let (across, up) = (factor(one.0, other.0), factor(one.1, other.1));
    let jumps = up > CLIFF && across > CLOSE && up > across.powf(1.25);
    jumps || (across > FAR && up > SAME)
}

#[cfg(test)]
mod tests {
    use super::{Lines, Place};

    /// The solid and the dotted lines through these values.
    fn drawn(values: &[(f64, Option<f64>)]) -> Lines {
        let place = |&(x, y): &(f64, Option<f64>)| {
            let value = (x, y?);
            Some(Place { value, at: value })
        };
        Lines::through(&values.iter().map(place).collect::<Vec<_>>())
    }

    #[test]
    fn a_smooth_curve_is_one_line() {
        let Lines { solid, cliffs } =
            drawn(&[(1.0, Some(1.0)), (2.0, Some(1.5)), (4.0, Some(2.0))]);
        assert_eq!(solid, [[(1.0, 1.0), (2.0, 1.5), (4.0, 2.0)]]);
        assert!(cliffs.is_empty());
    }

    #[test]
    fn a_value_that_is_missing_interrupts_the_line() {
        let Lines { solid, cliffs } = drawn(&[
            (1.0, Some(1.0)),
            (2.0, Some(1.0)),
            (3.0, None),
            (4.0, Some(1.0)),
            (5.0, Some(1.0)),
        ]);
        assert_eq!(solid, [[(1.0, 1.0), (2.0, 1.0)], [(4.0, 1.0), (5.0, 1.0)]]);
        assert!(cliffs.is_empty());
    }

    #[test]
    fn a_cliff_that_nobody_measured_is_dotted() {
        let Lines { solid, cliffs } =
            drawn(&[(1.0, Some(1.0)), (2.0, Some(1.0)), (3.2, Some(7.0))]);
        assert_eq!(solid, [[(1.0, 1.0), (2.0, 1.0)]]);
        assert_eq!(cliffs, [[(2.0, 1.0), (3.2, 7.0)]]);
    }

    #[test]
    fn a_gap_in_which_nobody_measured_is_dotted_unless_nothing_changes() {
        let changes = drawn(&[(1.0, Some(1.0)), (20.0, Some(1.5))]);
        assert!(changes.solid.is_empty() && changes.cliffs.len() == 1);
        let stays = drawn(&[(1.0, Some(1.0)), (20.0, Some(1.1))]);
        assert!(stays.solid.len() == 1 && stays.cliffs.is_empty());
    }

    #[test]
    fn growth_in_step_with_the_size_and_a_cliff_between_near_places_are_lines() {
        let in_step = [(1.0, Some(1.0)), (4.0, Some(4.0))];
        let near = [(1.0, Some(1.0)), (1.1, Some(5.0))];
        for values in [in_step, near] {
            let Lines { solid, cliffs } = drawn(&values);
            assert!(!solid.is_empty() && cliffs.is_empty(), "{values:?}");
        }
    }
}
