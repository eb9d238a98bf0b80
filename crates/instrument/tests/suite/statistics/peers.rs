//! Simulated fleets: false alarms, and bad nodes that are found.

use oscope_instrument::statistics::discovery::adjusted;
use oscope_instrument::statistics::moderation::Variance;
use oscope_instrument::statistics::peers::{Deviations, Metric, Observation, deviations};
use oscope_instrument::statistics::random::Random;

use super::strata::deviation;

const RATE: f64 = 0.01;

/// A fleet in which nodes differ by family, and runs by family and value.
#[derive(Clone, Copy, Debug)]
struct Fleet {
    nodes: usize,
    families: usize,
    /// Of each family.
    metrics: usize,
    between_nodes: f64,
    /// The factor from each family to the next.
    widening: f64,
    margin: f64,
    /// Degrees of freedom of all deviations.
    tails: Option<u32>,
}

const FLEET: Fleet = Fleet {
    nodes: 40,
    families: 8,
    metrics: 6,
    between_nodes: 0.005,
    widening: 1.0,
    margin: 0.02,
    tails: None,
};

/// A value whose error is known from seven processes.
fn observation(value: f64, error: Option<f64>) -> Observation {
    let error = error.map(|error| Variance {
        value: error.powi(2),
        degrees: 6.0,
    });
    Observation { value, error }
}

impl Fleet {
    /// The deviations of nodes of which the first `bad` are slower in the first family by `shift`.
    fn deviations(self, seed: u64, bad: usize, shift: f64) -> Deviations {
        let mut random = Random::new(seed);
        let mut metrics = Vec::new();
        for family in 0..self.families {
            let spread = self.between_nodes * self.widening.powf(family as f64);
            let shared = (0..self.nodes).map(|_| spread * deviation(&mut random, self.tails));
            let shared: Vec<f64> = shared.collect();
            for index in 0..self.metrics {
                // Values are not equally steady.
                let error = 0.006 * f64::powf(1.5, (index % 5) as f64);
                let node = |(node, shared): (usize, &f64)| {
                    let is_bad = node < bad && family == 0;
                    let own = error * deviation(&mut random, self.tails);
                    let slower = if is_bad { shift } else { 0.0 };
                    Some(observation(5.0 + shared + own - slower, Some(error)))
                };
                metrics.push(Metric {
                    family,
                    nodes: shared.iter().enumerate().map(node).collect(),
                });
            }
        }
        deviations(&metrics, self.families)
    }

    /// The named pairs of family and node.
    fn named(self, seed: u64, bad: usize, shift: f64) -> Vec<(usize, usize)> {
        let found = self.deviations(seed, bad, shift).families;
        let cells = found.iter().enumerate().flat_map(|(family, nodes)| {
            let nodes = nodes.iter().enumerate();
            nodes.filter_map(move |(node, found)| Some(((family, node), (*found)?)))
        });
        let (places, p_values): (Vec<_>, Vec<f64>) = cells
            .map(|(place, found)| (place, found.p_beyond(f64::ln_1p(self.margin))))
            .unzip();
        let places = places.into_iter().zip(adjusted(&p_values));
        places
            .filter(|(_, p)| *p <= RATE)
            .map(|(place, _)| place)
            .collect()
    }
}

/// Named nodes among a thousand healthy ones, at these tails and number of nodes.
fn alarms_of_thousand(fleet: Fleet) -> f64 {
    let fleets = 8000 / fleet.nodes;
    let alarms: usize = (0..fleets)
        .map(|seed| fleet.named(seed as u64, 0, 0.0).len())
        .sum();
    1000.0 * alarms as f64 / (fleets * fleet.nodes) as f64
}

