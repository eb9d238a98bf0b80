//! Made-up fleets: who is named, and who is not.

use super::reading::{Cell, Key, Meaning, RunValue};
use super::{Fleet, Gathering, Node, Reading, Standing, Unjudged, json};
use crate::Surroundings;
use crate::comparison::Circumstance;
use crate::made_up;
use instrument::component::Component;
use instrument::experiment::Better;
use instrument::plan::Profile;
use instrument::point::{Choice, Point};
use instrument::quantity::Unit;
use instrument::statistics::moderation::Variance;
use instrument::statistics::peers::Observation;
use instrument::statistics::random::Random;

const COMPONENTS: [Component; 4] = [
    Component::Core,
    Component::Memory,
    Component::Calls,
    Component::Disk,
];
/// Values of each component.
const VALUES: u64 = 8;
/// The error of a value within a run, as its run estimates it.
const ERROR: f64 = 0.01;

/// A node whose components are `shift(component)` slower, in logarithms.
pub(super) fn reading(
    name: &str,
    random: &mut Random,
    shift: impl Fn(Component) -> f64,
) -> Reading {
    let mut values = Vec::new();
    for component in COMPONENTS {
        // Nodes differ a little, by component.
        let of_node = 0.005 * random.normal();
        for index in 0..VALUES {
            let value = 3.0 + of_node + ERROR * random.normal() - shift(component);
            values.push(RunValue {
                key: Key {
                    component,
                    experiment: format!("made.{}", component.name()),
                    point: Point::new().with("size", index),
                    metric: "time".into(),
                },
                meaning: meaning(1),
                found: Ok(Cell {
                    found: Observation {
                        value,
                        error: Some(Variance {
                            value: ERROR.powi(2),
                            degrees: 9.0,
                        }),
                    },
                    is_doubtful: false,
                    sides: None,
                }),
            });
        }
    }
    let definition = |it: Component| made_up::definition(&format!("made.{}", it.name()));
    Reading {
        run: format!("run of {name}"),
        machine: format!("machine of {name}"),
        host: None,
        switch: None,
        profile: Profile::Quick,
        version: "1".into(),
        is_finished: true,
        facts: [("environment.kernel_release".to_owned(), "6.1".to_owned())].into(),
        surroundings: Surroundings::default(),
        definitions: COMPONENTS.map(definition).to_vec(),
        values,
        unknown: 0,
    }
}

fn meaning(version: u32) -> Meaning {
    Meaning {
        version,
        unit: Unit::Nanoseconds,
        better: Better::Lower,
        system: None,
    }
}

/// Readings of `count` nodes, of which the first is slower by `shift`.
pub(super) fn readings(
    count: usize,
    seed: u64,
    shift: impl Fn(Component) -> f64,
) -> Vec<(String, Reading)> {
    let mut random = Random::new(seed);
    let name = |index: usize| format!("n{index:03}");
    let node = |index: usize| {
        let of_node = |component| if index == 0 { shift(component) } else { 0.0 };
        (name(index), reading(&name(index), &mut random, of_node))
    };
    (0..count).map(node).collect()
}

/// A shift of one component.
pub(super) fn slow(component: Component, by: f64) -> impl Fn(Component) -> f64 + Copy {
    move |it| if it == component { by } else { 0.0 }
}

fn healthy(count: usize, seed: u64) -> Vec<(String, Reading)> {
    readings(count, seed, |_| 0.0)
}

/// Makes the values of `component` in a reading better by `by`, in logarithms.
pub(super) fn improve(reading: &mut Reading, component: Component, by: f64) {
    let values = reading.values.iter_mut();
    for value in values.filter(|value| value.key.component == component) {
        let cell = value.found.as_mut().expect("made-up values are sound");
        cell.found.value += by;
    }
}

pub(super) fn gathered(readings: Vec<(String, Reading)>) -> Gathering {
    let mut gathering = Gathering::default();
    for (node, reading) in readings {
        gathering.add(&node, reading);
    }
    gathering
}

