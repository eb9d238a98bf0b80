//! Choosing, and reproducing without measurements.

use super::{Choice, Failed, Outcome, Report, Reproduction, tables};
use instrument::point::Point;
use instrument::quantity::{Quantity, Unit};
use instrument::results::{Estimate, PointResult, Results};
use instrument::statistics::Interval;
use platform::machine::Machine;

fn places(words: &str) -> Vec<&'static str> {
    let choice = Choice {
        report: None,
        place: Some(words.to_owned()),
    };
    let chosen = tables().iter().filter(|table| choice.includes(table));
    chosen.map(|table| table.id.as_str()).collect()
}

#[test]
fn a_place_is_named_as_the_report_names_it() {
    assert_eq!(places("Fig. 26"), ["e_calls"]);
    assert_eq!(places("figure 22"), ["e_phases"]);
    assert_eq!(places("e_mmap"), ["e_mmap"]);
    assert_eq!(places("Table 1"), ["d_locks"]);
    assert!(places("5").contains(&"a_calls") && places("5").contains(&"b_calls"));
    assert!(places("section 3.1").iter().all(|id| id.starts_with("e_")));
    assert!(places("nothing").is_empty());
}

#[test]
fn without_measurements_each_figure_has_a_reason_and_the_commands_measure_it() {
    let reproduced = Reproduction::new(&Choice::default(), &[], &[], "a processor");
    let figures = reproduced.figures();
    assert_eq!(figures.undecided, figures.all());
    assert_eq!(reproduced.shapes().undecided, reproduced.shapes().all());
    for judged in reproduced.tables.iter().flat_map(|table| &table.figures) {
        assert_eq!(judged.outcome, Outcome::Undecided);
        assert!(
            judged
                .reason
                .as_ref()
                .is_some_and(|reason| !reason.is_empty()),
            "{judged:?}"
        );
    }
    let commands = reproduced.commands();
    assert!(commands.contains(&vec!["run".to_owned(), "threads.lock".to_owned()]));
    let [.., open] = Reproduction::claims(&reproduced);
    assert_eq!(open, reproduced.claims.len());
}

#[test]
fn a_level_that_the_machine_refuses_has_the_reason_and_no_command() {
    let refused = Failed {
        experiment: "memory.bandwidth".into(),
        point: Some(Point::new().with("pages", "swap, memory limited")),
        reason: "it needs swap".into(),
    };
    let reproduced = Reproduction::new(&Choice::default(), &[], &[refused], "a processor");
    let figures = reproduced.tables.iter().flat_map(|table| &table.figures);
    let refused = figures.filter(|judged| {
        let reason = judged.reason.as_deref().unwrap_or_default();
        reason.contains("it needs swap")
    });
    let what: Vec<&str> = refused.map(|judged| judged.figure.what.as_str()).collect();
    assert!(
        what.contains(&"Swap Disk") && !what.contains(&"RAM"),
        "{what:?}"
    );
    let asked: Vec<String> = reproduced.commands().concat();
    assert!(!asked.contains(&"pages=swap, memory limited".to_owned()));
}

/// A warm read at this rate in blocks of this size, by one process in each of five passes.
fn warm_read((size, rate): (u64, f64)) -> PointResult {
    let between = |share: f64| Interval::new(rate * (1.0 - share), rate * (1.0 + share));
    let estimate = Estimate {
        metric: "throughput".into(),
        processes: 5,
        passes: 5,
        by_process: [0.999, 1.001, 1.0, 0.998, 1.002].map(|it| it * rate).into(),
        pass_of: (0..5).collect(),
        ..Quantity {
            interval: between(0.01),
            ..Quantity::exact(rate, Unit::BytesPerSecond)
        }
        .into()
    };
    PointResult {
        point: Point::new()
            .with("block_size", size)
            .with("pass", "read warm"),
        estimates: vec![estimate],
        warnings: Vec::new(),
        remarks: Vec::new(),
    }
}

#[test]
fn a_plateau_is_that_of_the_finding() {
    let experiment = experiments::find("file.block_size").expect("it exists");
    let (definition, machine) = (experiment.definition(), Machine::default());
    for (rates, expected) in [
        ([2e9, 4e9, 7e9, 7.9e9, 8e9], Some(128_u64 << 10)),
        ([2e9, 4e9, 7.9e9, 8e9, 8e9], Some(64 << 10)),
        // It still rises.
        ([2e9, 4e9, 6e9, 7e9, 8e9], None),
    ] {
        let sizes = [4 << 10, 32 << 10, 64 << 10, 128 << 10, 1 << 20];
        let points = sizes.into_iter().zip(rates).map(warm_read).collect();
        let results = Results {
            definition: &definition,
            machine: &machine,
            points,
        };
        let found = experiment.findings(&results);
        let finding = found.iter().find(|it| it.key == "plateau_read_warm");
        let plateau = finding.and_then(|it| it.number("plateau"));
        let choice = Choice {
            report: None,
            place: Some("a_block_size".into()),
        };
        let reproduced = Reproduction::new(&choice, &[results], &[], "a processor");
        let mut figures = reproduced.tables.iter().flat_map(|table| &table.figures);
        let here = figures
            .find(|it| it.figure.series == "plateau")
            .expect("it is there")
            .here;
        let bytes = |it: Quantity| it.value as u64;
        assert_eq!(here.map(bytes), expected);
        if expected.is_some() {
            assert_eq!(here, plateau);
        }
    }
}

#[test]
fn every_report_has_claims_or_figures() {
    for report in Report::ALL {
        let choice = Choice {
            report: Some(report),
            place: None,
        };
        let reproduced = Reproduction::new(&choice, &[], &[], "a processor");
        assert!(!reproduced.claims.is_empty(), "{report:?}");
        assert_eq!(
            report == Report::C,
            reproduced.tables.is_empty(),
            "{report:?}"
        );
    }
}
