//! Sessions for tests of predictions: recorded ones (`data/README.md`) and simulated ones.

use oscope_instrument::statistics::prediction::{Core, Leg, Visit};
use oscope_instrument::statistics::random::Random;

/// The load beside which sessions were recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Nothing else ran in the virtual machine.
    Quiet,
    /// Two loads of bursts ran.
    Neighbours,
}

/// The visits of one point in one session.
pub type Session = Vec<Visit>;

/// Of each recorded point its sessions under `condition`, in the order of time.
pub fn recorded(condition: Condition) -> Vec<Vec<Session>> {
    let initial = match condition {
        Condition::Quiet => 'q',
        Condition::Neighbours => 'n',
    };
    // Points and sessions in the order of their first line: (name, sessions of (name, visits)).
    let mut points: Vec<(&str, Vec<(&str, Session)>)> = Vec::new();
    for line in include_str!("../data/strata.txt")
        .lines()
        .filter(|line| line.starts_with(initial))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let visit = Visit {
            pass: words[1].parse().unwrap(),
            legs: words[3..].iter().map(|word| leg(word)).collect(),
        };
        let sessions = entry(&mut points, words[2]);
        entry(sessions, words[0]).push(visit);
    }
    (points.into_iter())
        .map(|(_, sessions)| sessions.into_iter().map(|(_, visits)| visits).collect())
        .collect()
}

/// The value beside `name`, made where there is none.
fn entry<'list, 'name, T: Default>(
    list: &'list mut Vec<(&'name str, T)>,
    name: &'name str,
) -> &'list mut T {
    let place = list.iter().position(|(other, _)| *other == name);
    let place = place.unwrap_or_else(|| {
        list.push((name, T::default()));
        list.len() - 1
    });
    &mut list[place].1
}

fn leg(word: &str) -> Leg {
    let mut numbers = word.split(':');
    let cost = numbers.next().unwrap().parse().unwrap();
    // Nothing after the cost is the usual clock without sharing.
    let mut state = || match numbers.next() {
        None => Some(1.0),
        Some("") => None,
        Some(thousandths) => Some(thousandths.parse::<f64>().unwrap() / 1000.0),
    };
    let core = Core {
        clock: state(),
        sharing: state(),
    };
    Leg { cost, core }
}

/// A core at the highest clock that something may share.
fn shared(sharing: Option<f64>) -> Core {
    let clock = sharing.map(|_| 1.0);
    Core { clock, sharing }
}

/// A machine on which one point is measured again and again. All deviations are of logarithms.
#[derive(Clone, Copy)]
pub struct Machine {
    /// Standard deviation of the legs of a process.
    pub legs: f64,
    /// Standard deviation of processes: memory layouts.
    pub processes: f64,
    /// Standard deviation of passes.
    pub passes: f64,
    /// Standard deviation of the step of a random walk from pass to pass, which goes on between
    /// sessions.
    pub drift: f64,
    /// Share of legs that a burst of other work hits, which makes them up to three times as long.
    pub bursts: f64,
    /// Share of passes in which the processor is slowed to between 1/1.2 and 1/2 of its speed.
    pub slowed: f64,
    /// The slope of the cost over the slowdown.
    pub slope: f64,
    /// Degrees of freedom of Student's distribution, from which all deviations are drawn; `None`
    /// for the normal one.
    pub tails: Option<u32>,
}

/// Nothing disturbs this machine.
pub const CALM: Machine = Machine {
    legs: 0.01,
    processes: 0.01,
    passes: 0.005,
    drift: 0.0,
    bursts: 0.0,
    slowed: 0.0,
    slope: 0.6,
    tails: None,
};

impl Machine {
    /// Sessions of `passes` passes with `processes` processes each, one after the other.
    pub fn sessions(
        &self,
        count: usize,
        passes: usize,
        processes: usize,
        random: &mut Random,
    ) -> Vec<Session> {
        let mut walk = 0.0;
        (0..count)
            .map(|_| {
                let mut visits = Vec::new();
                for pass in 0..passes {
                    walk += self.drift * self.deviation(random);
                    let level = walk + self.passes * self.deviation(random);
                    let slowed = if random.uniform() < self.slowed {
                        1.2 + 0.8 * random.uniform()
                    } else {
                        1.0
                    };
                    for _ in 0..processes {
                        visits.push(self.visit(pass, level, slowed, random));
                    }
                }
                visits
            })
            .collect()
    }

    fn visit(&self, pass: usize, level: f64, slowed: f64, random: &mut Random) -> Visit {
        let level = level + self.processes * self.deviation(random);
        let mut leg = || {
            let burst = if random.uniform() < self.bursts {
                1.0 + 2.0 * random.uniform()
            } else {
                1.0
            };
            let reference = slowed * (1.0 + 0.01 * random.uniform());
            let logarithm =
                level + self.slope * reference.ln() + self.legs * self.deviation(random);
            Leg {
                cost: 100.0 * logarithm.exp() * burst,
                core: shared(Some(reference)),
            }
        };
        Visit {
            pass,
            legs: (0..15).map(|_| leg()).collect(),
        }
    }

    /// A deviation of size one.
    fn deviation(&self, random: &mut Random) -> f64 {
        let scale = self.tails.map_or(1.0, |degrees| {
            let squares: f64 = (0..degrees).map(|_| random.normal().powi(2)).sum();
            (squares / f64::from(degrees)).sqrt()
        });
        random.normal() / scale
    }
}
