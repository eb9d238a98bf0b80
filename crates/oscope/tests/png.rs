//! Charts as PNG: with the default feature `png` an image, otherwise a hint on how to get it.

mod common;

use common::Place;
use std::fs;

const RUN: &str = "reference:pentium4-2003-linux";

#[test]
fn a_chart_is_written_as_png_where_the_program_can() {
    let place = Place::new();
    let chart = ["plot", "process.calls.rate", "--run", RUN, "--output"];
    is_written_where_the_program_can(&place, &chart, 2 * 860);
    is_written_where_the_program_can(&place, &["card", RUN, "--force", "--output"], 2 * 960);
}

/// Checks the picture that a command writes: its width in pixels, or the hint.
fn is_written_where_the_program_can(place: &Place, command: &[&str], pixels: u32) {
    let picture = place.path("chart.png");
    let plotted = place.oscope(command).arg(&picture).assert();
    if cfg!(feature = "png") {
        plotted.success();
        let png = fs::read(&picture).expect("the picture");
        assert!(png.starts_with(b"\x89PNG\r\n"));
        let width = u32::from_be_bytes(png[16..20].try_into().expect("four bytes"));
        assert_eq!(width, pixels);
    } else {
        plotted
            .code(2)
            .stderr(predicates::str::contains("the default features"));
        assert!(!picture.exists());
    }
}
