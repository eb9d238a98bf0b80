//! Output streams and pages that cannot be written.

use crate::common::{LARGE_BUDGET, LONG_RUN, Place, end, scratch_files, start};
use std::fs;

#[test]
fn a_run_that_nobody_reads_any_more_ends_and_cleans_up() {
    let place = Place::new();
    let mut child = start(&mut place.line(LONG_RUN));
    drop(child.stderr.take());
    let (output, stdout, _) = end(child);
    assert_eq!(output.status.code(), Some(141));
    assert!(stdout.contains("process.calls"), "{stdout}");
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn a_page_whose_place_is_gone_costs_nothing_else() {
    let place = Place::new();
    let pages = place.directory("pages");
    let run = "run process.calls --at call=getpid --page $pages/page.html --dir $scratch";
    let child = place.begun(&format!("{run} --budget {LARGE_BUDGET}"));
    fs::remove_dir(&pages).expect("nothing is in it");
    let (output, stdout, stderr) = end(child);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout.contains("[process.calls]"), "{stdout}");
    assert!(stderr.contains("page.html"), "{stderr}");
    check!(place => "show | 0 | > [process.calls]");
}
