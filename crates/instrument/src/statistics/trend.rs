//! Drift: a monotone trend of a series over time, and its slope.

use statrs::distribution::{ContinuousCDF, Normal};

use super::summary::{median, sorted};

/// The fewest values for which the normal approximation of [`mann_kendall`] is accurate enough.
pub const FEWEST_VALUES: usize = 8;

/// The two-sided probability of a trend at least this strong in a series without one, by the test of H. Mann
/// (Econometrica 13, 1945) and M. Kendall ("Rank Correlation Methods", 1975) for a monotone trend in values
/// given in the order of time.
///
/// `S` is the number of rising pairs minus the number of falling pairs. Without a trend its
/// variance is
/// `(n (n − 1)(2n + 5) − Σ t (t − 1)(2t + 5)) / 18`, the sum over groups of t tied values, and
/// `(|S| − 1) / σ` is close to normal (continuity corrected). The values must be independent but
/// apart from the trend: autocorrelated values raise false alarms.
///
/// `None` for fewer than [`FEWEST_VALUES`] values or equal ones. The time is quadratic in n: thin
/// a series of more than a few thousand.
pub fn mann_kendall(series: &[f64]) -> Option<f64> {
    let ascending = sorted(series).filter(|all| all.len() >= FEWEST_VALUES)?;
    let mut surplus = 0_i64;
    for (index, early) in series.iter().enumerate() {
        for late in &series[index + 1..] {
            surplus += i64::from(late > early) - i64::from(late < early);
        }
    }

    let n = series.len() as f64;
    let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let groups = ascending.chunk_by(|left, right| left >= right);
    let tied: f64 = groups.map(|equal| term(equal.len() as f64)).sum();
    let deviation = ((term(n) - tied) / 18.0).sqrt();
    if deviation <= 0.0 {
        return None;
    }
    let z = (surplus.abs() - 1).max(0) as f64 / deviation;
    Some(2.0 * Normal::standard().sf(z))
}

/// The slope of the trend in a series: the median of the slopes between all pairs of values (H. Theil 1950, P.
/// Sen, Journal of the American Statistical Association 63, 1968). It tolerates up to 29 %
/// outliers.
///
/// The unit is the unit of a value per step of the series. `None` for fewer than two values. Time and space are
/// quadratic in n, as in [`mann_kendall`].
pub fn theil_sen_slope(series: &[f64]) -> Option<f64> {
    let mut slopes = Vec::new();
    for (index, early) in series.iter().enumerate() {
        let later = series[index + 1..].iter().zip(1..);
        slopes.extend(later.map(|(late, steps)| (late - early) / f64::from(steps)));
    }
    median(&slopes)
}
