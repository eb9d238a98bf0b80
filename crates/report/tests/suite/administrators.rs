//! Settings of the system: facts, and advice where a stored trial shows a gain.

use crate::fixture;
use advice::SystemSetting;
use instrument::definition::{Definition, Metric};
use instrument::point::{Axis, Point};
use oscope_report::advice::system;
use record::store::HistoryRun;
use std::sync::Arc;

const READ_AHEAD: &str = "sysfs:/sys/block/sda/queue/read_ahead_kb";

/// A trial of `varied`, in which each value took about `ns`.
fn trial(number: u64, experiment: &str, varied: &str, took: &[(&str, f64)]) -> HistoryRun {
    let definition = Definition {
        id: format!("ab.{experiment}"),
        axes: vec![
            Axis::choice("state", "state"),
            Axis::choice("variant", varied),
        ],
        metrics: vec![Metric::from(&Metric::time("time", "time"))],
        ..Definition::default()
    };
    let point = |(value, ns): &(&str, f64)| {
        let point = Point::new().with("state", "cold").with("variant", *value);
        let wall_ns = |pass| ns * (1.0 + 0.002 * f64::from(pass % 3));
        let batches = (0..8).map(|pass| fixture::timed("time", pass, 1.0, wall_ns(pass)));
        (Arc::new(point), batches.collect())
    };
    HistoryRun {
        number,
        started: "2026-03-01T15:00:00Z".parse().expect("a time"),
        definition: Arc::new(definition),
        points: took.iter().map(point).collect(),
    }
}

/// The setting called `name` after these trials, on a machine that reads 128 KiB ahead.
fn found(name: &str, trials: &[HistoryRun]) -> SystemSetting {
    let mut run = fixture::run();
    let storage = run.storage.as_mut().expect("it has one");
    storage.block_device = Some("sda".into());
    storage.read_ahead_bytes = Some(128 << 10);
    let all = system(&run, trials);
    let found = all.into_iter().find(|setting| setting.name == name);
    found.expect("it is a fact")
}

/// A trial of read-ahead, in which files that are not in memory took about `ns` with each value.
fn of_read_ahead(number: u64, took: &[(&str, f64)]) -> HistoryRun {
    trial(number, "file.cold_warm", READ_AHEAD, took)
}

const FASTER: [(&str, f64); 2] = [("128", 3e6), ("512", 2e6)];

#[test]
fn without_a_trial_nothing_is_advised() {
    for (fact, now) in [
        ("read_ahead", "128"),
        ("mitigations", "mds, spectre_v2"),
        ("mount_options", "ext4 with rw,relatime"),
    ] {
        let fact = found(fact, &[]);
        assert_eq!(fact.now, now);
        assert_eq!((fact.value, fact.gain), (None, None));
        assert_eq!((fact.set, fact.undo), (None, None));
    }
    let because = found("read_ahead", &[]).because;
    assert!(because.contains("`oscope advise --try read_ahead`"));
}

#[test]
fn what_a_trial_showed_to_gain_is_advised_with_its_commands() {
    let setting = found("read_ahead", &[of_read_ahead(7, &FASTER)]);
    assert_eq!(setting.value.as_deref(), Some("512"));
    let gain = setting.gain.expect("it gains");
    assert!((gain.ratio - 1.5).abs() < 0.01 && gain.low > Some(1.4));
    let because = &setting.because;
    let expected = "Run 7 tried it: file.cold_warm, cold is 1.5";
    assert!(because.starts_with(expected), "{because}");
    let path = "/sys/block/sda/queue/read_ahead_kb";
    assert_eq!(setting.set, Some(format!("echo 512 | sudo tee {path}")));
    assert_eq!(setting.undo, Some(format!("echo 128 | sudo tee {path}")));
}

#[test]
fn only_a_trial_of_the_value_now_on_this_device_counts() {
    let swapped = of_read_ahead(7, &[("512", 2e6), ("128", 3e6)]);
    let of_other_values = of_read_ahead(7, &[("256", 3e6), ("512", 2e6)]);
    let other = "sysfs:/sys/block/sdb/queue/read_ahead_kb";
    let of_other_device = trial(7, "file.cold_warm", other, &FASTER);
    let cases = [
        (swapped, Some("512")),
        (of_other_values, None),
        (of_other_device, None),
    ];
    for (trial, value) in cases {
        assert_eq!(found("read_ahead", &[trial]).value.as_deref(), value);
    }
}

#[test]
fn a_trial_that_is_too_short_is_named_and_not_called_untried() {
    let mut short = of_read_ahead(7, &FASTER);
    for (_, batches) in &mut short.points {
        batches.truncate(1);
    }
    let setting = found("read_ahead", &[short]);
    assert_eq!(setting.value, None);
    let expected = "Run 7 tried it, and did not show which value is faster.";
    assert_eq!(setting.because, expected);
}

#[test]
fn what_gains_here_and_loses_there_or_no_longer_gains_is_not_advised() {
    let slower = trial(8, "file.random", READ_AHEAD, &[("128", 2e6), ("512", 3e6)]);
    let no_longer = of_read_ahead(9, &[("128", 2e6), ("512", 2e6)]);
    for (other, named) in [(slower, "Run 8 tried it"), (no_longer, "Run 9 tried it")] {
        let setting = found("read_ahead", &[of_read_ahead(7, &FASTER), other]);
        assert_eq!(setting.value, None);
        assert!(setting.because.contains(named), "{}", setting.because);
    }
}
