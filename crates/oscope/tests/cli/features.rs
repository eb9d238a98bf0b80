//! Files of features: pictures as PNG and samples as Parquet, or a hint on how to get them.

use crate::common::{Place, REPORT};
use std::fs;

/// The file that `command` writes; without the feature, the hint is checked.
fn written(command: &str, file: &str, has_feature: bool, hint: &str) -> Option<Vec<u8>> {
    let place = Place::new();
    if has_feature {
        check!(place => "{command} --output ${file} | 0");
        return Some(fs::read(place.path(file)).expect("the file"));
    }
    check!(place => "{command} --output ${file} | 2 | 2> {hint}");
    assert!(!place.path(file).exists());
    None
}

#[test]
fn charts_are_written_as_png_where_the_program_can() {
    for (command, pixels) in [
        (format!("plot process.calls.rate --run {REPORT}"), 2 * 440),
        (format!("card {REPORT} --force"), 2 * 1128),
    ] {
        let hint = "--features png";
        if let Some(png) = written(&command, "chart.png", cfg!(feature = "png"), hint) {
            assert!(png.starts_with(b"\x89PNG\r\n"));
            let width = u32::from_be_bytes(png[16..20].try_into().expect("four bytes"));
            assert_eq!(width, pixels);
        }
    }
}

#[test]
fn samples_are_written_as_parquet_where_the_program_can() {
    let export = format!("export {REPORT} --format parquet");
    let has_feature = cfg!(feature = "parquet");
    let hint = "--features parquet";
    if let Some(parquet) = written(&export, "samples.parquet", has_feature, hint) {
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    }
}
