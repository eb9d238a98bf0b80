//! Output streams and pages that cannot be written.

use crate::common::{LARGE_BUDGET, Place, scratch_files, wait_for};
use crate::end;
use predicates::str::contains;
use std::fs;
use std::process::Stdio;

#[test]
fn a_run_that_nobody_reads_any_more_ends_and_cleans_up() {
    let place = Place::new();
    let mut child = place.start_long_run();
    drop(child.stderr.take());
    let (output, stdout, _) = end(child);
    assert_eq!(output.status.code(), Some(141));
    assert!(stdout.contains("process.calls"), "{stdout}");
    assert!(scratch_files(&place.scratch()).is_empty());
}

#[test]
fn words_that_cannot_be_written_cost_nothing_but_the_exit_code() {
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
        return eprintln!("skipped: no /dev/full here");
    };
    let place = Place::new();
    let scratch = place.scratch();
    let full = || full.try_clone().expect("a descriptor");
    let run = |stdout: Stdio, stderr: Stdio| {
        let mut run = place.plain(&[
            "run",
            "process.calls",
            "--at",
            "call=getpid",
            "--budget",
            LARGE_BUDGET,
            "--no-page",
        ]);
        run.arg("--dir").arg(&scratch).stdout(stdout).stderr(stderr);
        end(run.spawn().expect("the program starts"))
    };
    let (output, stdout, _) = run(Stdio::piped(), full().into());
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout.contains("getpid"), "{stdout}");
    let (output, _, stderr) = run(full().into(), Stdio::piped());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr.contains("No space left"), "{stderr}");
    assert!(scratch_files(&scratch).is_empty());
    let help = place.plain(&["--help"]).stdout(full()).status();
    assert_eq!(help.expect("the program starts").code(), Some(1));
}

#[test]
fn a_page_whose_place_is_gone_costs_nothing_else() {
    let place = Place::new();
    let pages = place.path("pages");
    fs::create_dir(&pages).expect("a directory");
    let mut run = place.plain(&[
        "run",
        "process.calls",
        "--at",
        "call=getpid",
        "--budget",
        LARGE_BUDGET,
        "--page",
    ]);
    run.arg(pages.join("page.html"))
        .arg("--dir")
        .arg(place.scratch());
    let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    assert!(wait_for(|| place.samples() > 0), "the run never measured");
    fs::remove_dir(&pages).expect("nothing is in it");
    let (output, stdout, stderr) = end(child.expect("the program starts"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout.contains("[process.calls]"), "{stdout}");
    assert!(stderr.contains("page.html"), "{stderr}");
    place
        .oscope(&["show"])
        .assert()
        .success()
        .stdout(contains("[process.calls]"));
}
