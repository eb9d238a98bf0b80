//! Made-up networks: which ports and links are named.

use super::{Aspect, Gathering, Link, Network, Odd, json};
use crate::fleet::Standing;
use instrument::statistics::random::Random;
use network::rounds;
use network::{Latency, Measured, Protocol, Throughput};

const PASSES: usize = 5;
const MARGIN: f64 = 0.1;

/// A fault of a network: a factor on the time of a link from one node to another.
type Fault = fn(usize, usize) -> f64;

fn measured(random: &mut Random, there: f64, back: f64) -> Measured {
    let mut noise = || (0.04 * random.normal()).exp();
    let mut latency = |protocol, message_bytes: u64, loaded: bool| Latency {
        protocol,
        message_bytes,
        loaded,
        count: 500,
        lost: 0,
        p50_ns: 3e4 * there.max(back) * noise() * if loaded { 4.0 } else { 1.0 },
    };
    let latencies = vec![
        latency(Protocol::Tcp, 1, false),
        latency(Protocol::Tcp, 1024, false),
        latency(Protocol::Udp, 64, false),
        latency(Protocol::Tcp, 1, true),
    ];
    Measured {
        latencies,
        throughput: Some(Throughput {
            there: 1e9 / there * noise(),
            back: 1e9 / back * noise(),
        }),
        failures: Vec::new(),
    }
}

/// A network of `count` nodes. Ports and links differ a little.
fn judged(count: usize, seed: u64, fault: Fault) -> Network {
    let mut random = Random::new(seed);
    let ports: Vec<f64> = (0..count).map(|_| 0.01 * random.normal()).collect();
    let mut gathering = Gathering::new((0..count).map(|node| format!("n{node}")).collect());
    for pass in 0..PASSES {
        for (asks, answers) in rounds(count, pass).into_iter().flatten() {
            let own = (ports[asks] + ports[answers]).exp();
            let (there, back) = (own * fault(asks, answers), own * fault(answers, asks));
            gathering.add(asks, answers, &measured(&mut random, there, back));
        }
    }
    gathering.judge(MARGIN)
}

#[test]
fn a_healthy_network_raises_no_alarm() {
    let mut alarms = 0;
    for seed in 0..40 {
        for count in [4, 5, 8, 24] {
            let network = judged(count, seed, |_, _| 1.0);
            alarms += network.ports.len() + network.links.len();
        }
    }
    assert!(alarms <= 1, "{alarms} of 160 networks");
}

fn is_port(odd: &Odd, node: usize) -> bool {
    let Link { from, to } = odd.link;
    (from, to) == (node, node)
}

/// True if the odd link is one between these nodes, in any direction.
fn is_between(odd: &Odd, one: usize, other: usize) -> bool {
    let Link { from, to } = odd.link;
    (from.min(to), from.max(to)) == (one, other)
}

#[test]
fn a_slow_port_is_distinguished_from_slow_links() {
    let slow: Fault = |from, to| if from == 2 || to == 2 { 3.0 } else { 1.0 };
    for seed in 0..10 {
        for count in [4, 8, 24] {
            let network = judged(count, seed, slow);
            // In all aspects.
            assert_eq!(network.ports.len(), Aspect::ALL.len(), "{count} nodes");
            let mut ports = network.ports.iter();
            assert!(ports.all(|it| is_port(it, 2) && it.standing == Standing::Slower));
            assert_eq!(network.links, [], "{count} nodes, seed {seed}");
            assert!(network.has_slower());
            let headline = network.headline();
            assert!(headline.ends_with("1 slower port, no slower link"));
        }
    }
}

#[test]
fn where_one_port_decides_no_link_of_it_is_slow() {
    // Nodes send at different speeds, which do not matter where the other end takes a hundredth.
    let slow: Fault = |from, to| {
        if from == 2 || to == 2 {
            100.0
        } else {
            [1.0, 0.8, 1.0, 1.3][from % 4]
        }
    };
    for seed in 0..10 {
        for count in [4, 8] {
            let Network { ports, links, .. } = judged(count, seed, slow);
            assert!(ports.iter().any(|it| is_port(it, 2)));
            let mut ends = links.iter().flat_map(|it| [it.link.from, it.link.to]);
            assert!(ends.all(|node| node != 2), "{count} nodes: {links:?}");
        }
    }
}

#[test]
fn a_slow_link_is_distinguished_from_slow_ports() {
    let slow: Fault = |from, to| {
        if from.min(to) == 0 && from.max(to) == 3 {
            3.0
        } else {
            1.0
        }
    };
    for seed in 0..10 {
        for count in [4, 8, 24] {
            let network = judged(count, seed, slow);
            assert_eq!(network.ports, [], "{count} nodes, seed {seed}");
            let mut links = network.links.iter();
            assert!(links.all(|it| is_between(it, 0, 3) && it.standing == Standing::Slower));
            // Both directions of the throughput, and the two kinds of round trips.
            assert_eq!(network.links.len(), 4, "{count} nodes, seed {seed}");
            let headline = network.headline();
            assert!(headline.ends_with("no slower port, 1 slower link"));
            let matrix = &network.matrices[0];
            assert_eq!(network.standing(matrix, 3, 0), Standing::Slower);
            assert_eq!(network.standing(matrix, 1, 0), Standing::Alike);
        }
    }
}

#[test]
fn a_port_that_is_slow_in_one_direction_is_named_for_it_alone() {
    let sends: Fault = |from, _| if from == 1 { 2.0 } else { 1.0 };
    let receives: Fault = |_, to| if to == 1 { 2.0 } else { 1.0 };
    let (sending, receiving) = (Aspect::Sending, Aspect::Receiving);
    for (slow, slow_in, other) in [(sends, sending, receiving), (receives, receiving, sending)] {
        let Network { ports, .. } = judged(8, 3, slow);
        let is_it = |it: &Odd| is_port(it, 1) && it.aspect == slow_in;
        assert!(ports.iter().any(is_it), "{ports:?}");
        assert!(ports.iter().all(|it| it.aspect != other), "{ports:?}");
    }
}

#[test]
fn few_nodes_are_measured_and_not_judged() {
    let network = judged(3, 1, |from, to| if from + to == 1 { 9.0 } else { 1.0 });
    assert!(network.ports.is_empty() && network.links.is_empty());
    assert!(network.remarks[0].contains("fewer than 4 nodes"));
    let (worst, _) = network.worst(&network.matrices[0]).expect("values");
    assert_eq!(worst, Link { from: 0, to: 1 });
}

#[test]
fn what_is_missing_is_reported_with_its_links() {
    let mut gathering = Gathering::new(["a", "b", "c", "d"].map(str::to_owned).to_vec());
    let mut random = Random::new(1);
    let mut lossy = measured(&mut random, 1.0, 1.0);
    lossy.latencies[2].lost = 100;
    lossy.failures.push("throughput: no".into());
    gathering.add(0, 1, &lossy);
    gathering.fail_link(2, 3, "d does not answer".into());
    let network = gathering.judge(MARGIN);
    assert!(network.is_incomplete);
    let expected = [
        "Datagrams were lost between a and b (17 %).",
        "Not measured between c and d: d does not answer.",
        "Not measured between a and b: throughput: no.",
        "No measurement of 5 links.",
    ];
    assert_eq!(network.remarks, expected);
    assert_eq!(json(&network)["nodes"][3], "d");
}
