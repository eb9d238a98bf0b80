//! Made-up fleets: who is named, and who is not.

use super::meaning::Meaning;
use super::reading::{Key, Measured};
use super::{Fleet, Gathering, Reading, Standing, Unjudged, json};
use crate::Surroundings;
use instrument::component::Component;
use instrument::experiment::{Better, Definition, Metric};
use instrument::plan::Profile;
use instrument::point::{Choice, Point};
use instrument::quantity::Unit;
use instrument::statistics::moderation::Variance;
use instrument::statistics::peers::Observation;
use instrument::statistics::random::Random;

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
    for component in [
        Component::Core,
        Component::Memory,
        Component::Calls,
        Component::Disk,
    ] {
        // Nodes differ a little, by component.
        let of_node = 0.005 * random.normal();
        for index in 0..VALUES {
            let value = 3.0 + of_node + ERROR * random.normal() - shift(component);
            values.push(Measured {
                key: Key {
                    component,
                    experiment: format!("made.{}", component.name()),
                    point: Point::new().with("size", index),
                    metric: "cost".into(),
                },
                meaning: meaning(1),
                found: Ok(Observation {
                    value,
                    error: Some(Variance {
                        value: ERROR.powi(2),
                        degrees: 9.0,
                    }),
                }),
                is_doubtful: false,
            });
        }
    }
    let definition = |component: Component| Definition {
        id: format!("made.{}", component.name()),
        metrics: vec![Metric::from(&Metric::time("cost", "cost"))],
        ..Definition::default()
    };
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
        definitions: [
            Component::Core,
            Component::Memory,
            Component::Calls,
            Component::Disk,
        ]
        .map(definition)
        .to_vec(),
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

pub(super) fn judged(readings: Vec<(String, Reading)>) -> Fleet {
    let mut gathering = Gathering::default();
    for (node, reading) in readings {
        gathering.add(&node, reading);
    }
    gathering.judge(0.02).unwrap()
}

pub(super) fn named(fleet: &Fleet) -> Vec<(String, Vec<Component>)> {
    let nodes = fleet.nodes.iter();
    let nodes = nodes.filter(|node| node.standing != Standing::Alike);
    nodes
        .map(|node| {
            let parts = node.differing(fleet).map(|(component, _)| component);
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
            alarms += named(&judged(readings(count, seed, |_| 0.0))).len();
            judged_nodes += count;
        }
    }
    assert!(alarms * 1000 <= judged_nodes, "{alarms} of {judged_nodes}");
}

#[test]
fn a_slow_component_of_one_node_is_named() {
    const SEEDS: u64 = 20;
    let slow = |it| {
        if it == Component::Calls {
            1.15_f64.ln()
        } else {
            0.0
        }
    };
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
            assert_eq!(node.standing, Standing::Slower);
            let part = node.differing(fleet).next().unwrap().1;
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
    let mut random = Random::new(7);
    let everywhere = |it| if it == Component::Disk { 1.0 } else { 0.0 };
    let node = |index: usize| {
        let name = format!("n{index}");
        let reading = reading(&name, &mut random, everywhere);
        (name, reading)
    };
    assert_eq!(named(&judged((0..12).map(node).collect())), []);
}

#[test]
fn a_node_without_values_of_a_component_is_told() {
    let mut readings = readings(4, 2, |_| 0.0);
    assert!(!judged(readings.clone()).has_unjudged());
    let values = &mut readings[2].1.values;
    values.retain(|value| value.key.component != Component::Disk);
    let fleet = judged(readings.clone());
    assert!(fleet.has_unjudged());
    let told = |fleet: &Fleet| {
        let caveats = fleet.caveats().into_iter();
        let told = caveats.filter(|it| it.contains("too few values of disk"));
        told.collect::<Vec<_>>()
    };
    let told_of_one = told(&fleet);
    assert_eq!(told_of_one.len(), 1);
    assert!(told_of_one[0].starts_with("n002 has "), "{told_of_one:?}");
    // A lack of most nodes says nothing of the others.
    let few = readings[..2].iter_mut();
    few.for_each(|(_, it)| {
        it.values
            .retain(|value| value.key.component != Component::Disk);
    });
    let fleet = judged(readings);
    assert!(!fleet.has_unjudged());
    assert!(told(&fleet).is_empty());
}

