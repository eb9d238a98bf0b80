//! Properties for any data: no panic, no NaN, the interval contains the centre, and the symmetries
//! of each method.

#![expect(
    clippy::unwrap_used,
    reason = "the data are made so that there is a result"
)]

use oscope_instrument::statistics::linear::weighted_line;
use oscope_instrument::statistics::modes::several;
use oscope_instrument::statistics::random::Random;
use oscope_instrument::statistics::student::{mean_estimate, ratio_estimate};
use oscope_instrument::statistics::trend::{mann_kendall, theil_sen_slope};
use oscope_instrument::statistics::{Confidence, Estimated, summary};
use proptest::collection::vec;
use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::prelude::*;

const LEVEL: Confidence = Confidence::NINETY_FIVE;

/// Numbers of any size and sign, the extremes of `f64` included.
fn finite() -> impl Strategy<Value = f64> {
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

/// Times as in a measurement.
fn time() -> impl Strategy<Value = f64> {
    (0.5..2.0_f64).prop_map(|factor| 100.0 * factor)
}

fn assert_sound(estimate: &Estimated, what: &str) {
    assert!(estimate.centre.is_finite(), "{what}: {estimate:?}");
    if let Some(interval) = estimate.interval {
        assert!(
            interval.low.is_finite() && interval.high.is_finite(),
            "{what}: {estimate:?}"
        );
        // Rounding may put the centre outside an interval of width zero.
        let slack = 1e-12 * estimate.centre.abs();
        assert!(
            interval.low <= estimate.centre + slack && estimate.centre - slack <= interval.high,
            "{what}: {estimate:?}"
        );
    }
}

fn is_close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * left.abs().max(right.abs()).max(1.0)
}

fn assert_same(left: Option<Estimated>, right: Option<Estimated>, factor: f64, what: &str) {
    let (left, right) = (left.unwrap(), right.unwrap());
    assert!(
        is_close(left.centre * factor, right.centre),
        "{what}: {left:?} {right:?}"
    );
    assert_eq!(left.interval.is_some(), right.interval.is_some(), "{what}");
    if let (Some(left), Some(right)) = (left.interval, right.interval) {
        assert!(
            is_close(left.low * factor, right.low),
            "{what}: {left:?} {right:?}"
        );
        assert!(
            is_close(left.high * factor, right.high),
            "{what}: {left:?} {right:?}"
        );
    }
}

proptest! {
    #[test]
    fn finite_data_never_upset_an_estimate(values in vec(finite(), 0..60)) {
        if let Some(estimate) = mean_estimate(&values, LEVEL) {
            assert_sound(&estimate, "mean");
        }
        let half = values.len() / 2;
        if let Some(estimate) = ratio_estimate(&values[..half], &values[half..], LEVEL) {
            assert_sound(&estimate, "ratio");
        }
        for value in [
            summary::mean(&values),
            summary::median(&values),
            summary::standard_deviation(&values),
            summary::median_absolute_deviation(&values),
            theil_sen_slope(&values[..half], &values[half..2 * half]),
        ].into_iter().flatten() {
            prop_assert!(value.is_finite());
        }
        if let Some(chance) = mann_kendall(&values) {
            prop_assert!((0.0..=1.0).contains(&chance));
        }
        if let Some(modes) = several(&values) {
            let shares: f64 = modes.iter().map(|mode| mode.share).sum();
            prop_assert!(is_close(shares, 1.0));
            prop_assert!(modes.is_sorted_by(|low, high| low.centre <= high.centre));
        }
        let weights = vec![1.0; half];
        if let Some(line) = weighted_line(&values[..half], &values[half..2 * half], &weights, LEVEL) {
            assert_sound(&line.slope, "slope");
            assert_sound(&line.intercept, "intercept");
        }
    }

    #[test]
    fn what_is_not_finite_has_no_estimate(
        values in vec(finite(), 1..20),
        bad in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY)],
        at in any::<prop::sample::Index>(),
    ) {
        let mut values = values;
        let at = at.index(values.len());
        values[at] = bad;
        prop_assert_eq!(mean_estimate(&values, LEVEL), None);
        prop_assert!(several(&values).is_none() && mann_kendall(&values).is_none());
    }

    #[test]
    fn estimates_scale_with_the_unit(values in vec(time(), 1..40), factor in 0.001..1000.0_f64) {
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        assert_same(mean_estimate(&values, LEVEL), mean_estimate(&scaled, LEVEL), factor, "mean");
        let ratio = ratio_estimate(&scaled, &values, LEVEL).unwrap();
        prop_assert!(is_close(ratio.centre, factor));
    }

    #[test]
    fn order_matters_only_within_one_process(values in vec(time(), 2..40), seed in any::<u64>()) {
        let mut shuffled = values.clone();
        Random::new(seed).shuffle(&mut shuffled);
        assert_same(mean_estimate(&values, LEVEL), mean_estimate(&shuffled, LEVEL), 1.0, "mean");
        prop_assert_eq!(several(&values), several(&shuffled));
    }

    #[test]
    fn more_confidence_makes_a_wider_interval(
        values in vec(time(), 2..60),
        levels in (0.5..0.999_f64, 0.5..0.999_f64),
    ) {
        let [less, more] = [levels.0.min(levels.1), levels.0.max(levels.1)]
            .map(|level| Confidence::new(level).unwrap());
        let narrow = mean_estimate(&values, less).unwrap().interval;
        let wide = mean_estimate(&values, more).unwrap().interval;
        if let (Some(narrow), Some(wide)) = (narrow, wide) {
            let slack = 1e-9 * narrow.high.abs();
            prop_assert!(
                wide.low <= narrow.low + slack && narrow.high <= wide.high + slack,
                "{:?} in {:?}", narrow, wide
            );
        }
        prop_assert!(narrow.is_some() || wide.is_none());
    }

    #[test]
    fn a_ratio_turned_round_is_its_inverse(
        above in vec(time(), 2..20),
        below in vec(time(), 2..20),
    ) {
        let ratio = ratio_estimate(&above, &below, LEVEL).unwrap();
        let inverse = ratio_estimate(&below, &above, LEVEL).unwrap();
        prop_assert!(is_close(ratio.centre * inverse.centre, 1.0));
        let (ratio, inverse) = (ratio.interval.unwrap(), inverse.interval.unwrap());
        prop_assert!(is_close(ratio.low * inverse.high, 1.0));
    }

    #[test]
    fn a_trend_turned_round_is_as_likely(values in vec(time(), 8..40)) {
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let (forward, backward) = (mann_kendall(&values).unwrap(), mann_kendall(&reversed).unwrap());
        prop_assert!(is_close(forward, backward));
    }

    #[test]
    fn points_on_a_line_give_the_line(
        intercept in -100.0..100.0_f64,
        slope in -100.0..100.0_f64,
        x in vec(-100.0..100.0_f64, 3..20),
    ) {
        let y: Vec<f64> = x.iter().map(|x| intercept + slope * x).collect();
        let weights = vec![2.0; x.len()];
        let spread = summary::standard_deviation(&x).unwrap();
        prop_assume!(spread > 0.1);
        let line = weighted_line(&x, &y, &weights, LEVEL).unwrap();
        prop_assert!((line.slope.centre - slope).abs() < 1e-6);
        prop_assert!((line.intercept.centre - intercept).abs() < 1e-4);
        prop_assert!((theil_sen_slope(&x, &y).unwrap() - slope).abs() < 1e-3);
    }
}
