//! Properties for any data: no panic, no NaN, and the interval contains the centre.

use oscope_instrument::statistics::linear::weighted_line;
use oscope_instrument::statistics::modes::several;
use oscope_instrument::statistics::student::{mean_estimate, ratio_estimate};
use oscope_instrument::statistics::trend::{mann_kendall, theil_sen_slope};
use oscope_instrument::statistics::{Estimated, summary};
use proptest::collection::vec;
use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::prelude::*;

/// Numbers of any size and sign, the extremes of `f64` included.
pub(super) fn finite() -> impl Strategy<Value = f64> {
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

pub(super) fn assert_sound(estimate: &Estimated, what: &str) {
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

proptest! {
    #[test]
    fn finite_data_never_upset_an_estimate(values in vec(finite(), 0..60)) {
        if let Some(estimate) = mean_estimate(&values) {
            assert_sound(&estimate, "mean");
        }
        let half = values.len() / 2;
        if let Some(estimate) = ratio_estimate(&values[..half], &values[half..]) {
            assert_sound(&estimate, "ratio");
        }
        for value in [
            summary::mean(&values),
            summary::median(&values),
            summary::standard_deviation(&values),
            summary::median_absolute_deviation(&values),
            theil_sen_slope(&values),
        ].into_iter().flatten() {
            prop_assert!(value.is_finite());
        }
        if let Some(chance) = mann_kendall(&values) {
            prop_assert!((0.0..=1.0).contains(&chance));
        }
        if let Some(modes) = several(&values) {
            prop_assert!(modes.len() > 1 && modes.is_sorted());
        }
        let weights = vec![1.0; half];
        if let Some(line) = weighted_line(&values[..half], &values[half..2 * half], &weights) {
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
        prop_assert_eq!(mean_estimate(&values), None);
        prop_assert!(several(&values).is_none() && mann_kendall(&values).is_none());
    }
}
