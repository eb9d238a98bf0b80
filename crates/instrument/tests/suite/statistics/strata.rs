//! Sessions for tests of predictions: recorded ones (`data/README.md`) and simulated ones.

#![expect(clippy::unwrap_used, reason = "the data are known to be complete")]

use oscope_instrument::statistics::prediction::{Clocks, Core, Leg, Visit};
use oscope_instrument::statistics::random::Random;

/// The load next to which sessions were recorded.
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
    for line in include_str!("../../data/strata.txt")
        .lines()
        .filter(|line| line.starts_with(initial))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        let visit = Visit {
            pass: words[1].parse().unwrap(),
            legs: words[3..].iter().map(|word| leg(word, 1000.0)).collect(),
        };
        let sessions = entry(&mut points, words[2]);
        entry(sessions, words[0]).push(visit);
    }
    (points.into_iter())
        .map(|(_, sessions)| sessions.into_iter().map(|(_, visits)| visits).collect())
        .collect()
}

/// The value of `name`, made where there is none.
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

/// A leg as `cost:clock:sharing`, with the clock in these parts of one and the sharing in thousandths. What is
/// left out at the end is the usual clock without sharing, and what is empty is unknown.
pub fn leg(word: &str, parts: f64) -> Leg {
    let mut numbers = word.split(':');
    let cost = numbers.next().unwrap().parse().unwrap();
    let mut state = |parts: f64| match numbers.next() {
        None => Some(1.0),
        Some(number) => Some(number.parse::<f64>().ok()? / parts),
    };
    let core = Core {
        clock: state(parts),
        sharing: state(1000.0),
    };
    Leg { cost, core }
}

/// The duration of a cycle at the low step of the one clock that was seen to move, over that at the high.
const LOW: f64 = 1.14;

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
    /// Share of passes in which something shares the core, so that its sharing is from 1.2 to 2.
    pub shared: f64,
    /// The same, of legs.
    pub shared_legs: f64,
    /// The slope of the cost over sharing.
    pub slope: f64,
    /// Share of visits that begin at the low clock; one of five changes the clock in its middle.
    pub low: f64,
    /// True if the first session has the low clock throughout.
    pub starts_low: bool,
    /// The slope of the cost over the clock.
    pub clock_slope: f64,
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
    shared: 0.0,
    shared_legs: 0.0,
    slope: 0.6,
    low: 0.0,
    starts_low: false,
    clock_slope: 1.0,
    tails: None,
};

impl Machine {
    /// Sessions of `passes` passes with `processes` processes each, one after the other, with the clocks
    /// that each knows of itself and of those before it.
    pub fn sessions(
        &self,
        count: usize,
        passes: usize,
        processes: usize,
        random: &mut Random,
    ) -> Vec<(Session, Clocks)> {
        let mut walk = 0.0;
        let mut highest: Vec<f64> = Vec::new();
        (0..count)
            .map(|session| {
                let is_low = session == 0 && self.starts_low;
                let mut visits = Vec::new();
                for pass in 0..passes {
                    walk += self.drift * self.deviation(random);
                    let level = walk + self.passes * self.deviation(random);
                    let sharing = Self::sharing(self.shared, random);
                    for _ in 0..processes {
                        let low = if is_low { 1.0 } else { self.low };
                        visits.push(self.visit(pass, level, sharing, low, random));
                    }
                }
                let clocks = relative(&mut visits, &highest);
                highest.push(clocks.0);
                (visits, clocks.1)
            })
            .collect()
    }

    /// The sharing of the core, which is 1 but for this share of cases.
    fn sharing(share: f64, random: &mut Random) -> f64 {
        if random.uniform() < share {
            1.2 + 0.8 * random.uniform()
        } else {
            1.0
        }
    }

    fn visit(&self, pass: usize, level: f64, of_pass: f64, low: f64, random: &mut Random) -> Visit {
        let level = level + self.processes * self.deviation(random);
        let begins_low = random.uniform() < low;
        let changes = (0.0..1.0).contains(&low) && low > 0.0 && random.uniform() < 0.2;
        let mut leg = |index: usize| {
            let burst = if random.uniform() < self.bursts {
                1.0 + 2.0 * random.uniform()
            } else {
                1.0
            };
            let is_low = begins_low != (changes && index > 7);
            let clock = if is_low { LOW } else { 1.0 };
            let sharing = of_pass.max(Self::sharing(self.shared_legs, random));
            let sharing = sharing * (1.0 + 0.01 * random.uniform());
            let logarithm = level
                + self.slope * sharing.ln()
                + self.clock_slope * clock.ln()
                + self.legs * self.deviation(random);
            Leg {
                cost: 100.0 * logarithm.exp() * burst,
                core: Core {
                    clock: Some(clock),
                    sharing: Some(sharing),
                },
            }
        };
        Visit {
            pass,
            legs: (0..15).map(&mut leg).collect(),
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

/// Makes the clocks of a session relative to its highest, and returns that with what the session knows
/// after those with these `highest` ones.
fn relative(visits: &mut [Visit], highest: &[f64]) -> (f64, Clocks) {
    let clocks = || visits.iter().flat_map(|visit| &visit.legs);
    let clocks: Vec<f64> = clocks().filter_map(|leg| leg.core.clock).collect();
    let shortest = clocks.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = clocks.iter().copied().fold(0.0, f64::max);
    for leg in visits.iter_mut().flat_map(|visit| &mut visit.legs) {
        leg.core.clock = leg.core.clock.map(|clock| clock / shortest);
    }
    let known = Clocks {
        longest: longest / shortest,
        earlier: highest.iter().map(|earlier| earlier / shortest).collect(),
    };
    (shortest, known)
}