/// Few components of few nodes: their spread is partly assumed. That of three nodes is too little known where
/// nodes differ by more than the margin: up to 2 of 100 are named then.
#[test]
fn few_healthy_nodes_are_named() {
    let mut cases = Vec::new();
    for tails in [None, Some(8)] {
        let fleet = |nodes| Fleet {
            nodes,
            tails,
            ..FLEET
        };
        cases.extend([3, 4, 6, 10, 40, 400].map(|nodes| (fleet(nodes), 1.0)));
    }
    for families in [1, 2, 4] {
        for between_nodes in [0.01, 0.02, 0.05] {
            let fleet = |nodes| Fleet {
                nodes,
                families,
                between_nodes,
                ..FLEET
            };
            cases.extend([4, 6].map(|nodes| (fleet(nodes), 5.0)));
        }
    }
    for (fleet, most) in cases {
        let alarms = alarms_of_thousand(fleet);
        println!("{fleet:?}: {alarms} named of 1000");
        assert!(alarms <= most, "{fleet:?}: {alarms} of 1000");
    }
}

/// Without a margin, only the control of false discoveries limits alarms: of a hundred healthy fleets, one
/// may have an alarm.
#[test]
fn components_in_which_nodes_differ_more_raise_no_more_alarms() {
    for widening in [1.0, 1.4] {
        for nodes in [4, 6, 10, 40] {
            let fleet = Fleet {
                nodes,
                widening,
                margin: 0.0,
                ..FLEET
            };
            let alarms = (0..300).filter(|seed| !fleet.named(*seed, 0, 0.0).is_empty());
            let alarms = alarms.count();
            println!("{nodes} nodes, widening {widening}: {alarms} of 300 fleets");
            assert!(alarms <= 9, "{fleet:?}: {alarms} of 300");
        }
    }
}

/// One that is slower by an eighth, and one that is half as fast: few components of few nodes hardly know how
/// much healthy nodes differ.
#[test]
fn a_slower_node_is_found() {
    let mut cases: Vec<(Fleet, f64, usize)> = [(4, 80), (6, 80), (10, 99), (40, 99), (400, 99)]
        .map(|(nodes, least)| (Fleet { nodes, ..FLEET }, 0.12, least))
        .into();
    for families in [1, 2, 4] {
        let fleet = |widening| Fleet {
            nodes: 4,
            families,
            widening,
            ..FLEET
        };
        cases.extend([1.0, 1.4, 2.0].map(|widening| (fleet(widening), 0.65, 99)));
    }
    for (fleet, shift, least) in cases {
        let found = (0..100).filter(|seed| fleet.named(*seed, 1, shift).contains(&(0, 0)));
        let found = found.count();
        println!("{fleet:?}: {found} of 100");
        assert!(found >= least, "{fleet:?}: {found} of 100");
    }
}

#[test]
fn a_minority_of_bad_nodes_does_not_hide_itself() {
    let named = FLEET.named(3, 8, 0.2);
    let expected: Vec<(usize, usize)> = (0..8).map(|node| (0, node)).collect();
    assert_eq!(named, expected);
}

#[test]
fn a_node_with_a_noisy_run_has_a_wider_interval() {
    let mut metrics = Vec::new();
    let mut random = Random::new(5);
    for _ in 0..12 {
        let node = |node: usize| {
            let error = if node == 0 { 0.05_f64 } else { 0.01 };
            Some(observation(error * random.normal(), Some(error)))
        };
        metrics.push(Metric {
            family: 0,
            nodes: (0..10).map(node).collect(),
        });
    }
    let found = deviations(&metrics, 1).families.remove(0);
    let error = |node: usize| found[node].unwrap().standard_error;
    assert!((error(0) / error(1) - 12.5_f64.sqrt()).abs() < 1e-9);
}

#[test]
fn a_node_without_enough_values_of_a_family_is_not_judged_by_it() {
    let metric = |first: u32| {
        let node = |node| (node >= first).then(|| observation(0.001 * f64::from(node), None));
        Metric {
            family: 0,
            nodes: (0..5).map(node).collect(),
        }
    };
    let found = deviations(&[metric(1), metric(1), metric(0)], 2);
    assert_eq!(found.families[0][0], None);
    assert!(found.families[0][1..].iter().all(Option::is_some));
    assert!(found.families[1].iter().all(Option::is_none));
    assert_eq!(found.metrics[0][0], None);
}
