//! Samples as Parquet: with the feature `parquet` a file, otherwise a hint on how to get it.

mod common;

use common::Place;
use std::fs;

const RUN: &str = "reference:pentium4-2003-linux";

#[test]
fn samples_are_written_as_parquet_where_the_program_can() {
    let place = Place::new();
    let file = place.path("samples.parquet");
    let mut export = place.oscope(&["export", RUN, "--format", "parquet", "--output"]);
    let exported = export.arg(&file).assert();
    if cfg!(feature = "parquet") {
        exported.success();
        let parquet = fs::read(&file).expect("the file");
        assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    } else {
        exported
            .code(2)
            .stderr(predicates::str::contains("--features parquet"));
        assert!(!file.exists());
    }
}
