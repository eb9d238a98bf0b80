//! Detection of several modes in a sample: two speeds of one operation must be shown separately,
//! not averaged.

use super::student::logarithms;
use super::summary::{median, sorted};
use std::ops::Range;

/// The fewest values in a mode.
const FEWEST_IN_MODE: usize = 3;

/// A group that holds a smaller share than one value in this many counts as outliers.
const RAREST_MODE: usize = 20;

/// The medians of the modes in ascending order if there are several; `None` if the values may come from a single
/// mode, or if there are fewer than six.
///
/// Two tests look for a valley in the logarithms (or in the values themselves if one is not
/// positive). Each has 1 % of false alarms for a uniform distribution, the worst case with one
/// mode:
///
/// - Hartigan's dip, which detects broad modes that overlap, given many values;
/// - the widest gap with at least 3 values and at least 5 % of all values on its smaller side. With
///   k values there and a uniform density, a gap as long as `c` times the range of these k values
///   has the probability `(1 + c)^−(k − 1)`, from R. Pyke, "Spacings", Journal of the Royal
///   Statistical Society B 27 (1965). This detects small modes that are far apart.
///
/// The critical values were simulated: for the dip with 40 000 samples for each of 15 sizes from 5
/// to 500, for the gap with 10 000 for each of 11 sizes from 6 to 200.
/// Values that rounding made equal are first spread over the rounding step. The sample is cut at
/// the position that minimises the squared deviations within both parts, and each part is tested
/// again.
///
/// False alarms are under 1 % for normal, lognormal and exponential values. Two normal modes of
/// the same width are detected in this share of samples (`tests/suite/statistics/modes.rs`):
///
/// | in the smaller mode, and distance in standard deviations | n = 10 | 20 | 30 | 60 | 200 |
/// | --- | --- | --- | --- | --- | --- |
/// | half, 10 | 0.59 | 0.96 | 1.00 | 1.00 | 1.00 |
/// | half, 5 | 0.10 | 0.27 | 0.42 | 0.81 | 1.00 |
/// | a fifth, 10 | 0.12 | 0.35 | 0.56 | 0.93 | 1.00 |
/// | a tenth, 10 | 0.02 | 0.05 | 0.12 | 0.40 | 0.99 |
///
/// So with up to 20 processes, no detection does not prove a single mode.
pub fn several(values: &[f64]) -> Option<Vec<f64>> {
    let ascending = sorted(values)?;
    let scaled = spread_ties(&logarithms(&ascending).unwrap_or_else(|| ascending.clone()));
    let mut parts = Vec::new();
    divide(&scaled, 0..scaled.len(), &mut parts);
    if parts.len() < 2 {
        return None;
    }
    parts
        .into_iter()
        .map(|part| median(&ascending[part]))
        .collect()
}

/// The centres of two groups, if the values may fall into two groups of similar size: each holds a
/// third of them, at least 3, and the gap between them is at least 0.6 of the distance of their
/// centres. `None` otherwise.
///
/// This is no test: ten values of one mode look like this by chance in one of nine samples. It
/// shows where a quantile that lies within one group says nothing about the other.
pub fn halves(values: &[f64]) -> Option<[f64; 2]> {
    let ascending = sorted(values)?;
    let fewest = FEWEST_IN_MODE.max(ascending.len() / 3);
    let cuts = fewest..(ascending.len() + 1).saturating_sub(fewest);
    let gap = |cut: &usize| ascending[*cut] - ascending[*cut - 1];
    let cut = cuts.max_by(|one, other| gap(one).total_cmp(&gap(other)))?;
    let centres = [median(&ascending[..cut])?, median(&ascending[cut..])?];
    let is_apart = gap(&cut) > 0.0 && gap(&cut) >= 0.6 * (centres[1] - centres[0]);
    is_apart.then_some(centres)
}

/// Splits `range` into parts of one mode each, in ascending order.
fn divide(ascending: &[f64], range: Range<usize>, parts: &mut Vec<Range<usize>>) {
    let values = &ascending[range.clone()];
    if !has_gap(values) && !has_dip(values) {
        parts.push(range);
        return;
    }
    let cut = range.start + best_cut(values);
    divide(ascending, range.start..cut, parts);
    divide(ascending, cut..range.end, parts);
}

/// The possible sizes of the lower of two modes.
fn cuts(n: usize) -> Range<usize> {
    let fewest = FEWEST_IN_MODE.max(n.div_ceil(RAREST_MODE));
    fewest..(n + 1).saturating_sub(fewest)
}

fn has_dip(ascending: &[f64]) -> bool {
    let root = (ascending.len() as f64).sqrt();
    !cuts(ascending.len()).is_empty() && dip(ascending) * root > 0.635 - 0.41 / root
}

fn has_gap(ascending: &[f64]) -> bool {
    let n = ascending.len();
    let surprise = cuts(n)
        .map(|cut| {
            let k = cut.min(n - cut);
            let gap = ascending[cut] - ascending[cut - 1];
            let below = ascending[cut - 1] - ascending[cut - k];
            let above = ascending[cut + k - 1] - ascending[cut];
            (k - 1) as f64 * (gap / below.max(above)).ln_1p()
        })
        .fold(0.0, f64::max);
    surprise > 0.3 + 1.65 * (n as f64).ln()
}

