//! The ratio of two independent measurements.

use super::interval::{Confidence, Estimated, Interval, Scale};
use super::student::{logarithms, standard_error, t_quantile};
use super::summary::{finite, mean};

/// The ratio `numerator / denominator` of two independent sets of process medians, with its
/// interval: the difference of the mean logarithms by Welch's method,
///
/// `exp(m₁ − m₂ ± t(ν) √(e₁² + e₂²))`, `ν = (e₁² + e₂²)² / (e₁⁴ / (n₁ − 1) + e₂⁴ / (n₂ − 1))`
///
/// with `e = s / √n` on the log scale; the two variances need not be equal (B. Welch, "The
/// generalization of Student's problem when several different population variances are involved",
/// Biometrika 34, 1947). The interval estimates the ratio of the geometric means. [`Estimated::n`]
/// is the smaller of the two counts.
///
/// `None` when a set is empty or holds a value that is not positive; no interval when a set holds
/// a single value.
pub fn ratio_estimate(
    numerator: &[f64],
    denominator: &[f64],
    confidence: Confidence,
) -> Option<Estimated> {
    let above = logarithms(numerator)?;
    let below = logarithms(denominator)?;
    let difference = mean(&above)? - mean(&below)?;
    let interval = welch_reach(&above, &below, confidence)
        .and_then(|reach| Interval::new((difference - reach).exp(), (difference + reach).exp()));
    Some(Estimated {
        centre: finite(difference.exp())?,
        interval,
        n: above.len().min(below.len()),
        scale: Scale::Logarithmic,
    })
}

/// Half the width of Welch's interval for the difference of two means.
fn welch_reach(first: &[f64], second: &[f64], confidence: Confidence) -> Option<f64> {
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
    Some(t_quantile(confidence, degrees)? * variance.sqrt())
}
