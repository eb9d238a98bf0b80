//! Sides that ran under different conditions, and sessions far from each other.

use crate::common::Place;
use crate::{Bench, json as parsed};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs::File;

/// The recorded run `name` of the test data.
fn recorded(name: &str) -> Value {
    let fixture = format!(
        "{}/tests/fixtures/load/{name}.oscope.json.gz",
        env!("CARGO_MANIFEST_DIR")
    );
    let packed = GzDecoder::new(File::open(fixture).expect("a fixture"));
    serde_json::from_reader(packed).expect("a run")
}

/// One side: the three recorded runs whose names begin with `load`, each changed by `change`.
fn side(place: &Place, load: &str, change: impl Fn(&mut Value)) -> String {
    let session = |number: u32| {
        let name = format!("{load}-{number}");
        let mut run = recorded(&name);
        change(&mut run);
        let path = place.path(&format!("{name}.oscope.json"));
        std::fs::write(&path, run.to_string()).expect("a file in the place");
        path.to_str().expect("a plain path").to_owned()
    };
    (1..=3).map(session).collect::<Vec<_>>().join(",")
}

/// Makes every timing of `run` 20 % longer, so that it is another run whose checksums are gone.
fn slow_down(run: &mut Value) {
    let number = run["run"]["header"]["id"].as_str().expect("an id")[1..].to_owned();
    run["run"]["header"]["id"] = format!("f{number}").into();
    run.as_object_mut().expect("a document").remove("checksums");
    for point in run["run"]["experiments"][0]["points"]
        .as_array_mut()
        .expect("points")
    {
        for batch in point["batches"].as_array_mut().expect("batches") {
            for sample in batch["samples"].as_array_mut().expect("samples") {
                let reading = &mut sample["reading"];
                let timings = [
                    "/legs/wall_ns",
                    "/legs/short_wall_ns",
                    "/latencies/p5_ns",
                    "/latencies/p50_ns",
                    "/latencies/p95_ns",
                    "/latencies/p99_ns",
                ];
                for timing in timings {
                    reading.pointer_mut(timing).into_iter().for_each(longer);
                }
            }
        }
    }
}

/// A time, or each of several, multiplied by 1.2.
fn longer(time: &mut Value) {
    match time {
        Value::Array(times) => times.iter_mut().for_each(longer),
        _ if time.is_u64() => *time = (time.as_u64().expect("whole ns") * 6 / 5).into(),
        _ => *time = (time.as_f64().expect("ns") * 1.2).into(),
    }
}

/// The counts of verdicts on two sides, which must not fail the gate.
fn counts(place: &Place, a: &str, b: &str) -> Value {
    let mut command = place.oscope(&["compare", a, b, "--fail-on", "different", "--json"]);
    let assert = command.assert().success();
    parsed(&assert.get_output().stdout)["comparisons"][0]["counts"].clone()
}

#[test]
fn one_machine_under_unequal_load_is_not_comparable_with_itself() {
    let place = Place::new();
    let [busy, idle] =
        ["one-reference-busy", "one-reference-idle"].map(|load| side(&place, load, |_| ()));
    for [a, b] in [[&busy, &idle], [&idle, &busy]] {
        let counts = counts(&place, a, b);
        assert_eq!(
            (&counts["faster"], &counts["slower"]),
            (&json!(0), &json!(0))
        );
        assert!(counts["not_comparable"].as_u64() >= Some(1), "{counts}");
    }
    let assert = place.oscope(&["compare", &busy, &idle]).assert().success();
    let text = String::from_utf8(assert.get_output().stdout.clone()).expect("text");
    let reason =
        "different conditions: processors kept busy by other programs (1.3 in A, 0.088 in B)";
    let head: Vec<&str> = text.split_whitespace().take(60).collect();
    assert!(head.join(" ").contains(reason), "{text}");
    assert!(!text.contains("moved together"), "{text}");
}

#[test]
fn runs_with_both_references_agree_under_all_loads() {
    let place = Place::new();
    let sides = ["idle", "bursts", "busy"].map(|load| side(&place, load, |_| ()));
    for a in &sides {
        for b in sides.iter().filter(|b| *b != a) {
            let counts = counts(&place, a, b);
            assert_eq!(
                (&counts["faster"], &counts["slower"]),
                (&json!(0), &json!(0)),
                "{a} {b}: {counts}"
            );
        }
    }
}

#[test]
fn a_change_of_a_fifth_is_found_under_each_load_and_never_the_wrong_way_across_loads() {
    let place = Place::new();
    let slowed = Place::new();
    let loads = ["idle", "bursts", "busy"];
    for before in loads {
        let a = side(&place, before, |_| ());
        for after in loads {
            let b = side(&slowed, after, slow_down);
            let found = place
                .oscope(&["compare", &a, &b, "--json"])
                .assert()
                .success();
            let counts = &parsed(&found.get_output().stdout)["comparisons"][0]["counts"];
            assert_eq!(counts["faster"], 0, "{before} {after}: {counts}");
            if before == after {
                let all: u64 = counts
                    .as_object()
                    .expect("counts")
                    .values()
                    .filter_map(Value::as_u64)
                    .sum();
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
    let output = bench.place.oscope(&["compare", a, b, "--json"]).unwrap();
    let found = parsed(&output.stdout);
    let values = found["comparisons"][0]["values"]
        .as_array()
        .expect("values");
    let of = |value: &Value| {
        let verdict = value["verdict"].as_str().expect("a verdict");
        let left_out = value["left_out"].as_u64().expect("a number");
        (verdict.to_owned(), left_out)
    };
    values.iter().map(of).collect()
}
