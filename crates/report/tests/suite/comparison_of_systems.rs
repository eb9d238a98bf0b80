//! Comparisons of a run on Linux with one on Windows.

use crate::fixture::{self, record, timed};
use instrument::point::Point;
use oscope_report::comparison::{self, Comparison, MARGIN, Question, Side};
use record::Run;

const LINUX: &str = "Linux";
const WINDOWS: &str = "Windows NT";

/// A value of an experiment: its id, point, metric and number of operations, or bytes, in a millisecond.
type Made<'a> = (&'a str, Point, &'a str, f64);

fn call(name: &str) -> Point {
    Point::new().with("call", name).with("optimisation", 3)
}

/// A run on `system`, of which five processes gave each value.
fn run(id: &str, system: &str, values: &[Made<'_>]) -> Run {
    let mut run = fixture::run();
    run.header.id = id.into();
    run.environment.kernel_name = Some(system.into());
    let records = values.iter().map(|(id, point, metric, work)| {
        let wall_ns = |process| 1e6 + 100.0 * f64::from(process);
        let batches = (0..5).map(|process| timed(metric, process, *work, wall_ns(process)));
        record(id, [(point.clone(), batches.collect())].into_iter())
    });
    run.experiments = records.collect();
    run
}

pub(crate) fn side(label: &str, runs: Vec<Run>) -> Side {
    Side {
        label: label.into(),
        runs,
    }
}

pub(crate) fn compared<'a>(a: &'a Side, b: &'a Side) -> Comparison<'a> {
    let question = Question {
        a,
        b,
        baseline: None,
        margin: MARGIN,
    };
    Comparison::new(question).expect("they have values in common")
}

fn on_linux(id: &str) -> Run {
    let values = [
        ("process.calls", call("read 1 byte"), "rate", 1000.0),
        ("process.calls", call("lseek"), "rate", 2000.0),
        ("process.calls", call("fork+exit+wait"), "rate", 1.0),
        ("process.scale", threads(), "page_fault", 1000.0),
        ("memory.latency", memory(), "load", 1000.0),
    ];
    run(id, LINUX, &values)
}

fn on_windows() -> Run {
    let values = [
        ("process.calls", call("ReadFile 1 byte"), "rate", 500.0),
        ("process.calls", call("SetFilePointerEx"), "rate", 1000.0),
        ("process.scale", threads(), "page_fault", 500.0),
        ("memory.latency", memory(), "load", 1000.0),
    ];
    run("2", WINDOWS, &values)
}

fn linux_and_windows() -> [Side; 2] {
    let (a, b) = (on_linux("1"), on_windows());
    [side("a", vec![a]), side("b", vec![b])]
}

fn threads() -> Point {
    Point::new().with("threads", 2)
}

fn memory() -> Point {
    Point::new()
        .with("working_set", 4096)
        .with("stride", 64)
        .with("pages", "4 KiB pages")
}

fn remarks_with<'c>(compared: &'c Comparison<'_>, words: &str) -> Vec<&'c String> {
    let remarks = compared.remarks.iter();
    remarks.filter(|remark| remark.contains(words)).collect()
}

/// Why the only refused experiment is.
fn refusal<'c>(compared: &'c Comparison<'_>) -> &'c str {
    let [refused] = &compared.refused[..] else {
        panic!("{:?}", compared.refused);
    };
    assert_eq!(refused.experiment, "process.scale");
    &refused.reason
}

#[test]
fn calls_for_one_purpose_are_joined_and_their_difference_is_named_once() {
    let [a, b] = linux_and_windows();
    for (first, second, ratio) in [(&a, &b, 0.5), (&b, &a, 2.0)] {
        let compared = compared(first, second);
        let rows = compared.rows.iter();
        let calls = rows.filter(|row| row.definition.id == "process.calls");
        let ratios: Vec<f64> = calls.map(|row| row.ratio).collect();
        assert_eq!(ratios.len(), 2);
        assert!(ratios.iter().all(|it| (it / ratio - 1.0).abs() < 0.01));
        assert_eq!(remarks_with(&compared, "read, write and lseek").len(), 1);
    }
    let compared = compared(&a, &b);
    assert_eq!(
        compared.rows[0].place(),
        "read 1 byte against ReadFile 1 byte, optimisation 3: rate"
    );
    let json = comparison::json(&[compared]);
    let value = &json["comparisons"][0]["values"][0];
    assert_eq!(value["levels"]["call"], "read 1 byte");
    assert_eq!(value["b_levels"]["call"], "ReadFile 1 byte");
    assert!(value["difference"].as_str().is_some());
}

#[test]
fn a_side_whose_system_is_another_one_is_named_first() {
    let mut windows = on_windows();
    windows.environment.stand_in = Some("Wine 8.0".into());
    let (a, b) = (side("a", vec![on_linux("1")]), side("b", vec![windows]));
    assert_eq!(
        compared(&a, &b).remarks[0],
        "b: Measured under Wine 8.0, not on Windows NT: its times say nothing about that system."
    );
}

#[test]
fn experiments_with_one_difference_are_named_together() {
    let values = |work| {
        let of_size = Point::new()
            .with("block_size", 4096)
            .with("file_size", 1 << 20);
        let of_block = of_size.clone().with("pass", "write");
        [
            ("file.block_size", of_block, "throughput", work),
            ("file.size", of_size, "throughput", work),
        ]
    };
    let a = side("a", vec![run("1", LINUX, &values(1000.0))]);
    let b = side("b", vec![run("2", WINDOWS, &values(500.0))]);
    let compared = compared(&a, &b);
    let [remark] = remarks_with(&compared, "ReadFile")[..] else {
        panic!("{:?}", compared.remarks)
    };
    assert!(
        remark.starts_with("file.block_size, file.size: "),
        "{remark}"
    );
}

#[test]
fn what_each_system_does_in_its_own_way_is_refused_with_the_reason() {
    let [a, b] = linux_and_windows();
    let compared = compared(&a, &b);
    let mut rows = compared.rows.iter();
    assert!(rows.all(|row| row.definition.id != "process.scale"));
    assert!(refusal(&compared).contains("calls of its own"));
    assert_eq!(compared.unmatched.get("process.calls"), Some(&[1, 0]));
}

#[test]
fn what_is_the_same_everywhere_needs_no_words() {
    let [a, b] = linux_and_windows();
    let compared = compared(&a, &b);
    let mut rows = compared.rows.iter();
    let row = rows.find(|row| row.definition.id == "memory.latency");
    assert_eq!(row.expect("it is joined").other_point, None);
    assert_eq!(remarks_with(&compared, "memory.latency"), [""; 0]);
}

#[test]
fn on_one_system_everything_is_joined_by_its_name() {
    let [a, b] = ["1", "3"].map(|id| side(id, vec![on_linux(id)]));
    let compared = compared(&a, &b);
    assert_eq!(compared.rows.len(), 5);
    assert!(compared.rows.iter().all(|row| row.other_point.is_none()));
    assert!(compared.refused.is_empty());
}

#[test]
fn sessions_of_two_systems_are_no_side_where_the_system_is_asked() {
    let mixed = side("mixed", vec![on_linux("1"), on_windows()]);
    let other = side("other", vec![on_linux("3")]);
    let compared = compared(&mixed, &other);
    let reason = refusal(&compared);
    assert!(
        reason.contains("Linux") && reason.contains("Windows"),
        "{reason}"
    );
    let mut rows = compared.rows.iter();
    assert!(rows.any(|row| row.definition.id == "memory.latency" && row.a.sessions.len() == 2));
}
