//! Choosing, and reproducing without measurements.

use super::judge::TOLERANCE;
use super::{Choice, Failed, Measured, Outcome, Report, Reproduction, join_two, tables};
use crate::made_up::result;
use instrument::point::Point;
use instrument::quantity::{Quantity, Unit};
use instrument::results::{Estimate, Results};
use instrument::statistics::Interval;
use platform::machine::Machine;
use std::collections::BTreeMap;

fn choice(report: Option<Report>, place: Option<&str>) -> Choice {
    let place = place.map(str::to_owned);
    Choice { report, place }
}

fn places(words: &str) -> Vec<&'static str> {
    let choice = choice(None, Some(words));
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
    let choice = |report, place: &str| choice(Some(report), Some(place));
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
    let choice = choice(Some(Report::E), Some("Figure 42"));
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
    let choice = choice(Some(Report::C), None);
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
    let choice = choice(Some(Report::D), None);
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
fn a_figure_that_a_wide_interval_leaves_open_is_measured_again() {
    let table = tables().iter().find(|table| table.id == "a_calls");
    let figures = table.into_iter().flat_map(|table| &table.figures);
    let mut with_rates = figures.filter_map(|figure| Some((figure, figure.here.as_ref()?)));
    let (figure, query) = with_rates
        .find(|(_, query)| query.inverse_of.is_none() && query.times.is_none())
        .expect("a rate as it is measured");
    let experiment = experiments::find(&query.experiment).expect("it exists");
    let (definition, machine) = (experiment.definition(), Machine::default());
    let levels = query.levels.clone().into_iter();
    let point = levels.fold(Point::new(), |point, (axis, level)| {
        point.with(&axis, level)
    });
    let wanted = |times: f64, half: f64| {
        let value = figure.value() * times;
        let interval = Interval::new(value * (1.0 - half), value * (1.0 + half));
        let quantity = Quantity::new(value, interval, Unit::OperationsPerSecond);
        let estimate = Estimate {
            metric: query.metric.clone(),
            processes: 5,
            ..quantity.into()
        };
        let results = [Results {
            definition: &definition,
            machine: &machine,
            points: vec![result(point.clone(), vec![estimate])],
        }];
        let measured = Measured {
            results: &results,
            ..Measured::default()
        };
        let choice = choice(Some(Report::A), Some("a_calls"));
        let reproduced = Reproduction::new(&choice, &measured);
        let mut judged = reproduced.tables.iter().flat_map(|table| &table.figures);
        let judged = judged.find(|it| std::ptr::eq(it.figure, figure));
        judged.expect("it is chosen").wanted.len()
    };
    assert_eq!(wanted(TOLERANCE, 0.1), 1, "wide");
    assert_eq!(
        wanted(TOLERANCE, 0.01),
        0,
        "precise, and at the bound itself"
    );
    assert_eq!(wanted(2.0, 0.1), 0, "decided");
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
        let reproduced = Reproduction::new(&choice(Some(report), None), &Measured::default());
        assert!(!reproduced.claims.is_empty(), "{report:?}");
        assert!(!reproduced.tables.is_empty(), "{report:?}");
        assert_eq!(
            report == Report::C,
            reproduced.figures().all() == 0,
            "{report:?}"
        );
    }
}
