//! Results as JSON.

use crate::fixture;
use oscope_report::json;

#[test]
fn analysis_holds_findings_estimates_failures_and_the_machine() {
    let analysis = fixture::analysis();
    let value = json::analysis(&analysis);
    assert_eq!(value["run"]["id"], analysis.run.header.id);
    assert_eq!(value["machine"]["cpu"]["architecture"], "x86_64");
    let finding = &value["findings"][0];
    assert_eq!(finding["experiment"], "file.block_size");
    assert_eq!(finding["grade"], "certain");
    assert_eq!(finding["numbers"]["plateau"]["value"], 524_288.0);
    assert_eq!(
        finding["numbers"]["plateau"]["interval"]["high"],
        1_048_576.0
    );

    let experiments = value["experiments"].as_array().unwrap();
    assert_eq!(experiments.len(), analysis.experiments.len());
    let broken = &experiments[0]["points"][13]["estimates"][1];
    assert_eq!(broken["verdict"], "broken");
    assert!(broken["reason"].as_str().unwrap().contains("physics"));
    let failure = &experiments[1]["failures"][0];
    assert_eq!(failure["levels"]["block_size"], 1_048_576);
    assert!(experiments[3]["skipped"].as_str().unwrap().contains("root"));
}

#[test]
fn a_value_is_marked_by_the_warnings_that_touch_it_alone() {
    let value = json::analysis(&fixture::analysis());
    let point = &value["experiments"][0]["points"][2];
    assert_eq!(point["warnings"][0]["warning"]["drift"]["metric"], "read");
    let doubtful = |index: usize| point["estimates"][index]["doubtful"].as_bool();
    assert_eq!(
        [doubtful(0), doubtful(1), doubtful(2)],
        [Some(false), Some(true), Some(false)]
    );
}

#[test]
fn an_estimate_is_written_in_full() {
    let value = &json::analysis(&fixture::analysis())["experiments"][4];
    insta::assert_snapshot!(serde_json::to_string_pretty(value).unwrap());
}
