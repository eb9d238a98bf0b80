//! Places on made-up curves: what is shown, what stays open, and how often the true place is missed.

use oscope_instrument::claim::Ruling;
use oscope_instrument::curve::{Curve, Onset, Open, crossover};
use oscope_instrument::definition::Better;
use oscope_instrument::estimate::Estimate;
use oscope_instrument::quantity::{Count, Quantity, Unit};
use oscope_instrument::statistics::Interval;
use oscope_instrument::statistics::prediction::{Centre, Core, Leg, Visit, predict};
use oscope_instrument::statistics::random::Random;
use proptest::collection::vec;
use proptest::prelude::*;

/// Processes of a value, each in a pass of its own.
const PASSES: usize = 9;

/// A value from one process in each pass, each of which deviates by this much on the log scale.
fn estimate(value: f64, deviations: &[f64]) -> Estimate {
    let visit = |(pass, deviation): (usize, &f64)| Visit {
        pass,
        legs: vec![Leg {
            cost: value * deviation.exp(),
            core: Core::default(),
        }],
    };
    let visits: Vec<Visit> = deviations.iter().enumerate().map(visit).collect();
    let found = predict(&visits, Centre::Median, None).expect("there are visits");
    Estimate {
        processes: found.by_process.len(),
        passes: found.passes,
        by_process: found.by_process,
        pass_of: (0..).take(deviations.len()).collect(),
        ..Quantity::estimated(&found.estimated, Unit::BytesPerSecond).into()
    }
}

/// Values at the places 0, 1, 2, …, whose processes scatter by `noise`.
fn noisy(values: &[f64], noise: f64, seed: u64) -> Vec<Estimate> {
    let mut random = Random::new(seed);
    let mut one = |value: &f64| {
        let deviations: Vec<f64> = (0..PASSES).map(|_| noise * random.normal()).collect();
        estimate(*value, &deviations)
    };
    values.iter().map(&mut one).collect()
}

fn curve(estimates: &[Estimate], better: Better) -> Curve<'_, u64> {
    let places: Vec<(u64, &Estimate)> = (0..).zip(estimates).collect();
    Curve::of(&places, better)
}

fn plateau(values: &[f64]) -> Result<Onset<u64>, Open<u64>> {
    let estimates = noisy(values, 0.002, 1);
    curve(&estimates, Better::Higher).plateau()
}

fn onset(after: u64, from: u64) -> Onset<u64> {
    Onset { after, from }
}

#[test]
fn a_plateau_begins_at_the_first_place_shown_to_be_within_the_margin_of_all() {
    for (values, expected) in [
        (&[0.5, 0.9, 0.98, 1.0, 1.0][..], Ok(onset(1, 2))),
        // 4 % below is neither shown to be within 5 % nor to be further away.
        (&[0.5, 0.9, 0.96, 1.0, 1.0], Ok(onset(1, 3))),
        (&[0.5, 0.9, 0.92, 1.0, 1.0], Ok(onset(2, 3))),
        // Larger places may be worse: they gain nothing either.
        (&[0.5, 1.0, 0.7, 0.7], Ok(onset(0, 1))),
        (&[1.0, 1.0, 1.0], Ok(onset(0, 0))),
        (&[0.25, 0.5, 1.0], Err(Open::Beyond(2))),
        (&[0.25, 0.96, 1.0], Err(Open::Between(1, 2))),
        (&[0.5, 1.0], Err(Open::TooFew)),
        (&[], Err(Open::TooFew)),
    ] {
        assert_eq!(plateau(values), expected, "{values:?}");
    }
}

#[test]
fn a_plateau_ends_at_the_last_place_shown_to_be_within_the_margin_of_all() {
    let end = |values: &[f64]| {
        let estimates = noisy(values, 0.002, 1);
        curve(&estimates, Better::Higher).end()
    };
    assert_eq!(end(&[0.5, 1.0, 0.99, 0.9, 0.5]), Ok(onset(3, 2)));
    assert_eq!(end(&[1.0, 0.5, 0.5]), Err(Open::Beyond(0)));
}

#[test]
fn lower_costs_are_better_where_less_is() {
    let costs = noisy(&[4.0, 2.0, 1.02, 1.0], 0.002, 1);
    let curve = curve(&costs, Better::Lower);
    assert_eq!(curve.plateau(), Ok(onset(1, 2)));
    let good: Vec<u64> = curve.good().map(|(at, _)| at).collect();
    assert_eq!(good, [2, 3]);
}

#[test]
fn a_place_without_an_interval_shows_nothing() {
    let known = noisy(&[0.5, 1.0, 1.0, 1.0], 0.002, 1);
    let mut unknown = known.clone();
    unknown[3] = Quantity::exact(1.0, Unit::BytesPerSecond).into();
    assert_eq!(curve(&known, Better::Higher).plateau(), Ok(onset(0, 1)));
    let open = curve(&unknown, Better::Higher);
    assert_eq!(open.plateau(), Err(Open::Between(1, 3)));
    assert_eq!(open.contenders().count(), 3);
}

