//! A straight line through points: a fixed cost and a cost per unit.

use super::student::t_quantile;
use super::summary::{all_finite, finite};
use super::{Estimated, Interval};

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
pub fn weighted_line(x: &[f64], y: &[f64], weights: &[f64]) -> Option<Line> {
    let n = x.len();
    let usable = y.len() == n
        && weights.len() == n
        && [x, y, weights].iter().all(|values| all_finite(values))
        && weights.iter().all(|&weight| weight > 0.0);
    if n < 2 || !usable {
        return None;
    }

    let Places {
        total,
        x_mean,
        x_spread,
    } = Places::of(x, weights);
    let weighted_sum =
        |term: &dyn Fn(usize) -> f64| -> f64 { (0..n).map(|i| weights[i] * term(i)).sum() };
    let y_mean = weighted_sum(&|i| y[i]) / total;
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
        let interval = t_quantile(degrees).and_then(|t| {
            let reach = t * deviation * variance_factor.sqrt();
            Interval::new(centre - reach, centre + reach)
        });
        Some(Estimated {
            centre: finite(centre)?,
            interval,
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

/// The weighted places of a line's points.
struct Places {
    /// Sum of the weights.
    total: f64,
    x_mean: f64,
    /// Weighted sum of the squares of the distances from the mean.
    x_spread: f64,
}

impl Places {
    fn of(x: &[f64], weights: &[f64]) -> Self {
        let sum = |term: &dyn Fn(f64) -> f64| -> f64 {
            let each = x.iter().zip(weights);
            each.map(|(x, weight)| weight * term(*x)).sum()
        };
        let total = sum(&|_| 1.0);
        let x_mean = sum(&|x| x) / total;
        Self {
            total,
            x_mean,
            x_spread: sum(&|x| (x - x_mean).powi(2)),
        }
    }
}

/// A point that a line is drawn through, with half the width of its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The place.
    pub x: f64,
    /// The value there.
    pub y: f64,
    /// Half the width of its interval; not negative.
    pub half_width: f64,
}

/// The line through values whose errors are a share of them, each weighted by `1 / y²`. Its intervals hold the
/// scatter about the line, as those of [`weighted_line`], and the errors of the values, whichever is wider.
///
/// The values of one run err in part together: the next run may be slower as a whole. How much is not known,
/// but it is at most the smallest relative error of a value. A factor in common moves a slope by as much. So
/// the variance of a sum `Σ a y` is that of errors that know nothing of each other, `Σ (a h)²`, plus that of
/// the common factor.
///
/// `None` as for [`weighted_line`].
pub fn line_through(points: &[Known]) -> Option<Line> {
    let weight = |point: &Known| point.y.powi(-2);
    fitted(points, weight, |point| point.y)
}

/// The power of x with which y grows: the slope of the line through the logarithms of both, of equal weight.
/// A factor that all values have in common does not change it. `None` if an x or a y is not positive, and as
/// for [`weighted_line`].
pub fn power_through(points: &[Known]) -> Option<Estimated> {
    let logarithms = points.iter().map(|point| {
        (point.x > 0.0 && point.y > 0.0).then(|| Known {
            x: point.x.ln(),
            y: point.y.ln(),
            half_width: point.half_width / point.y,
        })
    });
    let logarithms: Vec<Known> = logarithms.collect::<Option<_>>()?;
    Some(fitted(&logarithms, |_| 1.0, |_| 1.0)?.slope)
}

/// The weighted line, with intervals that hold the errors of the points too. An error in common moves each
/// point by a multiple of `common`.
fn fitted(
    points: &[Known],
    weight: impl Fn(&Known) -> f64,
    common: impl Fn(&Known) -> f64,
) -> Option<Line> {
    let of = |value: &dyn Fn(&Known) -> f64| points.iter().map(value).collect::<Vec<f64>>();
    let (x, y, weights) = (of(&|it| it.x), of(&|it| it.y), of(&weight));
    let line = weighted_line(&x, &y, &weights)?;

    // Slope and intercept are sums of the values with these coefficients.
    let Places {
        total,
        x_mean,
        x_spread,
    } = Places::of(&x, &weights);
    let of_slope = |(x, w): (&f64, &f64)| w * (x - x_mean) / x_spread;
    let of_slope: Vec<f64> = x.iter().zip(&weights).map(of_slope).collect();
    let of_intercept = |(a, w): (&f64, &f64)| w / total - x_mean * a;
    let of_intercept: Vec<f64> = of_slope.iter().zip(&weights).map(of_intercept).collect();

    let shares = points.iter().map(|it| it.half_width / common(it).abs());
    let share = shares.fold(f64::INFINITY, f64::min);
    let reach = |coefficients: &[f64]| {
        let both = || coefficients.iter().zip(points);
        let apart: f64 = both().map(|(a, it)| (a * it.half_width).powi(2)).sum();
        let together: f64 = both().map(|(a, it)| a * common(it)).sum();
        apart.sqrt().hypot(share * together)
    };
    Some(Line {
        intercept: widened(line.intercept, reach(&of_intercept)),
        slope: widened(line.slope, reach(&of_slope)),
        ..line
    })
}

/// The estimate with an interval that reaches at least so far to both sides.
fn widened(estimate: Estimated, reach: f64) -> Estimated {
    let scatter = estimate.interval.map_or(0.0, |it| it.half_width());
    let reach = reach.max(scatter);
    let Estimated { centre, .. } = estimate;
    let interval = Interval::new(centre - reach, centre + reach);
    Estimated { centre, interval }
}

#[cfg(test)]
mod tests {
    use super::{Known, line_through, power_through};

    /// `y = 100 + 3 x`, known to within these shares.
    fn points(shares: [f64; 3]) -> Vec<Known> {
        let at = |(x, share): (f64, f64)| {
            let y = 100.0 + 3.0 * x;
            Known {
                x,
                y,
                half_width: share * y,
            }
        };
        [10.0, 100.0, 1000.0]
            .into_iter()
            .zip(shares)
            .map(at)
            .collect()
    }

    #[test]
    fn a_slope_is_known_no_better_than_the_best_of_its_points() {
        let share = |shares| {
            let slope = line_through(&points(shares)).expect("a line").slope;
            assert!((slope.centre - 3.0).abs() < 1e-9);
            slope.interval.expect("it has one").half_width() / slope.centre
        };
        assert!((0.1..0.2).contains(&share([0.1; 3])), "{}", share([0.1; 3]));
        assert!(share([0.3, 0.3, 0.1]) > 0.1);
        assert!(share([0.0; 3]) < 1e-9);
    }

    #[test]
    fn the_error_of_an_intercept_comes_from_the_points_near_it() {
        let reach = |shares| {
            let line = line_through(&points(shares)).expect("a line");
            line.intercept.interval.expect("it has one").half_width()
        };
        assert!(reach([0.1, 0.0, 0.0]) > 10.0);
        assert!(reach([0.0, 0.0, 0.1]) < 10.0);
    }

    #[test]
    fn two_points_have_the_errors_of_their_values() {
        let line = line_through(&points([0.1; 3])[..2]).expect("a line");
        assert!(line.slope.interval.expect("from the values").half_width() > 0.3);
    }

    #[test]
    fn a_power_is_not_moved_by_a_factor_in_common_and_needs_positive_values() {
        let at = |x: f64, share: f64| Known {
            x,
            y: 5.0 * x.powi(2),
            half_width: share * 5.0 * x.powi(2),
        };
        let power = |share| {
            let points = [1.0, 10.0, 100.0].map(|x| at(x, share));
            power_through(&points).expect("a power")
        };
        assert!((power(0.1).centre - 2.0).abs() < 1e-9);
        let reach = power(0.1).interval.expect("it has one").half_width();
        // Two decades between the ends, each known to ±10 %.
        assert!((0.02..0.05).contains(&reach), "{reach}");
        let below = Known {
            y: -1.0,
            ..at(1.0, 0.1)
        };
        assert_eq!(power_through(&[below, at(10.0, 0.1)]), None);
    }
}
