//! The table of all samples.

use crate::common::{batch, complete};
use instrument::point::Point;
use instrument::runner::Ending;
use oscope_record::{Closing, PointRecord, Run};

fn table(run: &Run) -> (Vec<String>, Vec<Vec<String>>) {
    let mut bytes = Vec::new();
    oscope_record::csv::write(run, &mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let header = reader.headers().unwrap().iter().map(String::from).collect();
    let rows = reader
        .records()
        .map(|row| row.unwrap().iter().map(String::from).collect());
    (header, rows.collect())
}

#[test]
fn every_timing_is_a_row_with_its_levels() {
    let mut run = complete(1);
    let point = Point::new()
        .with("threads", 2)
        .with("operation", "a \"b\", c\nd");
    let closing = Some(Closing {
        ending: Ending::BudgetUsed,
        warnings: Vec::new(),
    });
    let other = PointRecord {
        point,
        batches: vec![batch(5)],
        closing,
    };
    run.experiments[1].points.push(other);
    let (header, rows) = table(&run);
    // Each batch of five samples has a sample of two legs and a short one.
    assert_eq!(rows.len(), run.sample_count() / 5 * 7);
    assert_eq!(
        header[..10],
        [
            "run",
            "experiment",
            "axis.operation",
            "axis.block_size",
            "axis.threads",
            "batch",
            "pass",
            "sample",
            "metric",
            "unit"
        ]
    );
    let field = |row: usize, name: &str| {
        rows[row][header.iter().position(|column| column == name).unwrap()].as_str()
    };
    assert_eq!(field(0, "run"), run.header.id);
    assert_eq!(field(0, "axis.block_size"), "4096");
    assert_eq!(field(0, "axis.threads"), "");
    assert_eq!(field(0, "unit"), "bytes_per_second");
    assert_eq!(field(0, "kind"), "once");
    assert_eq!(field(0, "wall_ns"), "2000000");
    assert_eq!(field(0, "value"), "");
    assert_eq!(field(8, "batch"), "1");
    assert_eq!(field(8, "pass"), "1");
    assert_eq!(field(8, "sample"), "1");
    assert_eq!(field(8, "work"), "0.30000000000000004");
    assert_eq!(field(8, "reference_ns"), "10400");
    assert_eq!(field(9, "reference_ns"), "");
    for (name, cell) in [
        ("chain_before_ns", "2351"),
        ("chain_after_ns", "2360"),
        ("switches_around", "1"),
        ("cpu", "3"),
    ] {
        assert_eq!(field(8, name), cell);
        assert_eq!(field(9, name), "");
    }
    assert_eq!(
        (field(12, "chain_after_ns"), field(12, "cpu")),
        ("2360", "")
    );
    assert_eq!(field(10, "value").parse(), Ok(-1.25e-7));
    let legs = [
        (11, "leg", "50", "200001", "10300"),
        (12, "leg", "50", "210000", "20600"),
        (13, "short_leg", "5", "21000", ""),
    ];
    for (row, kind, iterations, wall_ns, reference_ns) in legs {
        assert_eq!(field(row, "sample"), (row - 7).to_string());
        assert_eq!(field(row, "kind"), kind);
        assert_eq!(field(row, "work"), "4096");
        assert_eq!(field(row, "iterations"), iterations);
        assert_eq!(field(row, "wall_ns"), wall_ns);
        assert_eq!(field(row, "reference_ns"), reference_ns);
    }
    assert_eq!(field(14, "axis.operation"), "a \"b\", c\nd");
    assert_eq!(field(14, "axis.block_size"), "");
    assert_eq!(field(14, "at_ns"), "12350");
}

#[test]
fn no_text_is_taken_for_a_formula_and_numbers_stay_numbers() {
    let hostile = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "-O2"];
    let plain = ["-1.5", "+3", "a=b", "1-2", ""];
    for level in hostile.into_iter().chain(plain) {
        let mut run = complete(1);
        run.experiments[1].points.push(PointRecord {
            point: Point::new().with("operation", level),
            batches: vec![batch(5)],
            closing: None,
        });
        let (header, rows) = table(&run);
        let operation = header.iter().position(|name| name == "axis.operation");
        let shown = &rows.last().unwrap()[operation.unwrap()];
        if hostile.contains(&level) {
            assert_eq!(*shown, format!("'{level}"));
        } else {
            assert_eq!(shown, level);
        }
    }
}

#[test]
fn a_run_without_samples_is_a_header() {
    let (header, rows) = table(&crate::common::begun(1));
    assert_eq!(header.len(), 29);
    assert!(rows.is_empty());
}
