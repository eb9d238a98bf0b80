//! Compares the statistics with values from `SciPy`, stored in `golden/statistics.json` next to the
//! script that computes them.

#![expect(clippy::unwrap_used, reason = "the golden data are known")]

use oscope_instrument::statistics::linear::weighted_line;
use oscope_instrument::statistics::student::ratio_estimate;
use oscope_instrument::statistics::trend::{mann_kendall, theil_sen_slope};
use oscope_instrument::statistics::{Confidence, Estimated, student, summary};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../golden/statistics.json")).unwrap()
}

fn records<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn level(record: &Value) -> Confidence {
    Confidence::new(number(&record["level"])).unwrap()
}

#[track_caller]
fn assert_close(ours: f64, theirs: f64, what: &str) {
    let scale = ours.abs().max(theirs.abs()).max(1e-9);
    assert!(
        (ours - theirs).abs() <= 1e-9 * scale,
        "{what}: ours {ours}, SciPy's {theirs}"
    );
}

#[track_caller]
fn assert_interval(ours: Option<Estimated>, theirs: &Value, what: &str) {
    let ours = ours.and_then(|estimate| estimate.interval);
    let Some(theirs) = theirs.as_array() else {
        assert_eq!(ours, None, "{what}");
        return;
    };
    let ours = ours.unwrap_or_else(|| panic!("{what}: no interval"));
    assert_close(ours.low, number(&theirs[0]), what);
    assert_close(ours.high, number(&theirs[1]), what);
}

#[test]
fn descriptions() {
    for record in records(&golden(), "samples") {
        let (what, values) = (record["name"].to_string(), numbers(&record["values"]));
        let same = |ours: Option<f64>, field: &str| {
            assert_close(ours.unwrap(), number(&record[field]), &what);
        };
        same(summary::mean(&values), "mean");
        same(summary::standard_deviation(&values), "standard_deviation");
        same(
            summary::median_absolute_deviation(&values),
            "median_absolute_deviation",
        );
        for quantile in records(record, "quantiles") {
            let ours = summary::quantile(&values, number(&quantile[0])).unwrap();
            assert_close(ours, number(&quantile[1]), &what);
        }
    }
}

#[test]
fn intervals() {
    for record in records(&golden(), "samples") {
        let values = numbers(&record["values"]);
        for expected in records(record, "intervals") {
            let what = format!("{} at {}", record["name"], expected["level"]);
            let confidence = level(expected);
            let mean = student::mean_estimate(&values, confidence);
            assert_interval(mean, &expected["mean"], &what);
        }
    }
}

#[test]
fn trends() {
    for record in records(&golden(), "samples") {
        let (what, values) = (record["name"].to_string(), numbers(&record["values"]));
        let times: Vec<f64> = (0..values.len()).map(|index| index as f64).collect();
        let slope = theil_sen_slope(&times, &values).unwrap();
        assert_close(slope, number(&record["theil_sen_slope"]), &what);

        let expected = &record["mann_kendall"];
        let ours = mann_kendall(&values);
        assert_eq!(ours.is_none(), expected.is_null(), "{what}");
        if let Some(ours) = ours {
            assert_close(ours, number(&expected["p_value"]), &what);
        }
    }
}

#[test]
fn ratios() {
    for record in records(&golden(), "ratios") {
        let (numerator, denominator) = (
            numbers(&record["numerator"]),
            numbers(&record["denominator"]),
        );
        let ours = ratio_estimate(&numerator, &denominator, level(record)).unwrap();
        assert_close(ours.centre, number(&record["centre"]), "ratio");
        assert_interval(Some(ours), &record["interval"], "ratio");
    }
}

#[test]
fn lines() {
    for record in records(&golden(), "lines") {
        let [x, y, weights] = ["x", "y", "weights"].map(|field| numbers(&record[field]));
        let line = weighted_line(&x, &y, &weights, level(record)).unwrap();
        for (ours, field) in [(line.intercept, "intercept"), (line.slope, "slope")] {
            let theirs = numbers(&record[field]);
            let interval = ours.interval.unwrap();
            assert_close(ours.centre, theirs[0], field);
            assert_close(interval.low, theirs[1], field);
            assert_close(interval.high, theirs[2], field);
        }
    }
}