#[test]
fn a_single_value_does_not_name_a_node() {
    let mut readings = readings(12, 3, |_| 0.0);
    let value = &mut readings[0].1.values[0];
    if let Ok(found) = &mut value.found {
        found.value -= 0.5;
    }
    let fleet = judged(readings);
    assert_eq!(named(&fleet), []);
    let node = fleet.nodes.iter().find(|node| node.name == "n000").unwrap();
    assert_eq!(node.values.len(), 1);
}

#[test]
fn a_faster_node_is_told_after_the_slower_ones() {
    let faster = |it| if it == Component::Core { -0.2 } else { 0.0 };
    let mut all = readings(12, 5, faster);
    for value in &mut all[7].1.values {
        if let Ok(found) = &mut value.found {
            found.value -= 0.3;
        }
    }
    let fleet = judged(all);
    let order: Vec<_> = fleet
        .nodes
        .iter()
        .map(|it| (it.name.as_str(), it.standing))
        .collect();
    assert_eq!(order[0], ("n007", Standing::Slower));
    assert_eq!(order[1], ("n000", Standing::Faster));
    assert!(
        order[2..]
            .iter()
            .all(|(_, standing)| *standing == Standing::Alike)
    );
    assert_eq!(fleet.headline(), "12 nodes: 1 slower, 1 faster, 10 healthy");
}

#[test]
fn the_order_of_the_runs_does_not_matter() {
    let slow = |it| if it == Component::Memory { 0.2 } else { 0.0 };
    let mut all = readings(9, 11, slow);
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
fn what_differs_around_a_node_stands_beside_it() {
    let mut all = readings(6, 2, |_| 0.0);
    let kernel = "environment.kernel_release".to_owned();
    all[4].1.facts.insert(kernel, "5.10".into());
    let fleet = judged(all);
    let told = |name: &str| {
        let node = fleet.nodes.iter().find(|node| node.name == name).unwrap();
        node.circumstances.clone()
    };
    assert_eq!(told("n001"), []);
    let facts = told("n004");
    assert_eq!(facts.len(), 1);
    assert_eq!(facts[0].name, "environment: kernel release");
    assert_eq!((facts[0].a.as_str(), facts[0].b.as_str()), ("6.1", "5.10"));
}

#[test]
fn names_and_identities_that_contradict_each_other_are_told() {
    let mut all = readings(5, 2, |_| 0.0);
    all[1].1.machine = all[0].1.machine.clone();
    let copy = (String::from("copy"), all[2].1.clone());
    all.push(copy);
    all[3].1.profile = Profile::Thorough;
    let fleet = judged(all);
    let told = fleet.remarks.join("\n");
    assert!(told.contains("n000 and n001 have one identity"), "{told}");
    assert!(told.contains("copy and n002 have the same run"), "{told}");
    assert!(
        told.contains("The profiles differ: quick on 4 nodes, thorough on n003"),
        "{told}"
    );
    assert_eq!(fleet.nodes.len(), 5);
}

#[test]
fn values_of_another_meaning_are_left_out_and_told() {
    let mut all = readings(5, 2, |_| 0.0);
    for value in &mut all[0].1.values {
        value.meaning = meaning(2);
    }
    let fleet = judged(all);
    let node = fleet.nodes.iter().find(|node| node.name == "n000").unwrap();
    assert!(node.parts.iter().all(Option::is_none));
    assert_eq!(fleet.missing(node).len(), 4);
    assert!(
        fleet.left_out()[0].contains("version 2 of the metric, where most nodes have version 1"),
        "{:?}",
        fleet.left_out()
    );
}

#[test]
fn two_nodes_cannot_tell_and_three_are_judged_with_a_caveat() {
    let mut gathering = Gathering::default();
    for (name, reading) in readings(2, 1, |_| 0.0) {
        gathering.add(&name, reading);
    }
    let error = gathering.judge(0.02).unwrap_err();
    assert_eq!(error, Unjudged::TooFew(2));
    assert!(error.to_string().contains("oscope compare"), "{error}");
    let fleet = judged(readings(3, 1, |_| 0.0));
    assert!(
        fleet.remarks[0].starts_with("Three nodes"),
        "{:?}",
        fleet.remarks
    );
    assert!(judged(readings(4, 1, |_| 0.0)).remarks.is_empty());
}

#[test]
fn runs_without_a_common_value_are_refused() {
    let mut gathering = Gathering::default();
    for (index, (name, mut reading)) in readings(3, 1, |_| 0.0).into_iter().enumerate() {
        for value in &mut reading.values {
            value.key.metric = format!("metric {index}");
        }
        gathering.add(&name, reading);
    }
    let error = gathering.judge(0.02).unwrap_err();
    assert!(
        matches!(error, Unjudged::NothingInCommon(Some(_))),
        "{error}"
    );
}

/// The judgement of changes from `before` to `now`.
fn changed(before: Vec<(String, Reading)>, now: Vec<(String, Reading)>) -> Fleet {
    let [before, now] = [before, now].map(|readings| {
        let mut gathering = Gathering::default();
        for (node, reading) in readings {
            gathering.add(&node, reading);
        }
        gathering
    });
    now.since(before).unwrap().judge(0.02).unwrap()
}

/// Later runs: of a fleet whose nodes all have slower calls, and whose first one is slower by `shift` as well.
fn later(seed: u64, shift: impl Fn(Component) -> f64) -> Vec<(String, Reading)> {
    let mut runs = readings(8, seed + 1000, shift);
    for (_, reading) in &mut runs {
        reading.run += ", later";
        for value in &mut reading.values {
            if value.key.component == Component::Calls
                && let Ok(found) = &mut value.found
            {
                found.value -= 0.1;
            }
        }
    }
    runs
}

#[test]
fn a_change_of_all_nodes_is_told_and_names_none() {
    for seed in 0..20 {
        let fleet = changed(readings(8, seed, |_| 0.0), later(seed, |_| 0.0));
        assert_eq!(named(&fleet), []);
        assert_eq!(
            fleet.headline(),
            "8 nodes since the earlier runs: 8 unchanged"
        );
        let told = fleet.caveats();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with("The nodes changed together in system calls: 0.9"),
            "{told:?}"
        );
    }
}

