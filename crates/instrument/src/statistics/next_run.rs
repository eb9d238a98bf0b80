//! The distance at which the next run may lie: the error within a run, widened by what runs of one
//! machine were seen to differ by.

use super::random::Random;
use super::student::t_quantile;
use super::summary::{finite, quantile_of_sorted, sorted};
use std::borrow::Cow;
use std::f64::consts::SQRT_2;
use std::sync::OnceLock;

/// The error of a typical point within a run of ten passes, as a share of its value.
const TYPICAL: f64 = 0.01;

/// The weight of [`TYPICAL`] against the error that was found, in degrees of freedom: few passes
/// hardly know their error, so it is drawn towards the typical one, as in
/// [`super::moderation`]. The errors of 28 points were spread as widely as two degrees allow.
const PRIOR_DEGREES: f64 = 2.0;

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
/// where √2 is for the deviation of the next run in addition to that of this one. The deviation of runs
/// σ grows faster than the error within them: a point that wanders between passes wanders further
/// until the next run, and one that does not has an error that is mostly that of its estimate. Over
/// 28 points in thirty recorded sessions it grew as the power 1.2 to 1.3 of the error; 1.5 covers
/// the points that wander better and the others as well.
///
/// A share is one of `unit`, in which `error` is given: 1 for logarithms, else the
/// absolute value. `None` for fewer than two passes, and for a width too large for a number.
pub(super) fn half_width(error: f64, unit: f64, passes: usize) -> Option<f64> {
    let degrees = degrees(passes)?;
    let typical = TYPICAL * unit;
    let found = degrees - PRIOR_DEGREES;
    let moderated =
        (typical * (PRIOR_DEGREES / degrees).sqrt()).hypot(error * (found / degrees).sqrt());
    let widened = if moderated < MOST_WIDENED.powi(2) * typical {
        (moderated / typical).sqrt()
    } else {
        MOST_WIDENED
    };
    let deviation = (moderated * widened).hypot(FLOOR * unit);
    finite(t_quantile(degrees)? * SQRT_2 * deviation)
}

/// The degrees of freedom of that half-width; `None` for fewer than two passes.
pub(crate) fn degrees(passes: usize) -> Option<f64> {
    (passes >= 2).then_some(PRIOR_DEGREES + passes as f64 - 1.0)
}

/// Resamples; the error is then known to 10 %, far better than so few passes know it.
const RESAMPLES: usize = 200;
/// The resamples of up to this many passes are kept.
const MOST_KEPT: usize = 64;

/// The central share of normal values lies within this many standard deviations.
const CENTRAL: f64 = 0.95;
const CENTRAL_DEVIATIONS: f64 = 1.959_964;

/// The seed of every resampling. A constant: the same data have the same interval, and the interval
/// of a growing sample does not jump by chance.
const SEED: u64 = 2013;

/// The standard error of the quantile of `values` at `probability` (type 7), by resampling whole
/// passes: half the range of the central 95 % of the quantiles over that of a normal distribution,
/// times `√(P / (P − 1))` for P passes, since resamples of few passes vary less than the passes do
/// (B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 6, 8 and 13).
///
/// Their standard deviation instead counts the few resamples that consist of one odd pass by the
/// square of its distance. With it, 34 in place of 36 of 100 values of whole runs next to busy
/// neighbours had an interval within ±5 %, and 96 of 100 intervals held in both cases.
///
/// `of_pass` has the pass of each value; passes may have different numbers of values. `None` for
/// fewer than two passes, and for values that are not finite.
pub(super) fn quantile_error(values: &[f64], of_pass: &[usize], probability: f64) -> Option<f64> {
    let mut ascending: Vec<(usize, f64)> = of_pass
        .iter()
        .copied()
        .zip(values.iter().copied())
        .collect();
    ascending.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut passes = of_pass.to_vec();
    passes.sort_unstable();
    passes.dedup();
    let count = passes.len();
    if count < 2 {
        return None;
    }
    // Passes are numbered from 0 without gaps, to count how often a resample holds each.
    for (pass, _) in &mut ascending {
        *pass = passes.binary_search(pass).ok()?;
    }

    let resamples = resamples(count);
    let quantiles = resamples.chunks_exact(count);
    let quantiles = quantiles.map(|copies| quantile_of_copies(&ascending, copies, probability));
    let quantiles = sorted(&quantiles.collect::<Vec<f64>>())?;
    let passes = count as f64;
    let outside = (1.0 - CENTRAL) / 2.0;
    let [low, high] = [outside, 1.0 - outside].map(|at| quantile_of_sorted(&quantiles, at));
    let range = high? - low?;
    finite(range / (2.0 * CENTRAL_DEVIATIONS) * (passes / (passes - 1.0)).sqrt())
}

