//! Student's t intervals: of a mean, and of process medians, which all estimates of oscope use.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::interval::{Confidence, Estimated, Interval, Scale};
use super::summary::{all_finite, finite, mean, standard_deviation};

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

/// The standard estimate of oscope: the geometric mean of one median per fresh process, with the t
/// interval of the mean logarithm,
///
/// `exp(m ×/÷ t(n − 1) · s / √n)`, `m` and `s` of the logarithms.
///
/// The interval estimates the geometric mean of the process medians over all processes that could
/// be started, with all memory layouts, randomised addresses and first touches. It needs no model
/// of the samples inside a process. It uses logarithms because noise multiplies times and lengthens
/// more than it shortens them, and because ratios of two runs become differences.
///
/// Simulated coverage of the nominal 95 % interval (`tests/statistics_coverage.rs`): 94 to 95 %
/// from 3 processes on, for autocorrelated samples and for a skewed tail. If the memory layout
/// makes some processes 10 % slower, a small sample may contain none of the rarer kind, which no
/// method can correct:
///
/// | slower processes | n = 5 | 8 | 10 | 15 | 20 | 30 | 60 |
/// | --- | --- | --- | --- | --- | --- | --- | --- |
/// | half | 0.94 | 0.94 | 0.94 | 0.95 | 0.95 | 0.95 | 0.95 |
/// | 30 % | 0.82 | 0.93 | 0.94 | 0.94 | 0.94 | 0.94 | 0.95 |
/// | 20 % | 0.71 | 0.83 | 0.89 | 0.92 | 0.92 | 0.94 | 0.94 |
/// | 10 % | 0.78 | 0.72 | 0.73 | 0.81 | 0.88 | 0.91 | 0.93 |
///
/// If a value is zero or negative, which the difference method allows, the estimate is the
/// arithmetic mean with its t interval, and [`Estimated::scale`] is [`Scale::Linear`].
pub fn process_estimate(process_medians: &[f64], confidence: Confidence) -> Option<Estimated> {
    if !all_finite(process_medians) {
        return None;
    }
    let Some(logarithms) = logarithms(process_medians) else {
        return mean_estimate(process_medians, confidence);
    };
    let on_log_scale = mean_estimate(&logarithms, confidence)?;
    Some(Estimated {
        // A single value is its own mean, without the rounding of the logarithm.
        centre: match process_medians {
            [value] => *value,
            _ => finite(on_log_scale.centre.exp())?,
        },
        interval: on_log_scale
            .interval
            .and_then(|interval| Interval::new(interval.low.exp(), interval.high.exp())),
        n: on_log_scale.n,
        scale: Scale::Logarithmic,
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

    #[test]
    fn one_process_has_no_interval_and_none_has_no_estimate() {
        let one = process_estimate(&[3.0], Confidence::NINETY_FIVE).unwrap();
        assert_eq!((one.interval, one.n), (None, 1));
        let odd = process_estimate(&[0.1 + 0.2], Confidence::NINETY_FIVE).unwrap();
        assert_eq!(
            odd.extent(),
            Interval {
                low: 0.1 + 0.2,
                high: 0.1 + 0.2
            }
        );
        assert_eq!(process_estimate(&[], Confidence::NINETY_FIVE), None);
    }

    #[test]
    fn a_value_that_is_not_positive_forces_the_linear_scale() {
        let scale = |values: &[f64]| {
            process_estimate(values, Confidence::NINETY_FIVE)
                .unwrap()
                .scale
        };
        assert_eq!(scale(&[1.0, 2.0]), Scale::Logarithmic);
        assert_eq!(scale(&[0.0, 2.0]), Scale::Linear);
        assert_eq!(scale(&[-1.0, 2.0]), Scale::Linear);
    }
}
