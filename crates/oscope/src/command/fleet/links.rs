//! The measurement of links in rounds, which all nodes begin together.

use super::member::Member;
use ::network::{Pair, rounds};
use ::network::{Invitation, Measured, Peer};
use instrument::quantity::{Nanoseconds, counted};
use instrument::statistics::random::Random;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// A node that is later than this at the beginning of a round is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Connecting and the first messages take this much of a measurement, beside its parts.
const OPENING: Duration = Duration::from_millis(100);

/// The measurements of all nodes, and their times.
#[derive(Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// The nodes: the rank of the process, the name, and where it answers.
    pub nodes: Vec<(u32, String, Invitation)>,
    /// Measurements of each link.
    pub passes: usize,
    /// Seed of the order of the rounds.
    pub seed: u64,
    /// One link after the other.
    pub in_turn: bool,
    /// Time for a measurement.
    pub time: Duration,
}

impl Schedule {
    /// The rounds of all passes. The order of those of a pass is drawn from the seed.
    pub fn rounds(&self) -> impl Iterator<Item = Vec<Pair>> {
        let count = self.nodes.len();
        (0..self.passes).flat_map(move |pass| {
            let mut rounds = rounds(count, pass);
            if self.in_turn {
                rounds = rounds
                    .into_iter()
                    .flatten()
                    .map(|pair| vec![pair])
                    .collect();
            }
            Random::new(self.seed.wrapping_add(pass as u64)).shuffle(&mut rounds);
            rounds
        })
    }

    pub fn ranks(&self) -> Vec<u32> {
        self.nodes.iter().map(|(rank, ..)| *rank).collect()
    }

    /// The names of the nodes. Of several with one name, each has its rank as well.
    pub fn names(&self) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, name, _) in &self.nodes {
            *counts.entry(name).or_default() += 1;
        }
        let named = self
            .nodes
            .iter()
            .map(|(rank, name, _)| match counts[name.as_str()] {
                1 => name.clone(),
                _ => format!("{name} (rank {rank})"),
            });
        named.collect()
    }

    /// True for places of two nodes.
    pub fn has(&self, asks: usize, answers: usize) -> bool {
        asks != answers && asks.max(answers) < self.nodes.len()
    }

    /// All is measured after this time, even if nodes are late.
    pub fn limit(&self) -> Duration {
        self.expected() * 2 + PATIENCE * self.nodes.len() as u32
    }

    fn expected(&self) -> Duration {
        (self.time + OPENING) * self.rounds().count() as u32
    }

    /// The plan in words.
    pub fn sentence(&self) -> String {
        format!(
            "{}, {} of {:.2}: about {:.2}",
            counted(self.nodes.len(), "node"),
            counted(self.rounds().count(), "round"),
            Nanoseconds::from(self.time),
            Nanoseconds::from(self.expected())
        )
    }
}

/// A link as it was measured by the node that asked: by their places in the schedule.
#[derive(Serialize, Deserialize)]
pub struct Asked {
    pub asks: usize,
    pub answers: usize,
    /// The reason if it could not be measured at all.
    pub found: Result<Measured, String>,
}

/// Measures the links for which this process asks, each in its round.
pub fn measure<A>(member: &Member<'_, A>, schedule: &Schedule) -> Vec<Asked> {
    let ranks = schedule.ranks();
    let Some(own) = ranks.iter().position(|rank| *rank == member.job.rank()) else {
        return Vec::new();
    };
    let mut peers: BTreeMap<usize, Result<Peer, String>> = BTreeMap::new();
    let mut asked = Vec::new();
    for round in schedule.rounds() {
        member.meet(&ranks, schedule.time + PATIENCE);
        if member.interrupt.is_set() {
            break;
        }
        let Some(&(asks, answers)) = round.iter().find(|(asks, _)| *asks == own) else {
            continue;
        };
        // A node that cannot be reached is not tried again: each try takes its time.
        let peer = peers.entry(answers).or_insert_with(|| {
            Peer::find(&schedule.nodes[answers].2).map_err(|error| error.to_string())
        });
        let found = match peer {
            Ok(peer) => Ok(peer.measure(schedule.time)),
            Err(reason) => Err(reason.clone()),
        };
        asked.push(Asked {
            asks,
            answers,
            found,
        });
    }
    asked
}
