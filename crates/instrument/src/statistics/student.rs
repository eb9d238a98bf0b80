//! Student's t intervals: of a mean, and of the ratio of two means.

use super::summary::{finite, mean, standard_deviation};
use super::{CONFIDENCE, Estimated, Interval};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean of independent values with its t interval
///
/// `mean ± t(n − 1) · s / √n`
///
/// where `t(n − 1)` is the quantile of Student's distribution and `s` the standard deviation
/// (Student, "The probable error of a mean", Biometrika 6, 1908). The interval estimates the
/// expectation of the distribution. A single value has no interval; equal values have an interval
/// of width zero.
pub fn mean_estimate(values: &[f64]) -> Option<Estimated> {
    let centre = mean(values)?;
    let interval = standard_error(values).and_then(|error| {
        let reach = t_quantile((values.len() - 1) as f64)? * error;
        Interval::new(centre - reach, centre + reach)
    });
    Some(Estimated { centre, interval })
}

/// The natural logarithms; `None` unless every value is positive.
pub fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    values
        .iter()
        .map(|&value| (value > 0.0).then(|| value.ln()))
        .collect()
}

/// The standard error of the mean of independent values; `None` for fewer than two.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    Some(standard_deviation(values)? / (values.len() as f64).sqrt())
}

/// Half the width of a two-sided t interval over the standard error. `degrees` of freedom may be
/// fractional, as in Welch's test; `None` unless they are positive and finite.
pub(crate) fn t_quantile(degrees: f64) -> Option<f64> {
    t_quantile_at(CONFIDENCE, degrees)
}

/// The same for an interval that contains the true value with probability `confidence`.
pub(super) fn t_quantile_at(confidence: f64, degrees: f64) -> Option<f64> {
    let distribution = StudentsT::new(0.0, 1.0, degrees).ok()?;
    finite(distribution.inverse_cdf(f64::midpoint(1.0, confidence)))
}

/// The probability that a value of Student's distribution exceeds `t`.
pub(super) fn t_upper_tail(t: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::NAN, |distribution| distribution.sf(t))
}

/// The ratio `numerator / denominator` of two independent sets of process medians, with its
/// interval: the difference of the mean logarithms by Welch's method,
///
/// `exp(m₁ − m₂ ± t(ν) √(e₁² + e₂²))`, `ν = (e₁² + e₂²)² / (e₁⁴ / (n₁ − 1) + e₂⁴ / (n₂ − 1))`
///
/// with `e = s / √n` on the log scale; the two variances need not be equal (B. Welch, "The
/// generalization of Student's problem when several different population variances are involved",
/// Biometrika 34, 1947). The interval estimates the ratio of the geometric means.
///
/// `None` when a set is empty or holds a value that is not positive; no interval when a set holds
/// a single value.
pub fn ratio_estimate(numerator: &[f64], denominator: &[f64]) -> Option<Estimated> {
    let above = logarithms(numerator)?;
    let below = logarithms(denominator)?;
    let difference = mean(&above)? - mean(&below)?;
    let interval = welch_reach(&above, &below)
        .and_then(|reach| Interval::new((difference - reach).exp(), (difference + reach).exp()));
    Some(Estimated {
        centre: finite(difference.exp())?,
        interval,
    })
}

/// Half the width of Welch's interval for the difference of two means.
fn welch_reach(first: &[f64], second: &[f64]) -> Option<f64> {
    let first_variance = standard_error(first)?.powi(2);
    let second_variance = standard_error(second)?.powi(2);
    let variance = first_variance + second_variance;
    if variance <= 0.0 {
        return Some(0.0);
    }
    // Shares instead of the variances themselves, whose squares may underflow.
    let first_share = first_variance / variance;
    let second_share = second_variance / variance;
    let degrees = 1.0
        / (first_share.powi(2) / (first.len() - 1) as f64
            + second_share.powi(2) / (second.len() - 1) as f64);
    Some(t_quantile(degrees)? * variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_are_those_of_scipy() {
        let golden: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/golden/statistics.json")).unwrap();
        for entry in golden["t_quantiles"].as_array().unwrap() {
            let [level, degrees, expected] = [0, 1, 2].map(|i| entry[i].as_f64().unwrap());
            let found = t_quantile_at(level, degrees).unwrap();
            // The inverse function loses digits for very many degrees of freedom.
            let tolerance = if degrees < 1e4 { 1e-9 } else { 1e-4 };
            assert!(
                (found / expected - 1.0).abs() < tolerance,
                "{level} with {degrees} degrees of freedom: {found}, expected {expected}"
            );
        }
    }
}
