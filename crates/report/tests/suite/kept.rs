//! A kept analysis is the analysis.

use crate::fixture;
use oscope_report::json;
use oscope_report::kept::{Kept, to_text};

#[test]
fn a_kept_analysis_is_read_as_it_was() {
    let run = fixture::run();
    let mut analysis = fixture::analysis(&run);
    // Only claims that the program knows are kept, and failures are read from the run.
    for ((claim, _), known) in analysis.claims.iter_mut().zip(experiments::claims()) {
        *claim = known;
    }
    for experiment in &mut analysis.experiments {
        experiment.failures.clear();
    }
    let text = to_text(&analysis).expect("it is JSON");
    let kept = Kept::read(&text, &run).expect("it fits its run");
    let again = kept.analysis(&run);
    assert_eq!(json::analysis(&again), json::analysis(&analysis));
    assert_eq!(to_text(&again).expect("it is JSON"), text);
}

#[test]
fn what_does_not_fit_is_not_read() {
    let run = fixture::run();
    let text = to_text(&fixture::analysis(&run)).expect("it is JSON");
    let mut other = run.clone();
    other.experiments.pop();
    assert!(Kept::read(&text, &other).is_none());
    assert!(Kept::read("{}", &run).is_none());
}
