//! Compares the statistics with values from `SciPy` and limma, stored in `golden` next to the scripts that
//! compute them.

#![expect(clippy::unwrap_used, reason = "the golden data are known")]

use oscope_instrument::statistics::discovery::adjusted;
use oscope_instrument::statistics::linear::weighted_line;
use oscope_instrument::statistics::moderation::{Contrast, Variance, moderate, prior};
use oscope_instrument::statistics::student::ratio_estimate;
use oscope_instrument::statistics::trend::{mann_kendall, theil_sen_slope};
use oscope_instrument::statistics::{Estimated, student, summary};
use serde_json::Value;

const SCIPY: &str = include_str!("../../golden/statistics.json");
const LIMMA: &str = include_str!("../../golden/moderation.json");

fn records(golden: &str, list: &str) -> Vec<Value> {
    let mut golden: Value = serde_json::from_str(golden).unwrap();
    serde_json::from_value(golden[list].take()).unwrap()
}

/// JSON has no infinite numbers.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::INFINITY)
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Fails unless the numbers are equal to nine digits.
#[track_caller]
fn assert_close(ours: f64, theirs: f64, what: &str) {
    assert_within(1e-9, ours, theirs, what);
}

#[track_caller]
fn assert_within(share: f64, ours: f64, theirs: f64, what: &str) {
    let same = ours.to_bits() == theirs.to_bits();
    let scale = ours.abs().max(theirs.abs()).max(1e-7);
    assert!(
        same || (ours - theirs).abs() <= share * scale,
        "{what}: ours {ours}, golden {theirs}"
    );
}

/// `theirs` are the two bounds, or there are none.
#[track_caller]
fn assert_interval(ours: Option<Estimated>, theirs: &[f64], what: &str) {
    let ours = ours.and_then(|estimate| estimate.interval);
    let ours = ours.map_or_else(Vec::new, |interval| vec![interval.low, interval.high]);
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (ours, theirs) in ours.into_iter().zip(theirs) {
        assert_close(ours, *theirs, what);
    }
}

#[test]
fn samples_have_the_descriptions_intervals_and_trends_of_scipy() {
    for record in records(SCIPY, "samples") {
        let (name, values) = (record["name"].to_string(), numbers(&record["values"]));
        for (field, ours) in [
            ("mean", summary::mean(&values)),
            ("standard_deviation", summary::standard_deviation(&values)),
            (
                "median_absolute_deviation",
                summary::median_absolute_deviation(&values),
            ),
            ("theil_sen_slope", theil_sen_slope(&values)),
        ] {
            let what = format!("{field} of {name}");
            assert_close(ours.unwrap(), number(&record[field]), &what);
        }
        for quantile in record["quantiles"].as_array().unwrap() {
            let ours = summary::quantile(&values, number(&quantile[0])).unwrap();
            assert_close(ours, number(&quantile[1]), &name);
        }
        let mean = student::mean_estimate(&values);
        assert_interval(mean, &numbers(&record["interval"]), &name);
        let p_value = record["mann_kendall"].get("p_value").map(number);
        let ours = mann_kendall(&values);
        assert_eq!(ours.is_some(), p_value.is_some(), "{name}");
        if let (Some(ours), Some(theirs)) = (ours, p_value) {
            assert_close(ours, theirs, &name);
        }
    }
}

#[test]
fn ratios_are_those_of_scipy() {
    for record in records(SCIPY, "ratios") {
        let [above, below, interval] =
            ["numerator", "denominator", "interval"].map(|field| numbers(&record[field]));
        let ours = ratio_estimate(&above, &below).unwrap();
        assert_close(ours.centre, number(&record["centre"]), "ratio");
        assert_interval(Some(ours), &interval, "ratio");
    }
}

#[test]
fn lines_are_those_of_scipy() {
    for record in records(SCIPY, "lines") {
        let [x, y, weights] = ["x", "y", "weights"].map(|field| numbers(&record[field]));
        let line = weighted_line(&x, &y, &weights).unwrap();
        for (ours, field) in [(line.intercept, "intercept"), (line.slope, "slope")] {
            let theirs = numbers(&record[field]);
            assert_close(ours.centre, theirs[0], field);
            assert_interval(Some(ours), &theirs[1..], field);
        }
    }
}

#[test]
fn moderation_is_that_of_limma() {
    for family in records(LIMMA, "families") {
        let name = family["name"].as_str().unwrap();
        let field = |field: &str| numbers(&family[field]);
        let (variances, degrees, factors) = (field("variance"), field("degrees"), field("factor"));
        let contrast = |(index, difference)| Contrast {
            difference,
            variance: Variance {
                value: variances[index],
                degrees: degrees[index],
            },
            within: None,
            factor: factors[index],
        };
        let differences = field("difference").into_iter().enumerate();
        let contrasts: Vec<Contrast> = differences.map(contrast).collect();
        let prior = prior(&contrasts).unwrap();
        let moderated = moderate(&contrasts, prior);
        let margin = number(&family["margin"]);
        let p_values: Vec<f64> = moderated.iter().map(|it| it.p_beyond(margin)).collect();
        let posterior = moderated.iter().zip(&factors);
        let posterior = posterior.map(|(it, factor)| (it.standard_error / factor).powi(2));
        for (what, ours) in [
            ("prior", vec![prior.variance(&contrasts[0]), prior.degrees]),
            ("posterior", posterior.collect()),
            (
                "total_degrees",
                moderated.iter().map(|it| it.degrees).collect(),
            ),
            (
                "p_within",
                moderated.iter().map(|it| it.p_within(margin)).collect(),
            ),
            ("adjusted", adjusted(&p_values)),
            ("p_beyond", p_values),
        ] {
            let theirs = field(what);
            assert_eq!(ours.len(), theirs.len(), "{name}: {what}");
            for (ours, theirs) in ours.into_iter().zip(theirs) {
                assert_within(1e-7, ours, theirs, &format!("{name}: {what}"));
            }
        }
    }
}
