//! A cached analysis is the analysis.

use crate::fixture;
use oscope_report::cached::{Cached, to_text};
use oscope_report::json;

#[test]
fn a_cached_analysis_is_read_as_it_was() {
    let mut analysis = fixture::analysis();
    // Only claims that the program knows are cached.
    for ((claim, _), known) in analysis.claims.iter_mut().zip(experiments::claims()) {
        *claim = known;
    }
    let text = to_text(&analysis).expect("it is JSON");
    let cached = Cached::read(&text, analysis.run).expect("it fits its run");
    let again = cached.analysis(analysis.run);
    assert_eq!(json::analysis(&again), json::analysis(&analysis));
    assert_eq!(to_text(&again).expect("it is JSON"), text);
}

#[test]
fn what_does_not_fit_is_not_read() {
    let text = to_text(&fixture::analysis()).expect("it is JSON");
    let mut other = fixture::run();
    other.experiments.pop();
    assert!(Cached::read(&text, &other).is_none());
    assert!(Cached::read("{}", &fixture::run()).is_none());
}
