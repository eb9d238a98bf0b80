//! Choosing, and reproducing without measurements.

use super::{Choice, Failed, Measured, Outcome, Report, Reproduction, join_two, tables};
use instrument::point::Point;
use instrument::results::Results;
use platform::machine::Machine;
use std::collections::BTreeMap;

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
    assert_eq!(places("BM_dd/512"), ["b_benchmark"]);
    assert!(places("5").contains(&"a_calls") && places("5").contains(&"b_calls"));
    assert!(places("section 3.1").iter().all(|id| id.starts_with("e_")));
    assert!(places("nothing").is_empty());
}

#[test]
fn every_graph_and_every_listing_of_a_report_is_found_by_its_place() {
    let choice = |report, place: &str| Choice {
        report: Some(report),
        place: Some(place.to_owned()),
    };
    let found = |choice: &Choice| {
        tables()
            .iter()
            .filter(|table| choice.includes(table))
            .count()
    };
    // Report E has 42 figures, of which each is a picture, a table or a listing.
    for number in 1..=42 {
        let choice = choice(Report::E, &format!("Figure {number}"));
        assert!(
            found(&choice) > 0 || choice.listing().is_some(),
            "{choice:?}"
        );
    }
    for section in 2..=6 {
        assert!(
            found(&choice(Report::A, &section.to_string())) > 0,
            "{section}"
        );
    }
    assert_eq!(found(&choice(Report::C, "master vs slave")), 2);
}

#[test]
fn a_picture_that_was_not_drawn_here_names_its_reason_and_is_measured() {
    let choice = Choice {
        report: Some(Report::E),
        place: Some("Figure 42".to_owned()),
    };
    let reproduced = Reproduction::new(&choice, &Measured::default());
    let [shown] = reproduced.tables.as_slice() else {
        panic!("{reproduced:?}")
    };
    assert!(shown.drawn.charts.is_empty());
    let reasons = shown.drawn.reasons.join("; ");
    assert!(reasons.contains("not measured here yet"), "{reasons}");
    assert!(reasons.contains("made on Windows"), "{reasons}");
    assert_eq!(reproduced.commands(), [["run", "process.call_styles"]]);
}

#[test]
fn measurements_share_a_command_only_if_all_combinations_are_needed() {
    let wanted = |points: &[[&'static str; 2]]| {
        let point = |[size, block]: &[&'static str; 2]| {
            let levels = [("size", *size), ("block", *block)];
            let levels = levels.map(|(axis, level)| (axis, vec![level.to_owned()]));
            ("file.call", BTreeMap::from(levels))
        };
        let mut wanted = points.iter().map(point).collect();
        while join_two(&mut wanted) {}
        wanted.len()
    };
    assert_eq!(wanted(&[["1", "a"], ["1", "b"], ["2", "a"], ["2", "b"]]), 1);
    assert_eq!(wanted(&[["1", "a"], ["1", "b"], ["2", "a"]]), 2);
    assert_eq!(wanted(&[["1", "a"], ["2", "b"]]), 2);
}

#[test]
fn experiments_of_claims_are_measured_too() {
    let choice = Choice {
        report: Some(Report::C),
        place: None,
    };
    let commands = Reproduction::new(&choice, &Measured::default()).commands();
    for experiment in ["transfer.file", "transfer.growth"] {
        assert!(
            commands.contains(&vec!["run".to_owned(), experiment.to_owned()]),
            "{commands:?}"
        );
    }
}

#[test]
fn a_claim_that_needs_more_than_the_quick_plan_asks_for_the_standard_one() {
    let experiment = experiments::find("threads.lock").expect("it exists");
    let definition = experiment.definition();
    let machine = Machine::default();
    let one = Results {
        definition: &definition,
        machine: &machine,
        points: Vec::new(),
    };
    let results = [one];
    let choice = Choice {
        report: Some(Report::D),
        place: None,
    };
    let longer = |incomplete: &[&'static str]| {
        let measured = Measured {
            results: &results,
            together: &results,
            incomplete,
            ..Measured::default()
        };
        let mut commands = Reproduction::new(&choice, &measured).commands();
        commands.retain(|it| it[1] == "threads.lock");
        let longer = commands
            .iter()
            .filter(|it| it[2..] == ["--profile", "standard"]);
        [longer.count(), commands.len()]
    };
    // Points that are missing wait for the longer run, which may have them.
    assert_eq!(longer(&["threads.lock", "threads.io"]), [1, 1]);
    // All of the standard plan was tried: more would not decide the claim.
    assert_eq!(longer(&[])[0], 0);
    assert!(longer(&[])[1] > 1);
}

#[test]
fn without_measurements_each_figure_has_a_reason_and_the_commands_measure_it() {
    let reproduced = Reproduction::new(&Choice::default(), &Measured::default());
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
    let reproduced = Reproduction::new(
        &Choice::default(),
        &Measured {
            failed: &[refused],
            ..Measured::default()
        },
    );
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

#[test]
fn every_report_has_claims_and_places_and_only_one_prints_no_figure() {
    for report in Report::ALL {
        let choice = Choice {
            report: Some(report),
            place: None,
        };
        let reproduced = Reproduction::new(&choice, &Measured::default());
        assert!(!reproduced.claims.is_empty(), "{report:?}");
        assert!(!reproduced.tables.is_empty(), "{report:?}");
        assert_eq!(
            report == Report::C,
            reproduced.figures().all() == 0,
            "{report:?}"
        );
    }
}
