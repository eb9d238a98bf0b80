//! Every lab names what exists, and answers are read and judged.

use super::{
    Accuracy, Answers, Class, Found, HandIn, Lab, Measure, Prediction, PrintedFigure, Sides,
    Student, find, labs, template,
};
use crate::made_up;
use crate::reproduce::Query;
use instrument::point::{Level, Point};
use instrument::results::{Estimate, Results};
use std::collections::BTreeSet;

#[test]
fn every_lab_names_what_exists() {
    assert_eq!(labs().len(), 8);
    for lab in labs() {
        assert!(std::ptr::eq(find(&lab.name).expect("it is listed"), lab));
        let keys: BTreeSet<&str> = lab.questions.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys.len(), lab.questions.len(), "{}", lab.name);
        for step in &lab.steps {
            let known = experiments::find(&step.experiment).expect(&step.experiment);
            let known = known.definition();
            for level in &step.at {
                let (axis, _) = level.split_once('=').expect(level);
                assert!(known.axis(axis).is_some(), "{}: {axis}", lab.name);
            }
        }
        for question in &lab.questions {
            let printed: Vec<&PrintedFigure> = match &question.measured {
                Measure::Against { printed, .. } => {
                    question.reported.iter().chain([printed]).collect()
                }
                _ => question.reported.iter().collect(),
            };
            for printed in printed {
                assert!(printed.find().is_some(), "{}: {printed:?}", lab.name);
            }
            for query in question.measured.queries() {
                exists(lab, query);
            }
        }
    }
}

/// The query has a metric and levels of its experiment, which the lab measures.
fn exists(lab: &Lab, query: &Query) {
    let id = query.experiment.as_str();
    assert!(lab.experiments().contains(&id), "{query:?}");
    query.checked();
    let steps = lab.steps.iter().filter(|step| step.experiment == id);
    let chosen: Vec<&String> = steps.flat_map(|step| &step.at).collect();
    for (axis, level) in &query.levels {
        // Chosen levels hold the level that is asked for.
        let prefix = format!("{axis}=");
        let of_axis: Vec<&str> = chosen
            .iter()
            .filter_map(|it| it.strip_prefix(&prefix))
            .collect();
        let is_asked = |text: &&str| match level {
            Level::Choice(name) => text == name,
            Level::Number(number) => {
                text.parse::<instrument::quantity::Bytes>()
                    .is_ok_and(|it| it.0 == *number)
                    || text.parse::<u64>().is_ok_and(|it| it == *number)
            }
        };
        assert!(
            of_axis.is_empty() || of_axis.iter().any(is_asked),
            "{query:?}: {of_axis:?}"
        );
    }
}

#[test]
fn a_template_reads_back_as_no_answers() {
    for lab in labs() {
        let answers = Answers::read(lab, &template(lab)).expect("it is one");
        assert_eq!(answers, Answers::default(), "{}", lab.name);
        assert_eq!(answers.missing(lab).len(), lab.questions.len());
    }
}

#[test]
fn predictions_are_numbers_with_units_or_choices() {
    let lab = find("blocks").expect("it is a lab");
    let read = |text: &str| Answers::read(lab, text);
    let text = "student = Anna\nspeed = 2 GB/s\ndearer = 2\nplateau=64KiB\ncall.why = a = b";
    let answers = read(text).expect("answers");
    assert_eq!(answers.student.as_deref(), Some("Anna"));
    assert_eq!(answers.predictions["speed"], Prediction::Number(2e9));
    assert_eq!(
        answers.predictions["dearer"],
        Prediction::Choice("lseek".into())
    );
    assert_eq!(answers.predictions["plateau"], Prediction::Number(65536.0));
    assert_eq!(answers.reasons["call"], "a = b");
    for (wrong, expected) in [
        ("speed = 3", "speed"),
        ("speed = fast", "speed"),
        ("dearer = write", "read, lseek"),
        ("other = 3", "plateau"),
        ("no answer", "key = value"),
    ] {
        let error = read(wrong).expect_err(wrong).to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
    let caches = find("caches").expect("it is a lab");
    for wrong in ["read = 0", "read = -3", "read = nan", "near = 0 ns"] {
        assert!(Answers::read(caches, wrong).is_err(), "{wrong}");
    }
}

/// A hand-in of lab `locks`, of which the spin lock takes `us` where threads yield.
fn locks(us: f64) -> HandIn {
    let lab = find("locks").expect("it is a lab");
    let definition = experiments::find("threads.lock")
        .expect("it exists")
        .definition();
    let machine = platform::machine::Machine::default();
    let point = |body: &str, lock: &str, us: f64| {
        let point = Point::new()
            .with("body", body)
            .with("lock", lock)
            .with("threads", Level::Number(10));
        let estimate = Estimate {
            metric: "run".into(),
            ..made_up::estimate(us * 1e3)
        };
        made_up::result(point, vec![estimate])
    };
    let results = [Results {
        definition: &definition,
        machine: &machine,
        points: vec![
            point("simple", "Lock", 10.0),
            point("simple", "SpinLock", 5.0),
            point("simple yield", "Lock", 20.0),
            point("simple yield", "SpinLock", us),
        ],
    }];
    let text = "short = SpinLock\nyields = SpinLock\nfactor = 10\nfactor.why = <b>slices</b>";
    let answers = Answers::read(lab, text).expect("answers");
    let student = Student {
        name: "Anna | Berta".into(),
        ..Student::default()
    };
    HandIn::new(lab, &answers, &Sides::new(&results, None), student)
}

#[test]
fn a_prediction_is_next_to_its_measurement_and_the_report() {
    let hand_in = locks(2000.0);
    let outcomes: Vec<Accuracy> = hand_in.answers.iter().map(|it| it.outcome).collect();
    assert_eq!(
        outcomes,
        [Accuracy::Right, Accuracy::Wrong, Accuracy::TooLow]
    );
    assert_eq!(hand_in.score(), (1, 3));
    let Found::Number(factor) = &hand_in.answers[2].measured else {
        panic!("{hand_in:?}");
    };
    assert!((factor.value - 100.0).abs() < 1.0);
    let text = crate::markdown::paint(&crate::view::hand_in(&hand_in, Vec::new()), 1);
    assert!(
        text.contains("716165 µs") && text.contains("Report D, Table 1"),
        "{text}"
    );
    assert!(
        text.contains("Anna \\| Berta") && !text.contains("<b>"),
        "{text}"
    );
    // Both are equal: neither is the better one.
    assert_eq!(locks(20.0).answers[1].outcome, Accuracy::Undecided);
}

#[test]
fn a_document_is_read_back_and_a_class_is_side_by_side() {
    let hand_in = locks(2000.0);
    let text = serde_json::to_string_pretty(&hand_in).expect("JSON");
    assert_eq!(HandIn::read(&text).expect("a hand-in"), hand_in);
    assert!(HandIn::read("{}").is_err());
    let newer = text.replacen("\"format\": 1", "\"format\": 2", 1);
    assert!(HandIn::read(&newer).is_err());
    let class = Class::new(&[hand_in, locks(300.0)]);
    assert_eq!(class.questions.len(), 3);
    assert!(class.questions.iter().all(|it| it.rows.len() == 2));
}
