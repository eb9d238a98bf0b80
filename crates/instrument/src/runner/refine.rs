//! Refinement: new points where a curve bends between the points that were planned.

use crate::experiment::{Definition, Metric};
use crate::point::{DesignAxis, Level, Point};
use crate::results::Estimate;
use std::collections::BTreeMap;

/// A curve bends where the straight line between two neighbours of a point misses its value by more
/// than this, in logarithms: about 10 %.
const BEND: f64 = 0.1;
/// Levels closer to each other than this factor squared are not divided.
const FINEST: f64 = 1.25;
/// A refinement adds at most one new point for this many points of an experiment.
const POINTS_PER_NEW_POINT: usize = 4;

/// The points of one curve with their estimates, by their levels on the refined axis.
type Curve<'p> = BTreeMap<u64, (&'p Point, &'p [Estimate])>;

/// The new points along `axis` of an experiment: in the middle between two neighbours wherever the
/// curve of a metric bends, where it bends most first. Curves with less than half the places of the
/// longest were planned for a comparison at a few places, and stay as they are.
pub(super) fn between<'p>(
    definition: &Definition,
    axis: &DesignAxis,
    points: impl Iterator<Item = (&'p Point, &'p [Estimate])>,
) -> Vec<Point> {
    // By the levels of the other axes.
    let mut curves: BTreeMap<Vec<(&str, &Level)>, Curve<'_>> = BTreeMap::new();
    for (point, estimates) in points {
        let Some(at) = point.get(axis.name).and_then(Level::number) else {
            continue;
        };
        let others = point.levels().filter(|(name, _)| *name != axis.name);
        let curve = curves.entry(others.collect()).or_default();
        curve.insert(at, (point, estimates));
    }
    let longest = curves.values().map(BTreeMap::len).max().unwrap_or_default();
    curves.retain(|_, curve| curve.len() * 2 >= longest);
    let count: usize = curves.values().map(BTreeMap::len).sum();
    let mut gaps: Vec<(f64, Point)> = Vec::new();
    for curve in curves.values() {
        for metric in definition.metrics.iter().filter(|of| of.has_target()) {
            gaps.extend(bends(curve, metric, axis));
        }
    }
    gaps.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut new: Vec<Point> = Vec::new();
    for (_, point) in gaps {
        if !new.contains(&point) {
            new.push(point);
        }
    }
    new.truncate(count / POINTS_PER_NEW_POINT);
    new
}

/// A point in the middle of each gap next to a bend of a curve, with the size of the bend.
fn bends(curve: &Curve<'_>, metric: &Metric, axis: &DesignAxis) -> Vec<(f64, Point)> {
    let places: Vec<(u64, f64, &Point)> = curve
        .iter()
        .filter_map(|(at, (point, estimates))| {
            let estimate = estimates.iter().find(|of| of.metric == metric.name)?;
            let is_positive = estimate.centre > 0.0 && estimate.centre.is_finite();
            (is_positive && *at > 0).then(|| (*at, estimate.centre.ln(), *point))
        })
        .collect();
    let mut gaps = Vec::new();
    for triple in places.windows(3) {
        let [(first, low, point), (middle, value, _), (last, high, _)] = triple else {
            continue;
        };
        let along = (*middle as f64 / *first as f64).ln() / (*last as f64 / *first as f64).ln();
        let miss = (value - (low + (high - low) * along)).abs();
        if miss <= BEND {
            continue;
        }
        for (from, to) in [(*first, *middle), (*middle, *last)] {
            let at = axis.middle(from, to);
            gaps.extend(at.map(|at| (miss, (*point).clone().with(axis.name, at))));
        }
    }
    gaps
}

impl DesignAxis {
    /// The level in the middle between two others; `None` if they are too close.
    fn middle(&self, from: u64, to: u64) -> Option<u64> {
        if (to as f64) < from as f64 * FINEST.powi(2) {
            return None;
        }
        let middle = (from as f64 * to as f64).sqrt() / self.step as f64;
        let middle = (middle.round() as u64).checked_mul(self.step)?;
        (from < middle && middle < to).then_some(middle)
    }
}

#[cfg(test)]
mod tests {
    use super::between;
    use crate::made_up::definition;
    use crate::point::{AxisOf, DesignAxis, Level, Point};
    use crate::quantity::Bytes;
    use crate::results::Estimate;
    use crate::sample::{Batch, Reading, Sample};

    const SIZE: DesignAxis = AxisOf::<Bytes>::new("size", "size").refined_by(1024);

    /// The new sizes in KiB on a curve with this cost at each size.
    fn refined(sizes_kib: &[u64], cost: impl Fn(u64) -> f64) -> Vec<u64> {
        let definition = definition();
        let points: Vec<(Point, Vec<Estimate>)> = sizes_kib
            .iter()
            .map(|size| {
                let cost = Reading::Value(cost(*size));
                let batch = Batch {
                    samples: vec![Sample::new("cost", cost)],
                    pass: Some(0),
                    ..Batch::default()
                };
                let point = Point::new().with("size", size * 1024).with("pages", "huge");
                (point, Estimate::all(&definition, &[batch]))
            })
            .collect();
        let points = points
            .iter()
            .map(|(point, estimates)| (point, estimates.as_slice()));
        let new = between(&definition, &SIZE, points);
        new.iter()
            .map(|point| {
                assert_eq!(
                    point.get("pages").map(ToString::to_string),
                    Some("huge".into())
                );
                point.get("size").and_then(Level::number).unwrap() / 1024
            })
            .collect()
    }

    const SIZES_KIB: [u64; 8] = [8, 16, 32, 64, 256, 1024, 2048, 4096];

    #[test]
    fn new_points_lie_next_to_the_bend() {
        let new = refined(&SIZES_KIB, |size| if size <= 100 { 1.0 } else { 3.0 });
        assert_eq!(new, [128, 512]);
    }

    #[test]
    fn a_straight_line_and_close_points_are_left_alone() {
        assert_eq!(refined(&SIZES_KIB, |size| size as f64), [0; 0]);
        assert_eq!(refined(&SIZES_KIB, |_| 5.0), [0; 0]);
        let close = [50, 60, 70, 80];
        assert_eq!(
            refined(&close, |size| if size <= 60 { 1.0 } else { 3.0 }),
            [0; 0]
        );
    }
}
