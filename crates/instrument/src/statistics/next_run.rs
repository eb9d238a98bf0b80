//! The distance at which the next run may lie: the error within a run, widened by what runs of one
//! machine were seen to differ by.

use std::f64::consts::SQRT_2;

use super::interval::Confidence;
use super::student::t_quantile;
use super::summary::finite;

/// The error of a typical point within a run of ten passes, as a share of its value.
const TYPICAL: f64 = 0.01;

/// The weight of [`TYPICAL`] beside the error that was found, in degrees of freedom: few passes
/// hardly know their error, so it is drawn towards the typical one, as in
/// [`super::moderation`]. The errors of 28 points were spread as widely as two degrees allow.
const PRIOR_DEGREES: f64 = 2.0;

/// The same weight for two passes, which agree by chance so often that 2 would cover 86 to 90 %
/// and 1 would cover 90 to 93 %.
const PRIOR_DEGREES_OF_TWO: f64 = 0.5;

/// No error is widened by more. Points that differ by 5 % between passes differ by twice their
/// error between runs, and those that differ by 30 % as well.
const MOST_WIDENED: f64 = 2.0;

/// The least standard deviation between runs, as a share of the value: processes of one run that agree
/// better than this do so on one state of the machine, and the next run may have another.
const FLOOR: f64 = 0.006;

/// Half the width of the interval that contains the value of the next run, of `passes` passes:
///
/// `t(d₀ + P − 1) · √2 · √(σ² + floor²)`, `σ = e · min(√(e / typical), 2)`,
/// `e² = (d₀ typical² + (P − 1) error²) / (d₀ + P − 1)`
///
/// where √2 stands for the deviation of the next run beside that of this one. The deviation of runs
/// σ grows faster than the error within them: a point that wanders between passes wanders further
/// until the next run, and one that does not has an error that is mostly that of its estimate. Over
/// 28 points in thirty recorded sessions it grew as the power 1.2 to 1.3 of the error; 1.5 covers
/// the points that wander better and the others as well.
///
/// Share stands for a share of `unit`, in which `error` is given: 1 for logarithms, else the
/// absolute value. `None` for fewer than two passes, and for a width too large for a number.
pub(super) fn half_width(
    error: f64,
    unit: f64,
    passes: usize,
    confidence: Confidence,
) -> Option<f64> {
    let prior = prior_degrees(passes)?;
    let typical = TYPICAL * unit;
    let found = passes as f64 - 1.0;
    let degrees = prior + found;
    let moderated = (typical * (prior / degrees).sqrt()).hypot(error * (found / degrees).sqrt());
    let widened = if moderated < MOST_WIDENED.powi(2) * typical {
        (moderated / typical).sqrt()
    } else {
        MOST_WIDENED
    };
    let deviation = (moderated * widened).hypot(FLOOR * unit);
    finite(t_quantile(confidence, degrees)? * SQRT_2 * deviation)
}

/// The degrees of freedom of that half-width; `None` for fewer than two passes.
pub(crate) fn degrees(passes: usize) -> Option<f64> {
    Some(prior_degrees(passes)? + passes as f64 - 1.0)
}

fn prior_degrees(passes: usize) -> Option<f64> {
    match passes {
        0 | 1 => None,
        2 => Some(PRIOR_DEGREES_OF_TWO),
        _ => Some(PRIOR_DEGREES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(error: f64, passes: usize) -> f64 {
        100.0 * half_width(error, 1.0, passes, Confidence::NINETY_FIVE).unwrap()
    }

    /// Values of the same rule in SciPy.
    #[test]
    fn half_widths_are_those_of_scipy() {
        for (error, passes, expected) in [
            (0.0, 10, 2.0589),
            (0.003, 10, 2.1769),
            (0.01, 10, 3.6300),
            (0.02, 10, 8.1053),
            (0.3, 10, 168.9618),
            (0.01, 5, 4.0355),
            (0.01, 3, 4.5790),
            (0.01, 2, 9.9229),
        ] {
            let found = percent(error, passes);
            assert!((found - expected).abs() < 1e-4, "{error} {passes}: {found}");
        }
    }

    #[test]
    fn one_pass_knows_nothing() {
        assert_eq!(half_width(0.01, 1.0, 1, Confidence::NINETY_FIVE), None);
        assert_eq!(half_width(0.01, 1.0, 0, Confidence::NINETY_FIVE), None);
    }

    #[test]
    fn a_unit_of_zero_leaves_the_error() {
        let found = half_width(0.01, 0.0, 10, Confidence::NINETY_FIVE).unwrap();
        assert!(found > 0.04 && found < 0.1, "{found}");
        assert_eq!(half_width(0.0, 0.0, 10, Confidence::NINETY_FIVE), Some(0.0));
        assert_eq!(half_width(f64::MAX, 1.0, 2, Confidence::NINETY_FIVE), None);
    }

    #[test]
    fn the_unit_scales_the_width() {
        let one = half_width(0.02, 1.0, 7, Confidence::NINETY_FIVE).unwrap();
        let many = half_width(20.0, 1000.0, 7, Confidence::NINETY_FIVE).unwrap();
        assert!((many / one / 1000.0 - 1.0).abs() < 1e-12);
    }
}
