//! Made-up fleets of which what was named is measured again.

use super::super::tests::{improve, judged, named, node, reading, readings, slow};
use super::super::{Fleet, NoPeers, Reading, Request, Standing, json};
use super::{Alarm, Answers, Outcome, settled, unmeasured};
use instrument::component::Component;
use instrument::statistics::random::Random;
use std::collections::BTreeSet;

const MARGIN: f64 = 0.02;
const NODES: usize = 8;

/// System calls that take `share` longer.
fn slow_calls(share: f64) -> impl Fn(Component) -> f64 + Copy {
    slow(Component::Calls, share.ln_1p())
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
fn verdict(seed: u64, answers: &Answers) -> Fleet {
    let (fleet, mut runs, request) = first(seed);
    runs.extend(answers.runs.clone());
    settled(&fleet, &request, answers, judged(runs))
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

/// The only alarm, which is that of the calls of the first node.
#[track_caller]
fn only_alarm(fleet: &Fleet) -> &Alarm {
    let [alarm] = &fleet.second.as_ref().expect("a second measurement").alarms[..] else {
        panic!("{:?}", fleet.second)
    };
    assert_eq!((&*alarm.node, alarm.component), ("n000", Component::Calls));
    alarm
}

#[track_caller]
fn assert_not_measured(fleet: &Fleet, because: &str) {
    let alarm = only_alarm(fleet);
    assert_eq!(alarm.outcome, Outcome::NotMeasured);
    assert_eq!(alarm.because.as_deref(), Some(because));
    assert_eq!(fleet.count(Some(Standing::Slower)), 1);
}

fn calls_are_named() -> Vec<(String, Vec<Component>)> {
    vec![("n000".to_owned(), vec![Component::Calls])]
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
    let expected = format!(
        "n000 looks slower by its system calls: measuring n000, {} and {} again",
        nodes[1], nodes[2]
    );
    assert_eq!(request.sentence, expected);
}

#[test]
fn healthy_nodes_are_the_least_deviating_ones_and_the_seed_chooses_among_equals() {
    let mut runs = readings(NODES, 1, slow_calls(0.2));
    for (_, run) in &mut runs[6..] {
        improve(run, Component::Calls, 0.1);
    }
    let mut fleet = judged(runs);
    // As if that were too little to be named.
    for node in fleet.nodes.iter_mut().filter(|node| node.name != "n000") {
        node.standing = Some(Standing::Alike);
        for part in node.parts.values_mut() {
            part.standing = Standing::Alike;
        }
    }
    let nodes = fleet.nodes.iter();
    let within = nodes.filter(|node| {
        let ratio = node.parts[&Component::Calls].ratio;
        ratio.ln().abs() <= MARGIN.ln_1p()
    });
    let within: BTreeSet<String> = within.map(|it| it.name.clone()).collect();
    assert!((3..=5).contains(&within.len()), "{within:?}");
    let mut asked = BTreeSet::new();
    for seed in 0..40 {
        let request = Request::of(&fleet, seed).unwrap().unwrap();
        assert_eq!(Request::of(&fleet, seed).unwrap().unwrap(), request);
        asked.extend(request.healthy);
    }
    assert_eq!(asked, within);
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
    let reason = NoPeers.to_string();
    assert_not_measured(&unmeasured(fleet, &reason), &reason);
}

#[test]
fn what_comes_again_is_named() {
    for seed in 0..10 {
        let fleet = verdict(seed, &answers(seed, 0.2));
        assert_eq!(only_alarm(&fleet).outcome, Outcome::Confirmed);
        assert_eq!(named(&fleet), calls_are_named());
        assert_eq!(fleet.nodes[0].runs.len(), 2);
        assert_eq!(json(&fleet)["second"]["alarms"][0]["outcome"], "confirmed");
    }
}

#[test]
fn what_does_not_come_again_is_shown_and_not_named() {
    for seed in 0..10 {
        // Nothing, or the other direction.
        for share in [0.0, -0.2] {
            let fleet = verdict(seed, &answers(seed, share));
            let alarm = only_alarm(&fleet);
            assert_eq!(alarm.outcome, Outcome::SeenOnce);
            assert_eq!(named(&fleet), []);
            assert_eq!(alarm.first.unwrap().standing, Standing::Slower);
            assert!((alarm.alone.unwrap().ratio * (1.0 + share) - 1.0).abs() < 0.04);
            // All runs together may still show half of the first deviation.
            assert!(share < 0.0 || alarm.together.unwrap().ratio < 0.95);
            assert!(alarm.sentence().contains("seen once, not again"));
            assert_eq!(json(&fleet)["counts"]["slower"], 0);
        }
    }
}

#[test]
fn an_alarm_that_nobody_could_measure_again_stays_with_the_reason() {
    let without_own = |answers: &mut Answers| {
        answers.runs.remove(0);
        answers.missing.insert("n000".into(), "it hangs".into());
        "n000: it hangs".to_owned()
    };
    let without_healthy = |answers: &mut Answers| {
        let (healthy, _) = answers.runs.pop().unwrap();
        format!("{healthy}: there is no second run of it")
    };
    let without_component = |answers: &mut Answers| {
        let values = &mut answers.runs[0].1.values;
        values.retain(|value| value.key.component != Component::Calls);
        "n000: its second run or that of a healthy node has no values of the component".to_owned()
    };
    let changes: [fn(&mut Answers) -> String; 3] =
        [without_own, without_healthy, without_component];
    for change in changes {
        let mut answers = answers(1, 0.2);
        let reason = change(&mut answers);
        let fleet = verdict(1, &answers);
        assert_not_measured(&fleet, &reason);
        assert_eq!(named(&fleet), calls_are_named());
        let sentence = only_alarm(&fleet).sentence();
        let expected = format!("not measured again, because {reason}");
        assert!(sentence.contains(&expected), "{sentence}");
    }
}

#[test]
fn what_only_all_runs_together_show_is_not_named() {
    let (fleet, mut runs, request) = first(1);
    let answers = answers(1, 0.2);
    runs.extend(answers.runs.clone());
    let mut together = judged(runs);
    let mut nodes = together.nodes.iter_mut();
    let odd = nodes.find(|it| it.name == "n005").unwrap();
    odd.standing = Some(Standing::Slower);
    let part = odd.parts.get_mut(&Component::Core);
    part.expect("it has it").standing = Standing::Slower;
    let fleet = settled(&fleet, &request, &answers, together);
    assert_eq!(named(&fleet), calls_are_named());
    assert_eq!(node(&fleet, "n005").standing, Some(Standing::Alike));
    let [_, seen_once] = &fleet.second.as_ref().unwrap().alarms[..] else {
        panic!("{:?}", fleet.second)
    };
    assert_eq!(seen_once.node, "n005");
    assert_eq!(seen_once.outcome, Outcome::SeenOnce);
}
