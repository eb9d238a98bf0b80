//! The layout of curves, which claims nothing about what lies between measured points.

use super::levels::levels;
use super::scale::{Scale, drawn_centre};
use instrument::figure::{Figure, FigurePoint, FigureScale, Mark};
use instrument::point::Level;
use instrument::quantity::Unit;
use instrument::statistics::Interval;

/// Values of neighbours that differ by more than this factor are a cliff.
const CLIFF: f64 = 2.0;
/// A cliff between places closer than this factor is known well enough to be drawn as a line.
const CLOSE: f64 = 1.25;
/// What lies between places farther apart than this factor is unknown.
const FAR: f64 = 10.0;
/// Intervals at places farther apart than this factor say nothing about what lies between.
const APART: f64 = 4.0;
/// Values that differ by less than this factor are the same, however far apart their places are.
const SAME: f64 = 1.25;
/// A value that grows with a larger power of the distance jumps.
const STEEPEST: f64 = 1.25;

/// The curves of a figure on their scales.
pub(crate) struct Curves<'f> {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) series: Vec<Curve>,
    /// Marks within the x axis, in the order of their places.
    pub(crate) marks: Vec<PlacedMark<'f>>,
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

pub(crate) struct PlacedMark<'f> {
    pub(crate) mark: &'f Mark,
    pub(crate) at: f64,
    /// The places of the ends of its interval.
    pub(crate) reach: Option<[f64; 2]>,
}

impl<'f> Curves<'f> {
    /// `figure` with its y axis scaled by `kind`.
    pub(crate) fn of(figure: &'f Figure, kind: FigureScale) -> Self {
        Self::along(figure, kind, Self::x_scale(figure, None))
    }

    /// The x axis of `figure`, along which `second` has its values as well.
    pub(crate) fn x_scale(figure: &Figure, second: Option<&Figure>) -> Scale {
        let figures = [Some(figure), second].into_iter().flatten();
        let numbers: Vec<f64> = figures.flat_map(levels).filter_map(number).collect();
        Scale::along(&figure.x, &numbers)
    }

    /// `figure` on the given x axis.
    pub(crate) fn along(figure: &'f Figure, kind: FigureScale, x: Scale) -> Self {
        let levels = levels(figure);
        let y = Scale::of_estimates(&figure.y, &figure.series, kind);
        let spot = |point: &FigurePoint| {
            let level = levels.iter().position(|level| **level == point.x)?;
            let across = number(&point.x)?;
            Spot::new(level, (across, x.position(across)?), point, &y)
        };
        let series = figure.series.iter();
        let ends = |ends: Interval| Some([x.position(ends.low)?, x.position(ends.high)?]);
        let marked = |mark: &'f Mark| {
            Some(PlacedMark {
                mark,
                at: x.position(mark.at)?,
                reach: mark.interval.and_then(ends),
            })
        };
        let within = figure.marks.iter().filter(|mark| x.contains(mark.at));
        let mut marks: Vec<PlacedMark<'f>> = within.filter_map(marked).collect();
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

    pub(crate) fn spots(&self) -> impl DoubleEndedIterator<Item = &Spot> {
        self.runs.iter().flatten()
    }
}

/// True if the value between two places jumps by more than their distance explains, or if they are so far
/// apart that nothing explains it.
fn is_cliff(one: (f64, f64), other: (f64, f64)) -> bool {
    // Zero is no factor away from anything.
    let factor = |a: f64, b: f64| {
        if a > 0.0 && b > 0.0 {
            (a / b).max(b / a)
        } else {
            1.0
        }
    };
    let (across, up) = (factor(one.0, other.0), factor(one.1, other.1));
    let jumps = up > CLIFF && across > CLOSE && up > across.powf(STEEPEST);
    jumps || (across > FAR && up > SAME)
}

#[cfg(test)]
mod tests {
    use super::{Curve, Spot};

    #[test]
    fn what_nobody_measured_is_dotted_and_a_missing_value_interrupts_the_line() {
        const NONE: f64 = f64::NAN;
        let curves: [&[(f64, f64)]; 7] = [
            &[(1.0, 1.0), (2.0, 1.5), (4.0, 2.0)],
            &[(1.0, 1.0), (2.0, 1.0), (3.0, NONE), (4.0, 1.0), (4.5, 9.0)],
            // A cliff.
            &[(1.0, 1.0), (2.0, 1.0), (3.2, 7.0)],
            // A wide gap, in which the value changes or not.
            &[(1.0, 1.0), (20.0, 1.5)],
            &[(1.0, 1.0), (20.0, 1.1)],
            // Growth in step with the size, and a cliff between near places.
            &[(1.0, 1.0), (4.0, 4.0)],
            &[(1.0, 1.0), (1.1, 5.0)],
        ];
        let spot = |&place: &(f64, f64)| {
            (!place.1.is_nan()).then(|| Spot {
                level: 0,
                value: place,
                at: place,
                reach: None,
                processes: Vec::new(),
                doubtful: false,
            })
        };
        let drawn = curves.map(|places| {
            let curve = Curve::through(places.iter().map(spot));
            let joined = curve.runs.iter().filter(|run| run.len() > 1);
            let lines: Vec<Vec<f64>> = joined
                .map(|run| run.iter().map(|spot| spot.value.0).collect())
                .collect();
            format!("lines {lines:?}, {} dotted", curve.cliffs.len())
        });
        insta::assert_snapshot!(drawn.join("\n"), @r"
        lines [[1.0, 2.0, 4.0]], 0 dotted
        lines [[1.0, 2.0], [4.0, 4.5]], 0 dotted
        lines [[1.0, 2.0]], 1 dotted
        lines [], 1 dotted
        lines [[1.0, 20.0]], 0 dotted
        lines [[1.0, 4.0]], 0 dotted
        lines [[1.0, 1.1]], 0 dotted
        ");
    }
}