/// The size of the lower part that minimises the squared deviations from the means of both parts.
/// It maximises the squared distance of the means, weighted by the sizes.
fn best_cut(ascending: &[f64]) -> usize {
    let n = ascending.len();
    let total: f64 = ascending.iter().sum();
    let mut below: f64 = ascending[..cuts(n).start].iter().sum();
    let mut best = (f64::NEG_INFINITY, cuts(n).start);
    for cut in cuts(n) {
        let (low_n, high_n) = (cut as f64, (n - cut) as f64);
        let distance = (total - below) / high_n - below / low_n;
        let between = low_n * high_n * distance * distance;
        if between > best.0 {
            best = (between, cut);
        }
        below += ascending[cut];
    }
    best.1
}

/// Spreads each group of equal values evenly over the smallest step between values: before a clock
/// with this step rounded them, they were spread like that.
fn spread_ties(ascending: &[f64]) -> Vec<f64> {
    let step = ascending
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|&step| step > 0.0)
        .fold(f64::INFINITY, f64::min);
    let step = if step.is_finite() { step } else { 0.0 };
    ascending
        .chunk_by(|left, right| left >= right)
        .flat_map(|group| {
            let n = group.len() as f64;
            let place = move |index: usize| (index as f64 + 0.5) / n - 0.5;
            (0..group.len()).map(move |index| group[index] + step * place(index))
        })
        .collect()
}

/// The dip of values in strictly ascending order: the largest distance between their distribution
/// function and the closest unimodal one, from `1 / 2n` for evenly spaced values to 1/4 for two
/// equally large clusters. There are at least two values.
///
/// J. Hartigan and P. Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985). A
/// unimodal function is convex up to its mode and concave after it, so the closest one is made of
/// the greatest convex minorant of the lower corners of the steps and the least concave majorant
/// of the upper corners. The points where the two lie furthest apart bound the mode from both
/// sides. The part outside these bounds contributes its own deviation, and the search continues
/// inside.
fn dip(ascending: &[f64]) -> f64 {
    let n = ascending.len();
    let lower = |index: usize| index as f64;
    let upper = |index: usize| (index + 1) as f64;
    let (mut first, mut last) = (0, n - 1);
    // Twice the dip, in steps of the distribution function.
    let mut deviation = 1.0_f64;
    loop {
        let minorant = hull(ascending, first, last, &lower, 1.0);
        let majorant = hull(ascending, first, last, &upper, -1.0);
        let on_minorant = |index| height(ascending, &minorant, index, &lower);
        let on_majorant = |index| height(ascending, &majorant, index, &upper);

        let mut furthest = 0.0;
        let mut bounds = (first, last);
        for &corner in &minorant {
            let distance = on_majorant(corner) - lower(corner);
            if distance > furthest {
                furthest = distance;
                let above = majorant.partition_point(|&index| index < corner);
                bounds = (corner, majorant[above]);
            }
        }
        for &corner in &majorant {
            let distance = upper(corner) - on_minorant(corner);
            if distance > furthest {
                furthest = distance;
                let above = minorant.partition_point(|&index| index <= corner);
                bounds = (minorant[above - 1], corner);
            }
        }
        if furthest <= deviation {
            break;
        }
        for index in first..=bounds.0 {
            deviation = deviation.max(upper(index) - on_minorant(index));
        }
        for index in bounds.1..=last {
            deviation = deviation.max(on_majorant(index) - lower(index));
        }
        if bounds == (first, last) {
            break;
        }
        (first, last) = bounds;
    }
    deviation / (2 * n) as f64
}

/// The corners of the convex minorant (`sign` 1) or concave majorant (`sign` −1) of the points
/// `first..=last`.
fn hull(x: &[f64], first: usize, last: usize, y: &impl Fn(usize) -> f64, sign: f64) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for index in first..=last {
        while let [.., before, corner] = corners[..] {
            let bend = (y(corner) - y(before)) * (x[index] - x[corner])
                - (y(index) - y(corner)) * (x[corner] - x[before]);
            if sign * bend < 0.0 {
                break;
            }
            corners.pop();
        }
        corners.push(index);
    }
    corners
}

/// The height of a hull above the point `index`.
fn height(x: &[f64], corners: &[usize], index: usize, y: &impl Fn(usize) -> f64) -> f64 {
    let right = corners.partition_point(|&corner| corner < index);
    let to = corners[right];
    if to == index {
        return y(to);
    }
    let from = corners[right - 1];
    let share = (x[index] - x[from]) / (x[to] - x[from]);
    y(from) + share * (y(to) - y(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dip_is_that_of_its_definition() {
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/golden/statistics.json")).unwrap();
        let mut compared = 0;
        for sample in golden["samples"].as_array().unwrap() {
            let Some(expected) = sample["dip"].as_f64() else {
                continue;
            };
            let values = sample["values"].as_array().unwrap();
            let mut ascending: Vec<f64> = values.iter().map(|x| x.as_f64().unwrap()).collect();
            ascending.sort_unstable_by(f64::total_cmp);
            ascending.dedup();
            if ascending.len() < values.len() {
                continue;
            }
            compared += 1;
            let found = dip(&ascending);
            assert!(
                (found - expected).abs() < 1e-7,
                "{}: {found}, expected {expected}",
                sample["name"]
            );
        }
        assert!(compared >= 5);
    }
}
