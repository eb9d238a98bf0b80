//! Student's t interval of a mean.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::interval::{Confidence, Estimated, Interval, Scale};
use super::summary::{finite, mean, standard_deviation};

/// The mean of independent values with its t interval
///
/// `mean ± t(n − 1) · s / √n`
///
/// where `t(n − 1)` is the quantile of Student's distribution and `s` the standard deviation
/// (Student, "The probable error of a mean", Biometrika 6, 1908). The interval estimates the
/// expectation of the distribution. A single value has no interval; equal values have an interval
/// of width zero.
pub fn mean_estimate(values: &[f64], confidence: Confidence) -> Option<Estimated> {
    let centre = mean(values)?;
    let interval = standard_error(values).and_then(|error| {
        let reach = t_quantile(confidence, (values.len() - 1) as f64)? * error;
        Interval::new(centre - reach, centre + reach)
    });
    Some(Estimated {
        centre,
        interval,
        n: values.len(),
        scale: Scale::Linear,
    })
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
pub(crate) fn t_quantile(confidence: Confidence, degrees: f64) -> Option<f64> {
    let distribution = StudentsT::new(0.0, 1.0, degrees).ok()?;
    finite(distribution.inverse_cdf(1.0 - confidence.tail()))
}

/// The probability that a value of Student's distribution exceeds `t`.
pub(super) fn t_upper_tail(t: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::NAN, |distribution| distribution.sf(t))
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
            let found = t_quantile(Confidence::new(level).unwrap(), degrees).unwrap();
            // The inverse function loses digits for very many degrees of freedom.
            let tolerance = if degrees < 1e4 { 1e-9 } else { 1e-4 };
            assert!(
                (found / expected - 1.0).abs() < tolerance,
                "{level} with {degrees} degrees of freedom: {found}, expected {expected}"
            );
        }
    }
}
