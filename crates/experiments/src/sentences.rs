//! Properties of every sentence of every experiment, whatever was measured.

use crate::made_up::{machine, measured_apart, results, setting};
use crate::{advice, all, claims, find, systems};
use choice::Choice;
use instrument::claim::Evidence;
use instrument::experiment::{Definition, Experiment};
use instrument::finding::{Finding, Grade};
use instrument::plan::Profile;
use instrument::quantity::{Quantity, Unit};
use instrument::results::{PointResult, Results, Verdict};
use platform::machine::Machine;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Shape of an experiment's values along its points.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
enum Shape {
    Flat,
    Noise,
    /// Two levels, point by point.
    TwoModes,
    Rising,
    Falling,
    /// A step at the last point.
    LastDiffers,
}

impl Shape {
    /// The factor of a value at the point `index` of `count`.
    fn at(self, index: usize, count: usize) -> f64 {
        let part = index as f64 / count as f64;
        match self {
            Self::Noise => 1.0 + 0.2 * (index as f64 * 12.989).sin(),
            Self::TwoModes => [1.0, 3.0][index % 2],
            Self::Rising => 100_f64.powf(part),
            Self::Falling => 10.0 - 9.0 * part,
            Self::LastDiffers if index + 1 == count => 5.0,
            Self::Flat | Self::LastDiffers => 1.0,
        }
    }
}

/// A value that is usual for the unit.
fn usual(unit: Unit) -> f64 {
    match unit {
        Unit::BytesPerSecond => 1e9,
        Unit::OperationsPerSecond => 1e6,
        Unit::Nanoseconds => 1e3,
        Unit::Bytes => 65_536.0,
        Unit::Count => 4.0,
        Unit::Share => 0.5,
        Unit::Ratio => 2.0,
    }
}

/// The points of the quick profile, of which each `missing`-th was not measured, with processes `step`
/// apart.
fn points(
    experiment: &'static dyn Experiment,
    (shape, step, missing): (Shape, f64, usize),
) -> Vec<PointResult> {
    let points = experiment.points(&setting(Profile::Quick));
    let metrics = experiment.design().metrics;
    let count = points.len();
    let kept = points
        .into_iter()
        .enumerate()
        .filter(|(index, _)| missing == 0 || index % missing != 1);
    kept.map(|(index, point)| {
        let value = |unit| usual(unit) * shape.at(index, count);
        let values: Vec<_> = metrics
            .iter()
            .map(|metric| (*metric, value(metric.unit)))
            .collect();
        measured_apart(point, &values, step)
    })
    .collect()
}

/// A reason why a finding must not be shown.
fn objection(finding: &Finding) -> Option<String> {
    let said = finding.sentence.to_string();
    let unfinished = ["NaN", "inf ", "  ", "{", "}", "× times"]
        .into_iter()
        .find(|text| said.contains(text));
    match unfinished {
        Some(text) => Some(format!("'{text}' in: {said}")),
        None if !said.ends_with(['.', '!']) => Some(format!("no end: {said}")),
        None if compares_with_itself(&said) => Some(format!("compared with itself: {said}")),
        None => None,
    }
}

/// True if a sentence sets a place against the same place: `blocks of 4 MiB … those of 4 MiB`.
fn compares_with_itself(said: &str) -> bool {
    let Some((before, after)) = said.split_once(" those of ") else {
        return false;
    };
    let words: Vec<&str> = after.split([' ', ',', '.', ';', ':']).take(2).collect();
    before.contains(&format!(" of {} ", words.join(" ")))
}

fn shape() -> impl Strategy<Value = (Shape, f64, usize)> {
    let missing = prop_oneof![Just(0_usize), 2_usize..6];
    (prop::sample::select(Shape::ALL), 0.001_f64..0.3, missing)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the curve, each sentence that can be shown is finished, and no cost lies below zero.
    #[test]
    fn no_sentence_is_broken_by_its_curve(shape in shape()) {
        let machine = machine();
        let definitions: Vec<Definition> = all().map(Experiment::definition).collect();
        let measured: Vec<Results<'_>> = all()
            .zip(&definitions)
            .map(|(experiment, definition)| {
                results(definition, &machine, points(experiment, shape))
            })
            .collect();
        for (experiment, results) in all().zip(&measured) {
            for finding in experiment.findings(results) {
                if finding.is_sayable() {
                    let objection = objection(&finding);
                    prop_assert!(objection.is_none(), "{}: {objection:?}", experiment.id());
                }
            }
        }
        let evidence = Evidence::new(&measured);
        for claim in claims() {
            let because = claim.judge(&evidence).because;
            let objection = objection(&because);
            prop_assert!(objection.is_none(), "{}: {objection:?}", claim.key);
        }
    }
}

/// Also where neither caches nor pages are documented.
#[test]
fn no_sentence_is_broken_by_an_unknown_machine() {
    let machine = Machine::default();
    for experiment in all() {
        let definition = experiment.definition();
        for shape in Shape::ALL {
            let points = points(experiment, (*shape, 0.01, 0));
            for finding in experiment.findings(&results(&definition, &machine, points)) {
                let objection = objection(&finding).filter(|_| finding.is_sayable());
                assert_eq!(objection, None, "{}", experiment.id());
            }
        }
    }
}

