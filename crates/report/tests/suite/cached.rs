//! A cached analysis is the analysis.

use crate::fixture;
use oscope_report::cached::{Cached, to_text};
use oscope_report::json;

#[test]
fn a_cached_analysis_is_read_as_it_was() {
    let run = fixture::run();
    let mut analysis = fixture::analysis(&run);
    // Only claims that the program knows are cached, and failures are read from the run.
    for ((claim, _), known) in analysis.claims.iter_mut().zip(experiments::claims()) {
        *claim = known;
    }
    for experiment in &mut analysis.experiments {
        experiment.failures.clear();
    }
    let text = to_text(&analysis).expect("it is JSON");
    let cached = Cached::read(&text, &run).expect("it fits its run");
    let again = cached.analysis(&run);
    assert_eq!(json::analysis(&again), json::analysis(&analysis));
    assert_eq!(to_text(&again).expect("it is JSON"), text);
}

#[test]
fn what_does_not_fit_is_not_read() {
    let run = fixture::run();
    let text = to_text(&fixture::analysis(&run)).expect("it is JSON");
    let mut other = run.clone();
    other.experiments.pop();
    assert!(Cached::read(&text, &other).is_none());
    assert!(Cached::read("{}", &run).is_none());
}
