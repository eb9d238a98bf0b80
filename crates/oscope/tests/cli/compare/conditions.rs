//! Sides that ran under different conditions, and sessions far from each other.

use super::Bench;
use crate::common::{Place, list};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::fs::File;
use std::io::copy;

/// The sessions of a recorded machine next to a load of 1.2 processors (`busy`) or of 0.07 (`idle`).
fn recorded(place: &Place, load: &str) -> String {
    let session = |number: u32| {
        let name = format!("{load}-{number}.oscope.json");
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/load");
        let packed = File::open(format!("{fixtures}/{name}.gz")).expect("a fixture");
        let mut file = File::create(place.path(&name)).expect("a file");
        copy(&mut GzDecoder::new(packed), &mut file).expect("it is whole");
        place.name(&name)
    };
    (1..=3).map(session).collect::<Vec<_>>().join(",")
}

#[test]
fn one_machine_under_unequal_load_is_not_comparable_with_itself() {
    let place = Place::new();
    let [busy, idle] = &["busy", "idle"].map(|load| recorded(&place, load));
    for (a, b) in [(busy, idle), (idle, busy)] {
        let found = place.json(&format!("compare {a} {b} --fail-on different --json"));
        let counts = &found["comparisons"][0]["counts"];
        assert_eq!(counts["faster"], json!(0));
        assert_eq!(counts["slower"], json!(0));
        assert!(counts["not_comparable"].as_u64() >= Some(1), "{counts}");
    }
    let text = place.prints(&format!("compare {busy} {idle} --fail-on different"));
    let reason =
        "different conditions: processors kept busy by other programs (1.3 in A, 0.088 in B)";
    let head: Vec<&str> = text.split_whitespace().take(60).collect();
    assert!(head.join(" ").contains(reason), "{text}");
    assert!(!text.contains("moved together"), "{text}");
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
