//! Sides that ran under different conditions, and sessions far from each other.

use super::Bench;
use crate::common::{Place, list};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs::File;

/// The loads of the recorded runs.
const LOADS: [&str; 3] = ["idle", "bursts", "busy"];

/// The recorded run `name` of the test data.
pub(super) fn recorded(name: &str) -> Value {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/load");
    let packed = File::open(format!("{fixtures}/{name}.oscope.json.gz")).expect("a fixture");
    serde_json::from_reader(GzDecoder::new(packed)).expect("a run")
}

/// One side: the three recorded runs whose names begin with `load`, each changed by `change`.
fn side(place: &Place, load: &str, change: impl Fn(&mut Value)) -> String {
    let session = |number: u32| {
        let name = format!("{load}-{number}");
        let mut run = recorded(&name);
        change(&mut run);
        place.file(&format!("{name}.oscope.json"), run.to_string())
    };
    (1..=3).map(session).collect::<Vec<_>>().join(",")
}

/// Makes every timing of `run` 20 % longer.
pub(super) fn slow_down(run: &mut Value) {
    const TIMINGS: [&str; 6] = [
        "/legs/wall_ns",
        "/legs/short_wall_ns",
        "/latencies/p5_ns",
        "/latencies/p50_ns",
        "/latencies/p95_ns",
        "/latencies/p99_ns",
    ];
    let id = run["run"]["header"]["id"].as_str().expect("an id");
    run["run"]["header"]["id"] = format!("f{}", &id[1..]).into();
    for point in items(&mut run["run"]["experiments"][0]["points"]) {
        for batch in items(&mut point["batches"]) {
            for sample in items(&mut batch["samples"]) {
                let reading = &mut sample["reading"];
                for timing in TIMINGS {
                    reading.pointer_mut(timing).into_iter().for_each(lengthen);
                }
            }
        }
    }
}

fn items(list: &mut Value) -> &mut Vec<Value> {
    list.as_array_mut().expect("a list")
}

/// Multiplies a time, or each of several, by 1.2.
fn lengthen(time: &mut Value) {
    match time {
        Value::Array(times) => times.iter_mut().for_each(lengthen),
        _ => match time.as_u64() {
            Some(whole_ns) => *time = (whole_ns * 6 / 5).into(),
            None => *time = (time.as_f64().expect("ns") * 1.2).into(),
        },
    }
}

/// The number of values with each verdict.
fn counts(place: &Place, a: &str, b: &str) -> Value {
    let mut found = place.json(&format!("compare {a} {b} --json"));
    found["comparisons"][0]["counts"].take()
}

#[test]
fn a_difference_between_sides_under_unequal_load_is_not_comparable() {
    let place = Place::new();
    let busy = &side(&place, "busy", slow_down);
    let idle = &side(&place, "idle", |_| ());
    for (a, b) in [(busy, idle), (idle, busy)] {
        place.prints(&format!("compare {a} {b} --fail-on different"));
        let counts = counts(&place, a, b);
        assert_eq!(counts["faster"], json!(0));
        assert_eq!(counts["slower"], json!(0));
        assert!(counts["not_comparable"].as_u64() >= Some(1), "{counts}");
    }
    let text = place.prints(&format!("compare {busy} {idle} --fail-on different"));
    let reason =
        "different conditions: processors kept busy by other programs (1.0 in A, 0.056 in B)";
    let head: Vec<&str> = text.split_whitespace().take(60).collect();
    assert!(head.join(" ").contains(reason), "{text}");
    assert!(!text.contains("moved together"), "{text}");
}

#[test]
fn runs_agree_under_all_loads() {
    let place = Place::new();
    let sides = LOADS.map(|load| side(&place, load, |_| ()));
    for a in &sides {
        for b in sides.iter().filter(|b| *b != a) {
            let counts = counts(&place, a, b);
            assert_eq!(counts["faster"], json!(0), "{a} {b}");
            assert_eq!(counts["slower"], json!(0), "{a} {b}");
        }
    }
}

#[test]
fn a_change_of_a_fifth_is_found_under_each_load_and_never_reversed_across_loads() {
    let (place, after_change) = (Place::new(), Place::new());
    for before in LOADS {
        let a = side(&place, before, |_| ());
        for after in LOADS {
            let b = side(&after_change, after, slow_down);
            let counts = counts(&place, &a, &b);
            assert_eq!(counts["faster"], json!(0), "{before} {after}: {counts}");
            if before == after {
                let all = counts.as_object().expect("counts").values();
                let all: u64 = all.filter_map(Value::as_u64).sum();
                let slower = counts["slower"].as_u64().expect("a number");
                assert!(slower * 2 > all, "{before}: {counts}");
            }
        }
    }
}

#[test]
fn a_change_far_beyond_all_intervals_is_found_whatever_the_sessions_differ_by() {
    let bench = Bench::new();
    let before = bench.side("before", 1.0);
    let sessions = [7.0, 75.0, 20.0].map(|factor| bench.session(&format!("at{factor}"), factor));
    let found = verdicts(&bench, &before, &sessions.join(","));
    assert!(
        found.iter().all(|(verdict, _)| verdict == "slower"),
        "{found:?}"
    );
}

#[test]
fn one_bad_session_does_not_hide_two_that_agree() {
    let bench = Bench::new();
    let sessions = [1.0, 1.001, 30.0].map(|factor| bench.session(&format!("bad{factor}"), factor));
    let found = verdicts(&bench, &sessions.join(","), &bench.side("after", 1.2));
    let is_found = |(verdict, left_out): &(String, u64)| verdict == "slower" && *left_out == 1;
    assert!(found.iter().all(is_found), "{found:?}");
}

/// The verdict on each value, and the number of sessions that were left out.
fn verdicts(bench: &Bench, a: &str, b: &str) -> Vec<(String, u64)> {
    let found = bench.place.json(&format!("compare {a} {b} --json"));
    let of = |value: &Value| {
        let verdict = value["verdict"].as_str().expect("a verdict");
        let left_out = value["left_out"].as_u64().expect("a number");
        (verdict.to_owned(), left_out)
    };
    let values = list(&found["comparisons"][0], "values");
    values.iter().map(of).collect()
}
