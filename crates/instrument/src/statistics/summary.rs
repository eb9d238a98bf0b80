//! Summary statistics of a sample. Each is `None` for an empty sample, for values that are not
//! finite, and for results outside the range of `f64`.

/// The median: the middle value, or the mean of the two middle ones.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The quantile at `probability` in [0, 1] by linear interpolation between the order statistics
/// around `(n − 1) · probability`, counted from 0.
///
/// This is type 7 of R. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The
/// American Statistician 50 (1996), and the default of R and `NumPy`.
pub fn quantile(values: &[f64], probability: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values)?, probability)
}

/// [`quantile`] of finite values in ascending order.
pub(super) fn quantile_of_sorted(ascending: &[f64], probability: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&probability) {
        return None;
    }
    let last = ascending.len().checked_sub(1)?;
    let position = last as f64 * probability;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let fraction = position - below as f64;
    // A weighted sum of both ends, since high − low can overflow. Equal ends are returned
    // unchanged, without rounding.
    let (low, high) = (ascending[below], ascending[above]);
    if low.total_cmp(&high).is_eq() {
        return Some(low);
    }
    Some((low * (1.0 - fraction) + high * fraction).clamp(low, high))
}

/// The value at which half of the weight lies on either side: the one that minimises the sum of
/// weighted absolute deviations (Laplace). `None` if the weights sum to less than `least`.
pub(crate) fn weighted_median(mut values: Vec<(f64, f64)>, least: f64) -> Option<f64> {
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    if values.is_empty() || total < least {
        return None;
    }
    values.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut below = 0.0;
    for (index, (value, weight)) in values.iter().enumerate() {
        below += weight;
        if below > total / 2.0 {
            return Some(*value);
        }
        // Both middle values are as good.
        if below >= total / 2.0 {
            let next = values.get(index + 1).map_or(*value, |(next, _)| *next);
            return Some(f64::midpoint(*value, next));
        }
    }
    values.last().map(|(value, _)| *value)
}

/// The arithmetic mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let sum: f64 = values.iter().sum();
    finite(sum / n)
}

/// The standard deviation with divisor n − 1; `None` for fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let sum_of_squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    finite((sum_of_squares / (values.len() - 1) as f64).sqrt())
}

/// Of normal data, the standard deviation over the median absolute deviation.
pub(super) const NORMAL_SCALE: f64 = 1.4826;

/// The median of the absolute deviations from the median, not scaled: for normal data, times
/// `NORMAL_SCALE` it estimates the standard deviation.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&deviations)
}

/// The values in ascending order; `None` if there are none or one is not finite.
pub(super) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || !all_finite(values) {
        return None;
    }
    let mut ascending = values.to_vec();
    ascending.sort_unstable_by(f64::total_cmp);
    Some(ascending)
}

/// True if every value is finite.
pub fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// The value, if it is finite.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_are_too_small_or_not_finite_have_no_summary() {
        assert_eq!(median(&[]), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(median_absolute_deviation(&[]), None);
        assert_eq!(quantile(&[1.0], 1.1), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(mean(&[f64::INFINITY]), None);
    }

    #[test]
    fn half_of_the_weight_lies_on_either_side_of_the_weighted_median() {
        let equal = vec![(3.0, 1.0), (1.0, 1.0), (2.0, 1.0)];
        assert_eq!(weighted_median(equal, 0.0), Some(2.0));
        assert_eq!(
            weighted_median(vec![(1.0, 1.0), (2.0, 1.0)], 0.0),
            Some(1.5)
        );
        assert_eq!(
            weighted_median(vec![(1.0, 5.0), (2.0, 1.0), (9.0, 1.0)], 0.0),
            Some(1.0)
        );
        assert_eq!(weighted_median(vec![(1.0, 1.0)], 2.0), None);
        assert_eq!(weighted_median(Vec::new(), 0.0), None);
    }
}
