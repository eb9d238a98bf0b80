//! The layout of curves, which claims nothing about what lies between measured points.

use super::levels::levels;
use super::scale::{Scale, drawn_centre};
use instrument::figure::{Figure, FigurePoint, FigureScale, Mark};
use instrument::point::Level;
use instrument::quantity::Unit;

/// Values of neighbours that differ by more than this factor are a cliff.
const CLIFF: f64 = 2.0;
/// A cliff between places closer than this factor is known well enough to be drawn as a line.
const CLOSE: f64 = 1.25;
/// Between places farther apart than this factor nobody knows the way from one value to another.
const FAR: f64 = 10.0;
/// Between places farther apart than this factor an interval says nothing.
const APART: f64 = 4.0;
/// Values closer than this factor are one, wherever they are.
const SAME: f64 = 1.25;

/// The curves of a figure on their scales.
pub(crate) struct Curves<'f> {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    /// A curve for each series.
    pub(crate) series: Vec<Curve>,
    /// Marks within the x axis, in the order of their places.
    pub(crate) marks: Vec<Marked<'f>>,
    /// The place of each level on the x axis.
    pub(crate) levels: Vec<Option<f64>>,
    /// True if there may be something between two levels, as between sizes and not between counts.
    is_continuous: bool,
}

/// The points of a series that have a place, and what joins them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Curve {
    /// Neighbours that a line may join.
    pub(crate) runs: Vec<Vec<Spot>>,
    /// Lines across cliffs: the value changes somewhere in between, and nobody measured where.
    pub(crate) cliffs: Vec<[(f64, f64); 2]>,
}

/// A point in a chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spot {
    /// The index of its level.
    pub(crate) level: usize,
    /// Position and value, in the units of the axes.
    pub(crate) value: (f64, f64),
    /// Their places on the axes.
    pub(crate) at: (f64, f64),
    /// The places of the ends of its interval.
    pub(crate) reach: Option<[f64; 2]>,
    /// The place of the value of each process.
    pub(crate) processes: Vec<f64>,
    pub(crate) doubtful: bool,
}

/// A mark on the x axis.
pub(crate) struct Marked<'f> {
    pub(crate) mark: &'f Mark,
    pub(crate) at: f64,
    /// The places of the ends of its interval.
    pub(crate) reach: Option<[f64; 2]>,
}

impl<'f> Curves<'f> {
    /// `figure` with its y axis scaled by `kind`.
    pub(crate) fn of(figure: &'f Figure, kind: FigureScale) -> Self {
        let levels = levels(figure);
        let numbers = levels.iter().filter_map(|level| number(level));
        let x = Scale::along(&figure.x, numbers)
            .unwrap_or_else(|| Scale::around(std::iter::empty(), figure.x.scale));
        Self::along(figure, kind, x)
    }

    /// `figure` on the given x axis.
    pub(crate) fn along(figure: &'f Figure, kind: FigureScale, x: Scale) -> Self {
        let levels = levels(figure);
        let y = Scale::of_estimates(&figure.series, kind);
        let spot = |point: &FigurePoint| {
            let level = levels.iter().position(|level| **level == point.x)?;
            let across = number(&point.x)?;
            Spot::new(level, (across, x.position(across)?), point, &y)
        };
        let series = figure.series.iter();
        let within = figure.marks.iter().filter(|mark| x.contains(mark.at));
        let mut marks: Vec<Marked<'f>> = within
            .filter_map(|mark| {
                let ends = |ends: instrument::statistics::Interval| {
                    Some([x.position(ends.low)?, x.position(ends.high)?])
                };
                Some(Marked {
                    mark,
                    at: x.position(mark.at)?,
                    reach: mark.interval.and_then(ends),
                })
            })
            .collect();
        marks.sort_by(|one, other| one.at.total_cmp(&other.at));
        Self {
            series: series
                .map(|series| Curve::through(series.points.iter().map(spot)))
                .collect(),
            marks,
            levels: levels
                .iter()
                .map(|level| x.position(number(level)?))
                .collect(),
            is_continuous: figure.x.unit != Some(Unit::Count),
            x,
            y,
        }
    }

    /// True if the intervals of two neighbours are one band.
    pub(crate) fn is_band(&self, one: &Spot, other: &Spot) -> bool {
        self.is_continuous && one.is_near(other)
    }

    /// All points that have a place.
    pub(crate) fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.series.iter().flat_map(Curve::spots)
    }
}

fn number(level: &Level) -> Option<f64> {
    level.number().map(|number| number as f64)
}