pub(super) fn judged(readings: Vec<(String, Reading)>) -> Fleet {
    gathered(readings).judge(0.02).unwrap()
}

pub(super) fn node<'f>(fleet: &'f Fleet, name: &str) -> &'f Node {
    fleet.nodes.iter().find(|node| node.name == name).unwrap()
}

pub(super) fn named(fleet: &Fleet) -> Vec<(String, Vec<Component>)> {
    let nodes = fleet.nodes.iter();
    let nodes = nodes.filter(|node| node.is_odd());
    nodes
        .map(|node| {
            let parts = node.differing().map(|(component, _)| component);
            (node.name.clone(), parts.collect())
        })
        .collect()
}

#[test]
fn healthy_nodes_raise_no_alarm() {
    let mut alarms = 0;
    let mut judged_nodes = 0;
    for seed in 0..60 {
        for count in [3, 4, 8, 40] {
            alarms += named(&judged(healthy(count, seed))).len();
            judged_nodes += count;
        }
    }
    assert!(alarms * 1000 <= judged_nodes, "{alarms} of {judged_nodes}");
}

#[test]
fn a_slow_component_of_one_node_is_named() {
    const SEEDS: u64 = 20;
    let slow = slow(Component::Calls, 1.15_f64.ln());
    let expected = [("n000".to_owned(), vec![Component::Calls])];
    // Four nodes hardly know how healthy ones differ.
    for (count, least_found) in [(4, SEEDS / 2), (8, SEEDS), (40, SEEDS)] {
        let fleets = (0..SEEDS).map(|seed| judged(readings(count, seed, slow)));
        let fleets: Vec<Fleet> = fleets.filter(|fleet| !named(fleet).is_empty()).collect();
        let found = fleets.len() as u64;
        assert!(found >= least_found, "{count} nodes: {found} of {SEEDS}");
        let mut inside = 0;
        for fleet in &fleets {
            assert_eq!(named(fleet), expected, "{count} nodes");
            let node = &fleet.nodes[0];
            assert_eq!(node.standing, Some(Standing::Slower));
            let part = node.differing().next().unwrap().1;
            inside += u64::from(part.interval.unwrap().contains(1.0 / 1.15));
            let mut values = node.values.iter();
            assert!(values.all(|it| it.component == Component::Calls));
        }
        // Of 20 intervals of 95 %, fewer than 16 hold the truth once in some 400 sets.
        assert!(
            5 * inside >= 4 * found,
            "{count} nodes: {inside} of {found}"
        );
    }
}

#[test]
fn a_component_that_is_slow_everywhere_is_no_alarm() {
    let mut all = healthy(12, 7);
    for (_, reading) in &mut all {
        improve(reading, Component::Disk, -1.0);
    }
    assert_eq!(named(&judged(all)), []);
}

#[test]
fn a_node_without_values_of_a_component_is_named_unless_most_have_none() {
    for (without, expected) in [
        (&[][..], None),
        (&[2], Some("n002 has ")),
        (&[0, 1, 2], None),
    ] {
        let mut readings = healthy(6, 2);
        for index in without {
            let values = &mut readings[*index].1.values;
            values.retain(|value| value.key.component != Component::Disk);
        }
        let fleet = judged(readings);
        assert_eq!(fleet.has_unjudged(), expected.is_some());
        let caveats = fleet.caveats();
        let mut caveats = caveats
            .iter()
            .filter(|it| it.contains("too few values of disk"));
        let caveat = caveats.next();
        assert_eq!(caveat.is_some(), expected.is_some());
        assert!(caveat.is_none_or(|it| it.starts_with(expected.unwrap())));
    }
}

#[test]
fn a_single_value_does_not_name_a_node() {
    let mut readings = healthy(12, 3);
    let value = &mut readings[0].1.values[0];
    value.found.as_mut().unwrap().found.value -= 0.5;
    let fleet = judged(readings);
    assert_eq!(named(&fleet), []);
    assert_eq!(node(&fleet, "n000").values.len(), 1);
}

