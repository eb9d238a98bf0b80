//! Properties of predictions for any data: no panic, no NaN, the interval contains the centre, and
//! the symmetries of the method.

#![expect(
    clippy::unwrap_used,
    reason = "the data are made so that there is a result"
)]

use oscope_instrument::statistics::prediction::{
    Centre, Clocks, Core, Leg, Prediction, Visit, predict,
};
use oscope_instrument::statistics::random::Random;
use oscope_instrument::statistics::summary;
use proptest::collection::vec;
use proptest::num::f64::ANY;
use proptest::option;
use proptest::prelude::*;

use super::properties::{self, finite};
use super::strata::{CALM, Machine};

fn centre() -> impl Strategy<Value = Centre> {
    prop_oneof![Just(Centre::LowerQuartile), Just(Centre::Median)]
}

/// Unknown clocks, and those of a first and of a later run.
fn clocks() -> impl Strategy<Value = Option<Clocks>> {
    let clocks = (1.0..1.5_f64, vec(0.5..2.0_f64, 0..4));
    option::of(clocks.prop_map(|(longest, earlier)| Clocks { longest, earlier }))
}

fn visits(
    cost: impl Strategy<Value = f64>,
    clock: impl Strategy<Value = f64>,
    sharing: impl Strategy<Value = f64>,
) -> impl Strategy<Value = Vec<Visit>> {
    let core = (option::of(clock), option::of(sharing))
        .prop_map(|(clock, sharing)| Core { clock, sharing });
    let leg = (cost, core).prop_map(|(cost, core)| Leg { cost, core });
    let visit = (0..6_usize, vec(leg, 0..6)).prop_map(|(pass, legs)| Visit { pass, legs });
    vec(visit, 0..12)
}

/// Visits as in a measurement.
fn measured() -> impl Strategy<Value = Vec<Visit>> {
    visits(50.0..200.0_f64, 1.0..1.3_f64, 0.9..3.0_f64)
}

fn assert_sound(found: &Prediction) {
    properties::assert_sound(&found.estimated, "prediction");
    assert!(found.uncorrected.is_finite(), "{found:?}");
    assert!(summary::all_finite(&found.by_process), "{found:?}");
    let is_slope = found.slope.is_none_or(|slope| (0.0..=1.0).contains(&slope));
    let passes = 1..=found.by_process.len();
    assert!(is_slope && passes.contains(&found.passes), "{found:?}");
    let is_known = found.estimated.interval.is_some();
    assert!(found.passes >= 2 || !is_known, "{found:?}");
}

/// Fails unless `b` is `a` times `factor` within the rounding error.
fn assert_close(a: &Prediction, b: &Prediction, factor: f64) {
    let numbers = |it: &Prediction| {
        let extent = it.estimated.extent();
        [it.estimated.centre, it.uncorrected, extent.low, extent.high]
    };
    assert_eq!(a.passes, b.passes);
    for (one, other) in numbers(a).map(|it| it * factor).into_iter().zip(numbers(b)) {
        let scale = one.abs().max(other.abs());
        assert!((one - other).abs() <= 1e-9 * scale, "{a:?} {b:?}");
    }
}

proptest! {
    #[test]
    fn any_numbers_give_a_sound_prediction_or_none(
        visits in visits(finite(), finite(), finite()), centre in centre(), clocks in clocks()
    ) {
        if let Some(found) = predict(&visits, centre, clocks.as_ref()) {
            assert_sound(&found);
        }
    }

    #[test]
    fn what_is_not_finite_never_comes_out(visits in visits(ANY, ANY, ANY), centre in centre(), clocks in clocks()) {
        let finite = |leg: &Leg| {
            let is_ratio = |state: f64| state.is_finite() && state > 0.0;
            leg.cost.is_finite()
                && leg.core.clock.is_none_or(is_ratio)
                && leg.core.sharing.is_none_or(is_ratio)
        };
        let found = predict(&visits, centre, clocks.as_ref());
        if !visits.iter().all(|visit| visit.legs.iter().all(finite)) {
            prop_assert_eq!(found, None);
        }
    }

    #[test]
    fn measured_visits_always_have_a_prediction(visits in measured(), centre in centre(), clocks in clocks()) {
        let found = predict(&visits, centre, clocks.as_ref());
        prop_assert_eq!(found.is_some(), visits.iter().any(|visit| !visit.legs.is_empty()));
        if let Some(found) = found {
            assert_sound(&found);
            prop_assert_eq!(found.estimated.interval.is_some(), found.passes >= 2);
        }
    }

    #[test]
    fn the_unit_of_the_cost_does_not_matter(
        visits in measured(), centre in centre(), clocks in clocks(), factor in 1e-6..1e6_f64
    ) {
        let mut scaled = visits.clone();
        for leg in scaled.iter_mut().flat_map(|visit| &mut visit.legs) {
            leg.cost *= factor;
        }
        if let Some(found) = predict(&visits, centre, clocks.as_ref()) {
            assert_close(&found, &predict(&scaled, centre, clocks.as_ref()).unwrap(), factor);
        }
    }

    #[test]
    fn neither_the_order_of_visits_nor_the_numbers_of_passes_matter(
        visits in measured(), centre in centre(), clocks in clocks(), seed in any::<u64>()
    ) {
        let mut shuffled = visits.clone();
        Random::new(seed).shuffle(&mut shuffled);
        for visit in &mut shuffled {
            visit.pass = visit.pass * 7 + 3;
        }
        if let Some(found) = predict(&visits, centre, clocks.as_ref()) {
            assert_close(&found, &predict(&shuffled, centre, clocks.as_ref()).unwrap(), 1.0);
        }
    }

    /// All legs alone at the highest clock: nothing is to be corrected.
    #[test]
    fn an_undisturbed_core_changes_nothing(visits in measured(), centre in centre()) {
        let seen = Clocks { longest: 1.0, earlier: vec![1.0] };
        let with = |core| {
            let mut visits = visits.clone();
            for leg in visits.iter_mut().flat_map(|visit| &mut visit.legs) {
                leg.core = core;
            }
            predict(&visits, centre, Some(&seen)).map(|found| found.estimated)
        };
        let alone = Core { clock: Some(1.0), sharing: Some(1.0) };
        prop_assert_eq!(with(Core::default()), with(alone));
    }
}

/// The half-width of typical visits whose processes differ by `deviation`, in the middle of 200.
fn typical_half_width(deviation: f64, passes: usize) -> f64 {
    let machine = Machine {
        processes: deviation,
        passes: 0.0,
        ..CALM
    };
    let sessions = machine.sessions(200, passes, 2, &mut Random::new(17));
    let half_width = |(visits, _): &(Vec<Visit>, Clocks)| {
        let found = predict(visits, Centre::LowerQuartile, None).unwrap();
        found.estimated.relative_half_width().unwrap()
    };
    let widths: Vec<f64> = sessions.iter().map(half_width).collect();
    summary::median(&widths).unwrap()
}

#[test]
fn more_noise_is_wider_and_more_passes_are_narrower() {
    let by_noise = [0.0, 0.01, 0.03, 0.1].map(|deviation| typical_half_width(deviation, 10));
    assert!(by_noise.is_sorted(), "{by_noise:?}");
    let by_passes = [20, 10, 5, 3].map(|passes| typical_half_width(0.03, passes));
    assert!(by_passes.is_sorted(), "{by_passes:?}");
}
