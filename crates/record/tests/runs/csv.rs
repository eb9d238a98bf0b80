//! The table of all samples.

use crate::common::{batch, complete};
use instrument::point::Point;
use oscope_record::{PointRecord, Run, csv};
use std::fs;

/// `OSCOPE_RENEW_SCHEMA=1 cargo test -p oscope-record --test runs csv` renews it.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/run.csv");

fn table(run: &Run) -> String {
    let mut bytes = Vec::new();
    csv::write(run, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A point of the second experiment of `run`, which has others than the first.
fn add(run: &mut Run, point: Point) {
    run.experiments[1].points.push(PointRecord {
        point,
        batches: vec![batch(5)],
        closing: None,
    });
}

#[test]
fn every_timing_is_a_row_with_its_levels() {
    let mut run = complete(1);
    let point = Point::new().with("threads", 2);
    add(&mut run, point.with("operation", "a \"b\", c\nd"));
    let found = table(&run);
    if std::env::var_os("OSCOPE_RENEW_SCHEMA").is_some() {
        fs::write(TABLE, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(TABLE).unwrap());
}

#[test]
fn no_text_is_taken_for_a_formula_and_numbers_stay_numbers() {
    let hostile = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "-O2"];
    let plain = ["-1.5", "+3", "a=b", "1-2", ""];
    for level in hostile.into_iter().chain(plain) {
        let mut run = complete(1);
        add(&mut run, Point::new().with("operation", level));
        let table = table(&run);
        let mut reader = ::csv::Reader::from_reader(table.as_bytes());
        let names = reader.headers().unwrap().clone();
        let operation = names.iter().position(|name| name == "axis.operation");
        let last = reader.records().last().unwrap().unwrap();
        let shown = &last[operation.unwrap()];
        if hostile.contains(&level) {
            assert_eq!(shown, format!("'{level}"));
        } else {
            assert_eq!(shown, level);
        }
    }
}

#[test]
fn a_run_without_samples_is_a_header() {
    let table = table(&crate::common::begun(1));
    assert_eq!(table.lines().count(), 1);
}