#[test]
fn faster_nodes_follow_the_slower_ones() {
    let mut all = readings(12, 5, slow(Component::Core, -0.2));
    for component in COMPONENTS {
        improve(&mut all[7].1, component, -0.3);
    }
    let fleet = judged(all);
    let order = fleet.nodes.iter();
    let order: Vec<_> = order.map(|it| (it.name.as_str(), it.standing)).collect();
    let first = [("n007", Standing::Slower), ("n000", Standing::Faster)];
    assert_eq!(
        order[..2],
        first.map(|(name, standing)| (name, Some(standing)))
    );
    let mut others = order[2..].iter();
    assert!(others.all(|(_, standing)| *standing == Some(Standing::Alike)));
    assert_eq!(
        fleet.headline(),
        "12 nodes: 1 slower, 1 faster, 10 not known to differ"
    );
}

#[test]
fn the_order_of_the_runs_does_not_matter() {
    let mut all = readings(9, 11, slow(Component::Memory, 0.2));
    // A second session of one node.
    let mut session = reading("n003", &mut Random::new(99), |_| 0.0);
    session.run = "another run".into();
    all.push(("n003".into(), session));
    let first = json(&judged(all.clone()));
    for seed in 0..5 {
        Random::new(seed).shuffle(&mut all);
        assert_eq!(json(&judged(all.clone())), first);
    }
}

#[test]
fn a_node_has_the_facts_by_which_it_differs() {
    let mut all = healthy(6, 2);
    let kernel = "environment.kernel_release".to_owned();
    all[4].1.facts.insert(kernel, "5.10".into());
    let fleet = judged(all);
    assert_eq!(node(&fleet, "n001").circumstances, []);
    let fact = Circumstance {
        name: "environment: kernel release".into(),
        a: "6.1".into(),
        b: "5.10".into(),
    };
    assert_eq!(node(&fleet, "n004").circumstances, [fact]);
}

#[test]
fn names_and_identities_that_contradict_each_other_are_remarks() {
    let mut all = healthy(5, 2);
    all[1].1.machine = all[0].1.machine.clone();
    let copy = (String::from("copy"), all[2].1.clone());
    all.push(copy);
    all[3].1.profile = Profile::Thorough;
    let fleet = judged(all);
    let remarks = fleet.remarks.join("\n");
    for expected in [
        "n000 and n001 have one identity",
        "copy and n002 have the same run",
        "The profiles differ: quick on 4 nodes, thorough on n003",
    ] {
        assert!(remarks.contains(expected), "{remarks}");
    }
    assert_eq!(fleet.nodes.len(), 5);
}

#[test]
fn values_of_another_meaning_are_left_out_with_the_reason() {
    let mut all = healthy(5, 2);
    for value in &mut all[0].1.values {
        value.meaning = meaning(2);
    }
    let fleet = judged(all);
    assert_eq!(fleet.missing(node(&fleet, "n000")).len(), 4);
    let last = fleet.nodes.last().unwrap();
    assert_eq!((last.name.as_str(), last.standing), ("n000", None));
    assert_eq!(
        fleet.headline(),
        "5 nodes: 4 not known to differ, 1 not judged"
    );
    let left_out = fleet.left_out();
    let expected = "version 2 of the metric, where most nodes have version 1";
    assert!(left_out[0].contains(expected), "{left_out:?}");
}

#[test]
fn two_nodes_are_refused_and_three_are_judged_with_a_caveat() {
    let error = gathered(healthy(2, 1)).judge(0.02).unwrap_err();
    assert_eq!(error, Unjudged::TooFew(2));
    assert!(error.to_string().contains("oscope compare"), "{error}");
    let fleet = judged(healthy(3, 1));
    assert!(fleet.remarks[0].starts_with("Three nodes"));
    assert_eq!(judged(healthy(4, 1)).remarks, [""; 0]);
}

