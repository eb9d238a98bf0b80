//! A straight line through points: a fixed cost and a cost per unit.

use super::interval::{Confidence, Estimated, Interval, Scale};
use super::student::t_quantile;
use super::summary::{all_finite, finite};

/// A line `y = intercept + slope · x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The value at x = 0, with its interval: a fixed cost.
    pub intercept: Estimated,
    /// The change of y for each unit of x, with its interval: a cost per unit.
    pub slope: Estimated,
    /// The share of the weighted variance of y that the line explains, at most 1.
    pub explained: f64,
}

/// The weighted least-squares line, which minimises `Σ w (y − a − b x)²`.
///
/// With weighted means `x̄`, `ȳ` and `Sxx = Σ w (x − x̄)²`, the slope is `Σ w (x − x̄)(y − ȳ) / Sxx`
/// and its standard error `s / √Sxx`, that of the intercept `s √(1 / Σ w + x̄² / Sxx)`, where
/// `s² = Σ w r² / (n − 2)`; the intervals are Student's t with n − 2 degrees of freedom (N. Draper
/// and H. Smith, "Applied Regression Analysis", 1998). They estimate the line through the
/// expectations, if these lie on a line. Use weights of `1 / y²` if the errors are a share of the
/// value, and equal weights if the errors have equal size.
///
/// `None` unless the slices have the same length, the weights are positive and two x differ. Two
/// points give no intervals.
pub fn weighted_line(
    x: &[f64],
    y: &[f64],
    weights: &[f64],
    confidence: Confidence,
) -> Option<Line> {
    let n = x.len();
    let usable = y.len() == n
        && weights.len() == n
        && [x, y, weights].iter().all(|values| all_finite(values))
        && weights.iter().all(|&weight| weight > 0.0);
    if n < 2 || !usable {
        return None;
    }

    let weighted_sum =
        |term: &dyn Fn(usize) -> f64| -> f64 { (0..n).map(|i| weights[i] * term(i)).sum() };
    let total = weighted_sum(&|_| 1.0);
    let x_mean = weighted_sum(&|i| x[i]) / total;
    let y_mean = weighted_sum(&|i| y[i]) / total;
    let x_spread = weighted_sum(&|i| (x[i] - x_mean).powi(2));
    let y_spread = weighted_sum(&|i| (y[i] - y_mean).powi(2));
    // A spread within the rounding error of the mean counts as zero.
    if x_spread <= total * (4.0 * f64::EPSILON * x_mean).powi(2) {
        return None;
    }
    let slope = weighted_sum(&|i| (x[i] - x_mean) * (y[i] - y_mean)) / x_spread;
    let intercept = y_mean - slope * x_mean;
    let residual = weighted_sum(&|i| (y[i] - intercept - slope * x[i]).powi(2));

    let degrees = (n - 2) as f64;
    let deviation = (residual / degrees).sqrt();
    let estimate = |centre: f64, variance_factor: f64| {
        let interval = t_quantile(confidence, degrees).and_then(|t| {
            let reach = t * deviation * variance_factor.sqrt();
            Interval::new(centre - reach, centre + reach)
        });
        Some(Estimated {
            centre: finite(centre)?,
            interval,
            n,
            scale: Scale::Linear,
        })
    };
    Some(Line {
        intercept: estimate(intercept, 1.0 / total + x_mean * x_mean / x_spread)?,
        slope: estimate(slope, 1.0 / x_spread)?,
        explained: if y_spread > 0.0 {
            finite(1.0 - residual / y_spread)?
        } else {
            1.0
        },
    })
}