#[test]
fn a_node_that_got_worse_is_named_and_one_that_was_slow_before_is_not() {
    let slow = |it| if it == Component::Memory { 0.2 } else { 0.0 };
    let expected = [("n000".to_owned(), vec![Component::Memory])];
    for seed in 0..20 {
        let fleet = changed(readings(8, seed, |_| 0.0), later(seed, slow));
        assert_eq!(named(&fleet), expected);
        let value = &fleet.nodes[0].values[0];
        // The cost now is higher than that of the same node before.
        assert!(value.here > 1.1 * value.elsewhere, "{value:?}");
        let fleet = changed(readings(8, seed, slow), later(seed, slow));
        assert_eq!(named(&fleet), []);
    }
}

#[test]
fn facts_that_changed_stand_beside_the_node_or_the_fleet() {
    let before = readings(5, 2, |_| 0.0);
    let mut now = later(2, |_| 0.0);
    now.truncate(5);
    let kernel = "environment.kernel_release".to_owned();
    for (_, reading) in &mut now[1..] {
        reading.facts.insert(kernel.clone(), "6.2".into());
    }
    now[3].1.facts.insert(kernel, "6.3".into());
    now[4].1.machine = "another".into();
    let told = changed(before.clone(), now.clone());
    let text = told.caveats().join("\n");
    let expected = "On most nodes, environment: kernel release is 6.2, and was 6.1 before.";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("Another machine than before, or one with other hardware: n004."));
    let facts = |name: &str| {
        let node = told.nodes.iter().find(|node| node.name == name).unwrap();
        let facts = node.circumstances.iter();
        facts
            .map(|fact| (fact.a.as_str(), fact.b.as_str()))
            .collect::<Vec<_>>()
    };
    assert_eq!(facts("n000"), []);
    assert_eq!(facts("n003"), [("6.1", "6.3")]);

    let (_, lost) = now.pop().expect("five nodes");
    now.push(("n009".into(), lost));
    let text = changed(before, now).caveats().join("\n");
    let expected =
        "Only nodes with runs now and before are judged, so these are not: n004 and n009.";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn runs_on_both_sides_are_refused() {
    let gathering = || {
        let mut gathering = Gathering::default();
        for (node, reading) in readings(4, 1, |_| 0.0) {
            gathering.add(&node, reading);
        }
        gathering
    };
    let error = gathering().since(gathering()).unwrap_err();
    assert_eq!(error, Unjudged::OnBothSides("n000".into()));
}
