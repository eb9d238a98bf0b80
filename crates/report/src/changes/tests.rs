//! Tests of changes over made-up runs.

use super::{Cause, Changes, Found, Gathering, together};
use crate::made_up::{analysis, clock, definition, estimate, result};
use crate::{Analysis, ExperimentAnalysis, Surroundings, reference};
use instrument::point::Point;
use instrument::statistics::Estimated;
use instrument::statistics::changes::{Change, Departure, Shape};

fn step(earliest: usize, at: usize, latest: usize) -> Found {
    let ratio = Estimated {
        centre: 1.1,
        interval: None,
    };
    let change = Change {
        at,
        between: (earliest, latest),
        ratio,
    };
    Found {
        history: 0,
        departure: Departure {
            shape: Shape::Step(change),
            p_value: 0.0,
        },
        adjusted_p: 0.0,
        between: (earliest, latest),
        at,
    }
}

/// The range and the number of steps of each group.
fn groups(steps: Vec<Found>) -> Vec<((usize, usize), usize)> {
    let groups = together(steps).into_iter();
    groups
        .map(|group| (group.between, group.found.len()))
        .collect()
}

#[test]
fn steps_at_the_same_runs_are_one_change() {
    let steps = vec![step(10, 12, 14), step(12, 12, 12), step(11, 12, 20)];
    assert_eq!(groups(steps), [((12, 12), 3)]);
}

#[test]
fn a_step_that_may_be_of_two_changes_goes_to_the_nearer() {
    let steps = vec![step(12, 12, 12), step(17, 18, 18), step(11, 17, 20)];
    assert_eq!(groups(steps), [((12, 12), 1), ((17, 18), 2)]);
    assert_eq!(groups(Vec::new()), []);
}

/// The changes over runs whose value is 100 ns under the first conditions, ten times, and `ns` under
/// the second, ten times.
fn changed_to(ns: f64, conditions: &[Surroundings; 2]) -> Changes {
    let definition = definition("process.calls");
    let run = reference::ALL[0].run();
    let mut gathering = Gathering::new("machine");
    for number in (0..20_u64).rev() {
        let is_later = number >= 10;
        let value = if is_later { ns } else { 100.0 } * (1.0 + 0.001 * (number % 3) as f64);
        let experiment = ExperimentAnalysis {
            definition: &definition,
            skipped: None,
            points: vec![result(Point::new(), vec![estimate(value)])],
            failures: Vec::new(),
            findings: Vec::new(),
            figures: Vec::new(),
        };
        let analysis = Analysis {
            surroundings: conditions[usize::from(is_later)].clone(),
            ..analysis(&run, vec![experiment])
        };
        gathering.add(number, &analysis);
    }
    gathering.finish()
}

fn at_ghz(ghz: f64) -> Surroundings {
    Surroundings {
        clock: Some(clock(&[(ghz / 4.0, 1.0)])),
        ..Surroundings::default()
    }
}

#[track_caller]
fn assert_cause(found: &Changes, cause: Cause, conditions: &[&str]) {
    let [event] = &found.events[..] else {
        panic!("{:?}", found.events)
    };
    assert_eq!(event.cause, cause);
    assert_eq!((event.earliest_run, event.latest_run), (10, 10));
    assert_eq!(event.conditions, conditions);
}

#[test]
fn a_change_under_other_conditions_is_not_the_systems() {
    let with_load = |others| Surroundings {
        others: Some(others),
        ..Surroundings::default()
    };
    let busy = changed_to(130.0, &[with_load(0.02), with_load(1.2)]);
    let load = "processors kept busy by other programs (0.020 before the change, 1.2 since the \
                change)";
    assert_cause(&busy, Cause::Conditions, &[load]);
    let with_tracer = |is_traced| Surroundings {
        is_traced: Some(is_traced),
        ..Surroundings::default()
    };
    let found = changed_to(300.0, &[with_tracer(false), with_tracer(true)]);
    let tracer = "another program traced oscope since the change only";
    assert_cause(&found, Cause::Conditions, &[tracer]);
    let alike = changed_to(130.0, &[with_load(1.2), with_load(1.25)]);
    assert_cause(&alike, Cause::System, &[]);
}

#[test]
fn a_change_that_the_clock_explains_is_not_the_systems() {
    let clocks = [at_ghz(4.08), at_ghz(3.58)];
    assert_cause(&changed_to(114.0, &clocks), Cause::Clock, &[]);
    // Half bound by memory, which keeps its speed.
    assert_cause(&changed_to(107.0, &clocks), Cause::Clock, &[]);
    assert_cause(&changed_to(130.0, &clocks), Cause::System, &[]);
    assert_cause(&changed_to(88.0, &clocks), Cause::System, &[]);
    let steady = [at_ghz(4.08), at_ghz(4.07)];
    assert_cause(&changed_to(114.0, &steady), Cause::System, &[]);
}