#[test]
fn runs_without_a_common_value_are_refused() {
    let mut readings = healthy(3, 1);
    for (index, (_, reading)) in readings.iter_mut().enumerate() {
        for value in &mut reading.values {
            value.key.metric = format!("metric {index}");
        }
    }
    let error = gathered(readings).judge(0.02).unwrap_err();
    assert!(matches!(error, Unjudged::NothingInCommon(Some(_))));
}

/// The judgement of changes from `before` to `now`.
fn changed(before: Vec<(String, Reading)>, now: Vec<(String, Reading)>) -> Fleet {
    let now = gathered(now).since(gathered(before)).unwrap();
    now.judge(0.02).unwrap()
}

/// Later runs: of a fleet whose nodes all have slower calls, and whose first one is slower by `shift` as well.
fn later(seed: u64, shift: impl Fn(Component) -> f64) -> Vec<(String, Reading)> {
    let mut runs = readings(8, seed + 1000, shift);
    for (_, reading) in &mut runs {
        reading.run += ", later";
        improve(reading, Component::Calls, -0.1);
    }
    runs
}

#[test]
fn a_change_of_all_nodes_is_a_remark_and_names_none() {
    for seed in 0..20 {
        let fleet = changed(healthy(8, seed), later(seed, |_| 0.0));
        assert_eq!(named(&fleet), []);
        let expected = "8 nodes since the earlier runs: 8 not known to have changed";
        assert_eq!(fleet.headline(), expected);
        let [caveat] = &fleet.caveats()[..] else {
            panic!("{:?}", fleet.caveats())
        };
        assert!(caveat.starts_with("The nodes changed together in system calls: 0.9"));
    }
}

#[test]
fn a_node_that_got_worse_is_named_and_one_that_was_slow_before_is_not() {
    let slow = slow(Component::Memory, 0.2);
    let expected = [("n000".to_owned(), vec![Component::Memory])];
    for seed in 0..20 {
        let fleet = changed(healthy(8, seed), later(seed, slow));
        assert_eq!(named(&fleet), expected);
        let value = &fleet.nodes[0].values[0];
        // The cost now is higher than that of the same node before.
        assert!(value.here > 1.1 * value.elsewhere, "{value:?}");
        let fleet = changed(readings(8, seed, slow), later(seed, slow));
        assert_eq!(named(&fleet), []);
    }
}

#[test]
fn facts_that_changed_are_of_the_node_or_of_most_nodes() {
    let before = healthy(5, 2);
    let mut now = later(2, |_| 0.0);
    now.truncate(5);
    let kernel = "environment.kernel_release".to_owned();
    for (_, reading) in &mut now[1..] {
        reading.facts.insert(kernel.clone(), "6.2".into());
    }
    now[3].1.facts.insert(kernel, "6.3".into());
    now[4].1.machine = "another".into();
    let fleet = changed(before.clone(), now.clone());
    let text = fleet.caveats().join("\n");
    let expected = "On most nodes, environment: kernel release is 6.2, and was 6.1 before.";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("Another machine than before, or one with other hardware: n004."));
    assert_eq!(node(&fleet, "n000").circumstances, []);
    let [fact] = &node(&fleet, "n003").circumstances[..] else {
        panic!("{fleet:?}")
    };
    assert_eq!((fact.a.as_str(), fact.b.as_str()), ("6.1", "6.3"));

    let (_, lost) = now.pop().expect("five nodes");
    now.push(("n009".into(), lost));
    let text = changed(before, now).caveats().join("\n");
    let expected =
        "Only nodes with runs now and before are judged, so these are not: n004 and n009.";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn runs_on_both_sides_are_refused() {
    let gathering = || gathered(healthy(4, 1));
    let error = gathering().since(gathering()).unwrap_err();
    assert_eq!(error, Unjudged::OnBothSides("n000".into()));
}
