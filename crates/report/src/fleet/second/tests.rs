//! Made-up fleets of which what was named is measured again.

use super::super::tests::{judged, named, reading, readings};
use super::super::{Fleet, Gathering, NoPeers, Reading, Request, Standing, json};
use super::{Answers, Outcome, settled, unmeasured};
use instrument::component::Component;
use instrument::statistics::random::Random;

const MARGIN: f64 = 0.02;
const NODES: usize = 8;

/// System calls that take `share` longer.
fn slow_calls(share: f64) -> impl Fn(Component) -> f64 + Copy {
    move |component| {
        if component == Component::Calls {
            share.ln_1p()
        } else {
            0.0
        }
    }
}

/// A first judgement of a fleet whose first node has slow system calls, with its runs and its request.
fn first(seed: u64) -> (Fleet, Vec<(String, Reading)>, Request) {
    let runs = readings(NODES, seed, slow_calls(0.2));
    let fleet = judged(runs.clone());
    let request = Request::of(&fleet, seed).unwrap();
    (fleet, runs, request.expect("a named node"))
}

/// The second run of a node.
fn second(node: &str, seed: u64, shift: impl Fn(Component) -> f64) -> (String, Reading) {
    let mut run = reading(node, &mut Random::new(seed), shift);
    run.run = format!("second run of {node}");
    (node.to_owned(), run)
}

/// The verdict after `answers` to the request of [`first`].
fn verdict(seed: u64, answers: Answers) -> Fleet {
    let (fleet, mut runs, request) = first(seed);
    let alone = answers.alone(&request, MARGIN);
    runs.extend(answers.runs);
    settled(&fleet, &request, &alone, judged(runs))
}

/// Second runs in which the calls of the named node take `share` longer.
fn answers(seed: u64, share: f64) -> Answers {
    let (_, _, request) = first(seed);
    let mut runs = vec![second("n000", seed + 100, slow_calls(share))];
    for (node, seed) in request.healthy.iter().zip(seed + 200..) {
        runs.push(second(node, seed, |_| 0.0));
    }
    Answers {
        runs,
        ..Answers::default()
    }
}

fn only_outcome(fleet: &Fleet) -> &Outcome {
    let alarms = &fleet.second.as_ref().expect("a second measurement").alarms;
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert_eq!(alarms[0].node, "n000");
    assert_eq!(alarms[0].component, Component::Calls);
    &alarms[0].outcome
}

#[test]
fn a_named_node_is_asked_with_two_healthy_ones_for_the_experiments_of_its_component() {
    let (_, _, request) = first(1);
    assert_eq!(request.experiments, ["made.system calls"]);
    assert_eq!(request.suspects.len(), 1);
    let nodes: Vec<&str> = request.nodes().collect();
    assert_eq!(nodes.len(), 3);
    assert_eq!(nodes[0], "n000");
    assert!(nodes[1] != nodes[2] && nodes[1..].iter().all(|it| *it != "n000"));
    let told = request.sentence();
    let expected = format!(
        "n000 looks slower by its system calls: measuring n000, {} and {} again",
        nodes[1], nodes[2]
    );
    assert_eq!(told, expected);
}

#[test]
fn healthy_nodes_are_the_least_deviating_ones_and_the_seed_chooses_among_equals() {
    let mut runs = readings(NODES, 1, slow_calls(0.2));
    for value in runs[6..].iter_mut().flat_map(|(_, run)| &mut run.values) {
        if let Ok(found) = &mut value.found
            && value.key.component == Component::Calls
        {
            found.value += 0.1;
        }
    }
    let mut fleet = judged(runs);
    // As if that were too little to be named.
    for node in &mut fleet.nodes {
        if node.name != "n000" {
            node.standing = Standing::Alike;
            for part in node.parts.iter_mut().flatten() {
                part.standing = Standing::Alike;
            }
        }
    }
    let place = fleet
        .components
        .iter()
        .position(|it| *it == Component::Calls)
        .unwrap();
    let ratio = |name: &str| {
        let node = fleet.nodes.iter().find(|it| it.name == name).unwrap();
        node.parts[place].unwrap().ratio.ln().abs()
    };
    let within = fleet
        .nodes
        .iter()
        .map(|it| it.name.as_str())
        .filter(|it| ratio(it) <= MARGIN.ln_1p());
    let within: Vec<&str> = within.collect();
    assert!((3..=5).contains(&within.len()), "{within:?}");
    let mut asked: Vec<String> = Vec::new();
    for seed in 0..40 {
        let request = Request::of(&fleet, seed).unwrap().unwrap();
        assert_eq!(Request::of(&fleet, seed).unwrap().unwrap(), request);
        asked.extend(request.healthy);
    }
    assert!(
        asked.iter().all(|it| within.contains(&it.as_str())),
        "{asked:?}"
    );
    assert!(
        within.iter().all(|it| asked.contains(&(*it).to_owned())),
        "{asked:?}"
    );
}

