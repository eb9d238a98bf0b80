//! Properties of predictions for any data: no panic, no NaN, the interval contains the centre, and
//! the symmetries of the method.

#![expect(
    clippy::unwrap_used,
    reason = "the data are made so that there is a result"
)]

use oscope_instrument::statistics::prediction::{Centre, Core, Leg, Prediction, Visit, predict};
use oscope_instrument::statistics::random::Random;
use oscope_instrument::statistics::{Confidence, summary};
use proptest::collection::vec;
use proptest::num::f64::{ANY, NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::option;
use proptest::prelude::*;

const LEVEL: Confidence = Confidence::NINETY_FIVE;

fn centre() -> impl Strategy<Value = Centre> {
    prop_oneof![Just(Centre::LowerQuartile), Just(Centre::Median)]
}

/// A core at the highest clock that something may share.
fn shared(sharing: Option<f64>) -> Core {
    let clock = sharing.map(|_| 1.0);
    Core { clock, sharing }
}

/// Numbers of any size and sign, the extremes of `f64` included.
fn finite() -> impl Strategy<Value = f64> {
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn visits(
    cost: impl Strategy<Value = f64>,
    slowed: impl Strategy<Value = f64>,
) -> impl Strategy<Value = Vec<Visit>> {
    let leg = (cost, option::of(slowed)).prop_map(|(cost, slowed)| Leg {
        cost,
        core: shared(slowed),
    });
    let visit = (0..6_usize, vec(leg, 0..6)).prop_map(|(pass, legs)| Visit { pass, legs });
    vec(visit, 0..12)
}

/// Visits as in a measurement.
fn measured() -> impl Strategy<Value = Vec<Visit>> {
    visits(50.0..200.0_f64, 1.0..3.0_f64)
}

fn number_of_legs(visits: &[Visit]) -> usize {
    visits.iter().map(|visit| visit.legs.len()).sum()
}

fn assert_sound(found: &Prediction) {
    let estimated = &found.estimated;
    assert!(
        estimated.centre.is_finite() && found.as_met.is_finite(),
        "{found:?}"
    );
    assert!(summary::all_finite(&found.by_process), "{found:?}");
    assert!(
        found
            .added
            .is_none_or(|added| (0.0..=1.2 * 2.5_f64.ln()).contains(&added)),
        "{found:?}"
    );
    assert!(
        (1..=found.by_process.len()).contains(&estimated.n),
        "{found:?}"
    );
    assert!(
        found.passes >= 1 && found.passes <= found.by_process.len(),
        "{found:?}"
    );
    if let Some(interval) = estimated.interval {
        assert!(found.passes >= 2, "{found:?}");
        assert!(
            interval.low.is_finite() && interval.high.is_finite(),
            "{found:?}"
        );
        assert!(
            interval.low <= estimated.centre && estimated.centre <= interval.high,
            "{found:?}"
        );
    }
}

/// Equal within the rounding error.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn assert_close(a: &Prediction, b: &Prediction, factor: f64) {
    assert!(
        close(a.estimated.centre * factor, b.estimated.centre),
        "{a:?} {b:?}"
    );
    assert!(close(a.as_met * factor, b.as_met), "{a:?} {b:?}");
    assert_eq!(a.passes, b.passes);
    let (a, b) = (a.estimated.extent(), b.estimated.extent());
    assert!(
        close(a.low * factor, b.low) && close(a.high * factor, b.high),
        "{a:?} {b:?}"
    );
}

proptest! {
    #[test]
    fn any_numbers_give_a_sound_prediction_or_none(
        visits in visits(finite(), finite()), centre in centre()
    ) {
        if let Some(found) = predict(&visits, centre, LEVEL) {
            assert_sound(&found);
        }
    }

    #[test]
    fn what_is_not_finite_never_comes_out(visits in visits(ANY, ANY), centre in centre()) {
        let finite = |leg: &Leg| leg.cost.is_finite() && leg.core.sharing.is_none_or(f64::is_finite);
        let found = predict(&visits, centre, LEVEL);
        if !visits.iter().all(|visit| visit.legs.iter().all(finite)) {
            prop_assert_eq!(found, None);
        }
    }

    #[test]
    fn measured_visits_always_have_a_prediction(visits in measured(), centre in centre()) {
        let found = predict(&visits, centre, LEVEL);
        prop_assert_eq!(found.is_some(), number_of_legs(&visits) > 0);
        if let Some(found) = found {
            assert_sound(&found);
            prop_assert_eq!(found.estimated.interval.is_some(), found.passes >= 2);
        }
    }

    #[test]
    fn equal_data_give_an_equal_result(visits in measured(), centre in centre()) {
        prop_assert_eq!(predict(&visits, centre, LEVEL), predict(&visits.clone(), centre, LEVEL));
    }

    #[test]
    fn the_unit_of_the_cost_does_not_matter(
        visits in measured(), centre in centre(), factor in 1e-6..1e6_f64
    ) {
        let mut scaled = visits.clone();
        for leg in scaled.iter_mut().flat_map(|visit| &mut visit.legs) {
            leg.cost *= factor;
        }
        if let Some(found) = predict(&visits, centre, LEVEL) {
            assert_close(&found, &predict(&scaled, centre, LEVEL).unwrap(), factor);
        }
    }

    #[test]
    fn neither_the_order_of_visits_nor_the_numbers_of_passes_matter(
        visits in measured(), centre in centre(), seed in any::<u64>()
    ) {
        let mut shuffled = visits.clone();
        Random::new(seed).shuffle(&mut shuffled);
        for visit in &mut shuffled {
            visit.pass = visit.pass * 7 + 3;
        }
        if let Some(found) = predict(&visits, centre, LEVEL) {
            assert_close(&found, &predict(&shuffled, centre, LEVEL).unwrap(), 1.0);
        }
    }

    #[test]
    fn without_slowdown_references_change_nothing(visits in measured(), centre in centre()) {
        let with = |slowed| {
            let mut visits = visits.clone();
            for leg in visits.iter_mut().flat_map(|visit| &mut visit.legs) {
                leg.core = shared(slowed);
            }
            predict(&visits, centre, LEVEL)
        };
        prop_assert_eq!(with(None), with(Some(1.0)));
        prop_assert_eq!(with(None), with(Some(9.0)));
    }
}

/// The half-width of typical visits whose processes differ by `deviation`, in the middle of 200.
fn typical_half_width(deviation: f64, passes: usize) -> f64 {
    let mut random = Random::new(17);
    let mut half_width = || {
        let visits: Vec<Visit> = (0..2 * passes)
            .map(|process| {
                let level = deviation * random.normal();
                let mut leg = || Leg {
                    cost: (level + 0.01 * random.normal()).exp(),
                    core: Core::default(),
                };
                Visit {
                    pass: process / 2,
                    legs: (0..9).map(|_| leg()).collect(),
                }
            })
            .collect();
        let found = predict(&visits, Centre::LowerQuartile, LEVEL).unwrap();
        found.estimated.relative_half_width().unwrap()
    };
    let widths: Vec<f64> = (0..200).map(|_| half_width()).collect();
    summary::median(&widths).unwrap()
}

#[test]
fn more_noise_is_wider_and_more_passes_are_narrower() {
    let by_noise = [0.0, 0.01, 0.03, 0.1].map(|deviation| typical_half_width(deviation, 10));
    assert!(by_noise.is_sorted(), "{by_noise:?}");
    let by_passes = [20, 10, 5, 3, 2].map(|passes| typical_half_width(0.03, passes));
    assert!(by_passes.is_sorted(), "{by_passes:?}");
}
