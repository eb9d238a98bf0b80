//! `oscope lab`: each lab from its questions to the hand-in, and a class.

use crate::common::{Place, ends, json, list, scratch_files};
use serde_json::Value;
use std::fmt::Write as _;

/// A lab as `oscope lab list --json` describes it.
fn described(place: &Place, lab: &str) -> Value {
    let labs = place.json("lab list --json");
    let mut labs = labs.as_array().expect("a list").iter();
    labs.find(|it| it["name"] == lab).expect(lab).clone()
}

/// Makes a file `answers.txt` of answers to all questions of `lab`.
fn answer(place: &Place, lab: &str) {
    let mut text = "student = Anna B.\n".to_owned();
    for question in list(&described(place, lab), "questions") {
        let key = question["key"].as_str().expect("a key");
        let prediction = match question["unit"].as_str() {
            None => question["choices"][0].as_str().expect("a choice"),
            Some("nanoseconds") => "10 ns",
            Some("bytes") => "64 KiB",
            Some("bytes_per_second") => "5 GB/s",
            Some("operations_per_second") => "1 Mops/s",
            Some(_) => "3",
        };
        let why = "Since <b>it</b> is so.";
        writeln!(text, "{key} = {prediction}\n{key}.why = {why}").expect("a String has room");
    }
    place.file("answers.txt", text);
}

/// Measures `lab` in a short form and looks at all that was written.
fn runs_to_its_end(lab: &str) {
    let place = Place::new();
    answer(&place, lab);
    let start = format!(
        "lab start {lab} --budget 4s --quiet --answers $answers.txt --dir $scratch --output $hand-ins"
    );
    // A point that the system or the time does not allow leaves the exit code 1, and the hand-in its reason.
    let started = ends(&mut place.line(&start), "0,1");
    let is_whole = started.status.success();
    let read = |ending: &str| place.read(&format!("hand-ins/lab-{lab}-anna-b{ending}"));
    let hand_in = json(read(".json").as_bytes());
    let keys = |of: &Value, name: &str| -> Vec<Value> {
        list(of, name).iter().map(|it| it["key"].clone()).collect()
    };
    let asked = keys(&described(&place, lab), "questions");
    assert_eq!(keys(&hand_in, "answers"), asked);
    for answer in list(&hand_in, "answers") {
        assert!(answer["measured"].is_object(), "{answer:#}");
        assert_eq!(answer["why"], "Since <b>it</b> is so.");
    }
    let (text, page) = (read(".md"), read(".html"));
    assert!(!page.contains("<b>it</b>") && !page.contains("<script"));
    // A chart needs more than one point.
    if is_whole || text.contains("-1.svg") {
        assert!(text.contains("-1.svg") && page.contains("<svg"));
        assert!(read("-1.svg").starts_with("<svg"));
    }
    assert!(scratch_files(&place.scratch()).is_empty());
    // Existing files stay, and are seen before anything is measured.
    check!(place => "{start} | 1,2 | 2> --force");
}

#[test]
fn every_lab_runs_to_its_end() {
    let labs = Place::new().json("lab list --json");
    for lab in labs.as_array().expect("a list") {
        runs_to_its_end(lab["name"].as_str().expect("a name"));
    }
}