#[test]
fn a_crossover_is_where_one_stays_ahead() {
    use Ruling::{DoesNotHold as No, Holds as Yes, Undecided as Open_};
    let found = |rulings: &[Ruling]| {
        let places: Vec<(u64, Ruling)> = (0..).zip(rulings.iter().copied()).collect();
        crossover(&places)
    };
    for (rulings, expected) in [
        (&[No, No, Yes, Yes][..], Ok(onset(1, 2))),
        (&[No, Open_, Yes], Ok(onset(0, 2))),
        (&[Yes, No, Yes], Ok(onset(1, 2))),
        (&[Open_, Yes], Ok(onset(0, 1))),
        (&[Yes, Yes], Ok(onset(0, 0))),
        (&[Yes, No], Err(Open::Beyond(1))),
        (&[No, Open_], Err(Open::Between(0, 1))),
        (&[], Err(Open::TooFew)),
    ] {
        assert_eq!(found(rulings), expected, "{rulings:?}");
    }
}

#[test]
fn an_onset_lies_between_two_places() {
    let quantity = Quantity::from(Onset {
        after: Count(16),
        from: Count(256),
    });
    assert_eq!(quantity.interval, Interval::new(16.0, 256.0));
    assert!((quantity.value - 256.0).abs() < 1e-9);
    let falling = Quantity::from(Onset {
        after: Count(8),
        from: Count(4),
    });
    assert_eq!(falling.interval, Interval::new(4.0, 8.0));
}

/// True unless what was found excludes that the true place is `at`.
fn allows(found: Result<Onset<u64>, Open<u64>>, at: u64) -> bool {
    match found {
        Ok(it) => {
            it.is_everywhere() && at == it.from
                || it.after < at && at <= it.from
                || it.after == 0 && at == 0
        }
        Err(Open::Between(first, last)) => (first..=last).contains(&at),
        Err(Open::Beyond(last)) => at == last,
        Err(Open::TooFew) => true,
    }
}

/// The share of curves that allow the true start of the plateau, and the share that show one.
fn simulated(values: &[f64], noise: f64) -> (f64, f64) {
    // An unoptimised build has time for fewer.
    const CURVES: u64 = if cfg!(debug_assertions) { 60 } else { 400 };
    let best = values.iter().copied().fold(0.0, f64::max);
    let is_good = |value: &f64| *value >= 0.95 * best;
    let at = values.iter().position(is_good).expect("the best is") as u64;
    let found = |seed| {
        let estimates = noisy(values, noise, seed);
        curve(&estimates, Better::Higher).plateau()
    };
    let found: Vec<_> = (0..CURVES).map(found).collect();
    let share = |count: usize| count as f64 / CURVES as f64;
    let allowed = found.iter().filter(|it| allows(**it, at)).count();
    (
        share(allowed),
        share(found.iter().filter(|it| it.is_ok()).count()),
    )
}

#[test]
fn places_found_hold_the_true_one_in_95_of_100_curves_whatever_the_noise() {
    let curves: [&[f64]; 5] = [
        &[0.3, 0.6, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0],
        &[0.3, 0.6, 0.94, 0.97, 1.0, 1.0, 0.99, 0.98],
        &[0.3, 0.949, 0.949, 0.949, 1.0, 1.0, 1.0],
        &[0.2, 0.4, 1.0, 1.0, 0.8, 0.5, 0.3],
        &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    ];
    for values in curves {
        for noise in [0.005, 0.03, 0.2] {
            let (allowed, shown) = simulated(values, noise);
            println!("{values:?} ± {noise}: {allowed:.3} hold, {shown:.2} show one");
            assert!(allowed >= 0.95, "{values:?} ± {noise}: {allowed}");
        }
    }
    let (_, quiet) = simulated(curves[0], 0.005);
    let (_, noisy) = simulated(curves[0], 0.2);
    assert!(quiet > 0.95 && noisy < 0.05, "{quiet} {noisy}");
}

proptest! {
    /// The same curve with more noise around the same centres.
    #[test]
    fn more_noise_never_moves_a_plateau_to_a_smaller_place(
        values in vec(0.5..1.0_f64, 3..8),
        seed in any::<u64>(),
        noise in 0.001..0.05_f64,
        more in 1.0..20.0_f64,
    ) {
        let mut random = Random::new(seed);
        let deviations: Vec<Vec<f64>> = values.iter().map(|_| {
            let half: Vec<f64> = (0..PASSES / 2).map(|_| random.normal().abs()).collect();
            let mut all: Vec<f64> = half.iter().map(|it| -it).chain([0.0]).chain(half.clone()).collect();
            random.shuffle(&mut all);
            all
        }).collect();
        let at = |noise: f64| {
            let estimates: Vec<Estimate> = values.iter().zip(&deviations).map(|(value, deviations)| {
                let scaled: Vec<f64> = deviations.iter().map(|it| it * noise).collect();
                estimate(*value, &scaled)
            }).collect();
            curve(&estimates, Better::Higher).plateau()
        };
        if let Ok(noisy) = at(noise * more) {
            let quiet = at(noise).map_err(|open| TestCaseError::fail(format!("{open:?}")))?;
            prop_assert!(quiet.from <= noisy.from, "{quiet:?} {noisy:?}");
        }
    }
}