#[test]
fn nobody_is_asked_where_nobody_is_named() {
    let fleet = judged(readings(NODES, 1, |_| 0.0));
    assert_eq!(named(&fleet), []);
    assert_eq!(Request::of(&fleet, 1), Ok(None));
}

#[test]
fn without_two_healthy_nodes_the_alarm_stays_with_the_reason() {
    let (mut fleet, _, _) = first(1);
    fleet.nodes.truncate(2);
    assert_eq!(Request::of(&fleet, 1), Err(NoPeers));
    let fleet = unmeasured(fleet, &NoPeers.to_string());
    assert_eq!(fleet.count(Standing::Slower), 1);
    assert_eq!(
        only_outcome(&fleet),
        &Outcome::NotMeasured(NoPeers.to_string())
    );
}

#[test]
fn what_comes_again_is_named() {
    for seed in 0..10 {
        let fleet = verdict(seed, answers(seed, 0.2));
        assert_eq!(only_outcome(&fleet), &Outcome::BorneOut);
        assert_eq!(named(&fleet), [("n000".to_owned(), vec![Component::Calls])]);
        assert_eq!(fleet.nodes[0].runs.len(), 2);
        assert_eq!(json(&fleet)["second"]["alarms"][0]["outcome"], "borne_out");
    }
}

#[test]
fn what_does_not_come_again_is_shown_and_not_named() {
    for seed in 0..10 {
        // Nothing, or the other direction.
        for share in [0.0, -0.2] {
            let fleet = verdict(seed, answers(seed, share));
            assert_eq!(only_outcome(&fleet), &Outcome::SeenOnce);
            assert_eq!(named(&fleet), []);
            let alarm = &fleet.second.as_ref().unwrap().alarms[0];
            assert_eq!(alarm.first.unwrap().standing, Standing::Slower);
            assert!((alarm.alone.unwrap().ratio * (1.0 + share) - 1.0).abs() < 0.04);
            assert!(alarm.sentence().contains("seen once, not again"));
            assert_eq!(json(&fleet)["counts"]["slower"], 0);
        }
    }
}

#[test]
fn a_difference_within_the_margin_does_not_bear_out() {
    let fleet = verdict(3, answers(3, 0.0));
    let alarm = &fleet.second.as_ref().unwrap().alarms[0];
    // All runs together may still show half of the first deviation.
    assert!(alarm.together.unwrap().ratio < 0.95);
    assert_eq!(alarm.outcome, Outcome::SeenOnce);
}

#[test]
fn a_node_that_does_not_answer_keeps_its_alarm() {
    let mut answers = answers(1, 0.2);
    answers.runs.remove(0);
    answers.lacking.insert("n000".into(), "it hangs".into());
    let fleet = verdict(1, answers);
    assert_eq!(
        only_outcome(&fleet),
        &Outcome::NotMeasured("n000: it hangs".into())
    );
    assert_eq!(named(&fleet), [("n000".to_owned(), vec![Component::Calls])]);
    let told = fleet.second.as_ref().unwrap().alarms[0].sentence();
    assert!(
        told.contains("not measured again, because n000: it hangs"),
        "{told}"
    );
}

#[test]
fn without_an_answer_of_a_healthy_node_the_alarm_stays() {
    let mut answers = answers(1, 0.0);
    let (healthy, _) = answers.runs.pop().unwrap();
    let fleet = verdict(1, answers);
    let expected = format!("{healthy}: there is no second run of it");
    assert_eq!(only_outcome(&fleet), &Outcome::NotMeasured(expected));
    assert_eq!(fleet.count(Standing::Slower), 1);
}

#[test]
fn a_second_run_without_the_component_leaves_the_alarm() {
    let mut answers = answers(1, 0.0);
    let values = &mut answers.runs[0].1.values;
    values.retain(|value| value.key.component != Component::Calls);
    let fleet = verdict(1, answers);
    assert!(matches!(only_outcome(&fleet), Outcome::NotMeasured(_)));
    assert_eq!(fleet.count(Standing::Slower), 1);
}

#[test]
fn what_only_all_runs_together_show_is_not_named() {
    let (fleet, runs, request) = first(1);
    let answers = answers(1, 0.2);
    let alone = answers.alone(&request, MARGIN);
    let mut gathering = Gathering::default();
    for (name, reading) in runs.into_iter().chain(answers.runs) {
        gathering.add(&name, reading);
    }
    let mut together = gathering.judge(MARGIN).unwrap();
    let node = together
        .nodes
        .iter_mut()
        .find(|it| it.name == "n005")
        .unwrap();
    node.standing = Standing::Slower;
    node.parts[0].as_mut().unwrap().standing = Standing::Slower;
    let fleet = settled(&fleet, &request, &alone, together);
    assert_eq!(named(&fleet), [("n000".to_owned(), vec![Component::Calls])]);
    let alarms = &fleet.second.as_ref().unwrap().alarms;
    assert_eq!(alarms.len(), 2);
    assert_eq!(
        (alarms[1].node.as_str(), &alarms[1].outcome),
        ("n005", &Outcome::SeenOnce)
    );
}