/// For each resample, how often it holds each of `passes`. They are the same each time, so those of usual numbers
/// of passes are drawn once.
fn resamples(passes: usize) -> Cow<'static, [u32]> {
    static DRAWN: [OnceLock<Vec<u32>>; MOST_KEPT + 1] = [const { OnceLock::new() }; MOST_KEPT + 1];
    match DRAWN.get(passes) {
        Some(kept) => kept.get_or_init(|| draw(passes)).into(),
        None => draw(passes).into(),
    }
}

fn draw(passes: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    let mut copies = vec![0; RESAMPLES * passes];
    for resample in copies.chunks_exact_mut(passes) {
        for _ in 0..passes {
            let held = &mut resample[random.below(passes)];
            *held += 1;
        }
    }
    copies
}

/// The quantile of ascending values, each as often as its pass has copies.
fn quantile_of_copies(ascending: &[(usize, f64)], copies: &[u32], probability: f64) -> f64 {
    let copies = |pass: usize| copies[pass] as usize;
    let total: usize = ascending.iter().map(|&(pass, _)| copies(pass)).sum();
    let position = (total - 1) as f64 * probability;
    let place = position.floor() as usize;
    let fraction = position - place as f64;
    let mut before = 0;
    let mut lower = None;
    for &(pass, value) in ascending {
        before += copies(pass);
        if lower.is_none() && before > place {
            lower = Some(value);
        }
        if before > place + usize::from(fraction > 0.0) {
            return lower.unwrap_or(value) * (1.0 - fraction) + value * fraction;
        }
    }
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::summary::quantile;

    fn percent(error: f64, passes: usize) -> f64 {
        100.0 * half_width(error, 1.0, passes).unwrap()
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
            (0.01, 2, 5.2486),
        ] {
            let found = percent(error, passes);
            assert!((found - expected).abs() < 1e-4, "{error} {passes}: {found}");
        }
    }

    #[test]
    fn a_unit_of_zero_leaves_the_error() {
        let found = half_width(0.01, 0.0, 10).unwrap();
        assert!(found > 0.04 && found < 0.1, "{found}");
        assert_eq!(half_width(0.0, 0.0, 10), Some(0.0));
        assert_eq!(half_width(f64::MAX, 1.0, 2), None);
    }

    #[test]
    fn copies_count_as_values() {
        let values = [(0, 1.0), (1, 2.0), (0, 4.0), (2, 8.0), (1, 16.0)];
        for copies in [
            [1, 1, 1],
            [3, 0, 0],
            [0, 2, 1],
            [1, 0, 2],
            [0, 0, 3],
            [2, 1, 0],
        ] {
            let drawn: Vec<f64> = (values.iter())
                .flat_map(|&(pass, value)| std::iter::repeat_n(value, copies[pass] as usize))
                .collect();
            for probability in [0.25, 0.4, 0.5, 1.0] {
                let found = quantile_of_copies(&values, &copies, probability);
                let expected = quantile(&drawn, probability).unwrap();
                assert!((found - expected).abs() < 1e-12, "{copies:?} {probability}");
            }
        }
    }

    #[test]
    fn one_pass_has_no_error_and_equal_values_have_none() {
        assert_eq!(quantile_error(&[], &[], 0.5), None);
        assert_eq!(quantile_error(&[1.0, 2.0], &[3, 3], 0.5), None);
        assert_eq!(quantile_error(&[1.0, 1.0], &[3, 9], 0.5), Some(0.0));
    }

    /// The standard error of the median of n normal values is about √(π/2) / √n.
    #[test]
    fn the_error_of_normal_values_is_known() {
        let mut random = Random::new(11);
        let rounds = 400;
        let sum: f64 = (0..rounds)
            .map(|_| {
                let values: Vec<f64> = (0..20).map(|_| random.normal()).collect();
                let of_pass: Vec<usize> = (0..20).map(|i| i / 2).collect();
                quantile_error(&values, &of_pass, 0.5).unwrap()
            })
            .sum();
        let ratio = sum / f64::from(rounds) / (std::f64::consts::FRAC_PI_2 / 20.0).sqrt();
        assert!((0.9..1.25).contains(&ratio), "{ratio}");
    }
}