#[test]
fn nothing_follows_from_no_points_and_from_unsound_values() {
    let machine = machine();
    for experiment in all() {
        let definition = experiment.definition();
        let mut unsound = points(experiment, (Shape::LastDiffers, 0.01, 0));
        for estimate in unsound.iter_mut().flat_map(|point| &mut point.estimates) {
            estimate.verdict = Verdict::BelowResolution;
        }
        for points in [Vec::new(), unsound] {
            let count = points.len();
            let results = [results(&definition, &machine, points)];
            let found = experiment.findings(&results[0]);
            assert_eq!(found, [], "{count} points of {}", experiment.id());
            let evidence = Evidence::new(&results);
            // Claims on two systems say that there is no run of the other.
            let of_one =
                claims().filter(|claim| !systems::CLAIMS.iter().any(|it| it.key == claim.key));
            let judged = of_one.filter(|claim| claim.basis.follows_from(&evidence).is_some());
            let judged: Vec<_> = judged.map(|claim| claim.key).collect();
            assert_eq!(judged, [""; 0], "{count} points of {}", experiment.id());
            let advised = advice().filter_map(|rule| rule.basis.follows_from(&evidence));
            assert_eq!(advised.count(), 0, "{count} points of {}", experiment.id());
        }
    }
}

#[test]
fn the_quick_profile_measures_what_the_findings_need() {
    let machine = machine();
    for (id, expected) in [
        (
            "threads.lock",
            &["several_cores", "kernel_threads", "break_even", "collapse"][..],
        ),
        ("threads.io", &["break_even", "while_computing"]),
        (
            "compute.arithmetic",
            &["overlap", "division", "vectors", "widest"],
        ),
    ] {
        let experiment = find(id).expect(id);
        let definition = experiment.definition();
        let found = Shape::ALL.iter().flat_map(|shape| {
            let points = points(experiment, (*shape, 0.001, 0));
            experiment.findings(&results(&definition, &machine, points))
        });
        let found: BTreeSet<String> = found.map(|finding| finding.key).collect();
        for key in expected {
            assert!(found.contains(*key), "{id} {key}: {found:?}");
        }
    }
}

#[test]
fn a_place_against_itself_is_found() {
    let itself = "Blocks of 4 MiB are the fastest: 1.00 × as fast as those of 4 MiB, the largest.";
    assert!(compares_with_itself(itself));
    let apart = "Blocks of 64 KiB are the fastest: 1.29 × as fast as those of 4 MiB, the largest.";
    assert!(!compares_with_itself(apart));
}

/// A sentence is certain only if the interval of each ratio in it leaves out equality, unless it says that the
/// two are about equal.
#[test]
fn a_certain_sentence_has_no_ratio_that_may_be_one() {
    const ALIKE: [&str; 4] = [
        "about as fast",
        "gains nothing",
        "gain nothing",
        "gain or lose little",
    ];
    let machine = machine();
    let mut objections = BTreeSet::new();
    for experiment in all() {
        let definition = experiment.definition();
        for shape in Shape::ALL {
            for step in [0.02, 0.2] {
                let points = points(experiment, (*shape, step, 0));
                let results = results(&definition, &machine, points);
                let said = experiment.findings(&results).into_iter();
                let certain = said.filter(|it| it.grade == Grade::Certain && it.is_sayable());
                for finding in certain {
                    let said = finding.sentence.to_string();
                    let may_be_one = finding.sentence.numbers().any(|number| {
                        let Quantity { interval, unit, .. } = number.quantity;
                        let wide = interval.filter(|interval| interval.low < interval.high);
                        unit == Unit::Ratio && wide.is_some_and(|interval| interval.contains(1.0))
                    });
                    let is_alike = ALIKE.iter().any(|words| said.contains(words));
                    if may_be_one && !is_alike {
                        objections.insert(format!("{} {}: {said}", experiment.id(), finding.key));
                    }
                }
            }
        }
    }
    assert!(objections.is_empty(), "{objections:#?}");
}

/// Of a curve that is flat no step, no best place and no gain follows: no sentence states a ratio between
/// places of one metric as certain.
#[test]
fn a_flat_curve_gains_nothing() {
    let machine = machine();
    for experiment in all() {
        let definition = experiment.definition();
        let points = points(experiment, (Shape::Flat, 0.05, 0));
        let results = results(&definition, &machine, points);
        for finding in experiment.findings(&results) {
            let gain = finding
                .number("gain")
                .filter(|gain| gain.unit == Unit::Ratio);
            let surely = gain
                .and_then(|gain| gain.interval)
                .is_some_and(|gain| gain.low > 1.05);
            let one_metric = definition.metrics.len() == 1;
            assert!(
                !(one_metric && surely),
                "{}: {}",
                experiment.id(),
                finding.sentence
            );
        }
    }
}
