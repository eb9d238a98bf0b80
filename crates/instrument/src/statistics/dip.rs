//! Hartigan's dip: the distance of a sample from having a single mode.

/// The dip of values in strictly ascending order: the largest distance between their distribution
/// function and the closest unimodal one, from `1 / 2n` for evenly spaced values to 1/4 for two
/// equally large clusters. A single value, or none, has no dip.
///
/// J. Hartigan and P. Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985). A
/// unimodal function is convex up to its mode and concave after it, so the closest one is made of
/// the greatest convex minorant of the lower corners of the steps and the least concave majorant
/// of the upper corners. The points where the two lie furthest apart bound the mode from both
/// sides. The part outside these bounds contributes its own deviation, and the search continues
/// inside.
pub fn dip(ascending: &[f64]) -> f64 {
    let n = ascending.len();
    if n < 2 {
        return 0.0;
    }
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
    fn is_that_of_the_definition() {
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

    #[test]
    fn spans_from_an_even_spread_to_two_heaps() {
        let even: Vec<f64> = (0..20).map(f64::from).collect();
        assert!((dip(&even) - 1.0 / 40.0).abs() < 1e-12);
        let heaps: Vec<f64> = (0..20)
            .map(|i| f64::from(i / 10) + 1e-9 * f64::from(i))
            .collect();
        assert!((dip(&heaps) - 0.25).abs() < 0.03);
        assert!(dip(&[1.0]).abs() < f64::EPSILON);
    }
}