impl Spot {
    /// `point` on the value axis `y`, with its position on the other axis and the place there; `None` if its
    /// value has no place.
    pub(crate) fn new(
        level: usize,
        (across, x): (f64, f64),
        point: &FigurePoint,
        y: &Scale,
    ) -> Option<Self> {
        let estimate = &point.estimate;
        let centre = drawn_centre(estimate)?;
        Some(Self {
            level,
            value: (across, centre),
            at: (x, y.position(centre)?),
            reach: estimate.interval.and_then(|ends| {
                // On a logarithmic scale an interval that includes zero extends to the lower edge.
                let low = y.position(ends.low).unwrap_or(0.0);
                Some([low, y.position(ends.high)?])
            }),
            processes: estimate
                .by_process
                .iter()
                .filter_map(|value| y.position(*value))
                .collect(),
            doubtful: point.doubtful,
        })
    }
}

impl Spot {
    /// True if there are intervals here and at the next place, which say something about what lies between.
    pub(crate) fn is_near(&self, next: &Self) -> bool {
        let have_intervals = self.reach.is_some() && next.reach.is_some();
        have_intervals && next.value.0 <= APART * self.value.0
    }
}

impl Curve {
    /// The curve through `spots`; one that is missing interrupts it.
    pub(crate) fn through(spots: impl IntoIterator<Item = Option<Spot>>) -> Self {
        let mut runs: Vec<Vec<Spot>> = Vec::new();
        let mut cliffs = Vec::new();
        let mut is_interrupted = true;
        for spot in spots {
            let Some(spot) = spot else {
                is_interrupted = true;
                continue;
            };
            let last = runs.last().and_then(|run| run.last());
            let neighbour = last.filter(|_| !is_interrupted);
            let cliff = neighbour.filter(|last| is_cliff(last.value, spot.value));
            cliffs.extend(cliff.map(|last| [last.at, spot.at]));
            let is_joined = neighbour.is_some() && cliff.is_none();
            is_interrupted = false;
            match runs.last_mut().filter(|_| is_joined) {
                Some(run) => run.push(spot),
                None => runs.push(vec![spot]),
            }
        }
        Self { runs, cliffs }
    }

    /// Its points.
    pub(crate) fn spots(&self) -> impl DoubleEndedIterator<Item = &Spot> {
        self.runs.iter().flatten()
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
    use super::{Curve, Spot};

    /// The values that solid lines join, and the number of dotted lines.
    fn drawn(values: &[(f64, Option<f64>)]) -> (Vec<Vec<f64>>, usize) {
        let spot = |&(x, y): &(f64, Option<f64>)| {
            Some(Spot {
                level: 0,
                value: (x, y?),
                at: (x, y?),
                reach: None,
                processes: Vec::new(),
                doubtful: false,
            })
        };
        let curve = Curve::through(values.iter().map(spot));
        let joined = curve.runs.iter().filter(|run| run.len() > 1);
        let values = joined.map(|run| run.iter().map(|spot| spot.value.0).collect());
        (values.collect(), curve.cliffs.len())
    }

    #[test]
    fn a_smooth_curve_is_one_line() {
        let smooth = [(1.0, Some(1.0)), (2.0, Some(1.5)), (4.0, Some(2.0))];
        assert_eq!(drawn(&smooth), (vec![vec![1.0, 2.0, 4.0]], 0));
    }

    #[test]
    fn a_value_that_is_missing_interrupts_the_line() {
        let values = [Some(1.0), Some(1.0), None, Some(1.0), Some(9.0)];
        let all: Vec<_> = [1.0, 2.0, 3.0, 4.0, 4.5].into_iter().zip(values).collect();
        assert_eq!(drawn(&all), (vec![vec![1.0, 2.0], vec![4.0, 4.5]], 0));
    }

    #[test]
    fn a_cliff_that_nobody_measured_is_dotted() {
        let cliff = [(1.0, Some(1.0)), (2.0, Some(1.0)), (3.2, Some(7.0))];
        assert_eq!(drawn(&cliff), (vec![vec![1.0, 2.0]], 1));
    }

    #[test]
    fn a_gap_in_which_nobody_measured_is_dotted_unless_nothing_changes() {
        let changes = [(1.0, Some(1.0)), (20.0, Some(1.5))];
        assert_eq!(drawn(&changes), (vec![], 1));
        let stays = [(1.0, Some(1.0)), (20.0, Some(1.1))];
        assert_eq!(drawn(&stays), (vec![vec![1.0, 20.0]], 0));
    }

    #[test]
    fn growth_in_step_with_the_size_and_a_cliff_between_near_places_are_lines() {
        for far in [(4.0, Some(4.0)), (1.1, Some(5.0))] {
            let (lines, cliffs) = drawn(&[(1.0, Some(1.0)), far]);
            assert_eq!((lines.len(), cliffs), (1, 0), "{far:?}");
        }
    }
}
