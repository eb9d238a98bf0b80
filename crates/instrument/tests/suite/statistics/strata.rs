//! Sessions for tests of predictions: recorded ones (`data/README.md`) and simulated ones.

#![expect(clippy::unwrap_used, reason = "the data are known to be complete")]

use flate2::read::GzDecoder;
use oscope_instrument::statistics::prediction::{Clocks, Core, Leg, Visit};
use oscope_instrument::statistics::random::Random;
use std::collections::BTreeMap;
use std::io::Read;

/// The visits of one point in one session.
pub type Session = Vec<Visit>;

/// Of each recorded point its sessions next to loads of bursts (`n`), or next to nothing else in the virtual
/// machine (`q`), in the order of time.
pub fn strata(condition: &str) -> Vec<Vec<Session>> {
    let text = include_str!("../../data/strata.txt");
    recorded(text, condition, 1000.0).into_values().collect()
}

/// Of each operation its sessions in a `batch`, in the order of time.
pub fn clocks(batch: &str) -> BTreeMap<String, Vec<Session>> {
    let packed = include_bytes!("../../data/clock.txt.gz");
    let mut text = String::new();
    let mut unpacked = GzDecoder::new(packed.as_slice());
    unpacked.read_to_string(&mut text).unwrap();
    recorded(&text, batch, 10_000.0)
}

/// The sessions whose names are `kind` and a number, with clocks in these parts of one.
fn recorded(text: &str, kind: &str, parts: f64) -> BTreeMap<String, Vec<Session>> {
    let mut points: BTreeMap<String, BTreeMap<usize, Session>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(number) = words[0].strip_prefix(kind) else {
            continue;
        };
        let sessions = points.entry(words[2].to_owned()).or_default();
        let session = sessions.entry(number.parse().unwrap()).or_default();
        session.push(Visit {
            pass: words[1].parse().unwrap(),
            legs: words[3..].iter().map(|word| leg(word, parts)).collect(),
        });
    }
    (points.into_iter())
        .map(|(point, sessions)| (point, sessions.into_values().collect()))
        .collect()
}

/// A leg as `cost:clock:sharing`, with the clock in these parts of one and the sharing in thousandths. What is
/// left out at the end is the usual clock without sharing, and what is empty is unknown.
fn leg(word: &str, parts: f64) -> Leg {
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
    /// Share of processes whose memory layout makes them slower by a fifth.
    pub slow_processes: f64,
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
    /// Degrees of freedom of all deviations.
    pub tails: Option<u32>,
}

/// Nothing disturbs this machine.
pub const CALM: Machine = Machine {
    legs: 0.01,
    processes: 0.01,
    slow_processes: 0.0,
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

/// A deviation of size one: normal, or from Student's distribution with these degrees of freedom.
pub fn deviation(random: &mut Random, degrees: Option<u32>) -> f64 {
    let scale = degrees.map_or(1.0, |degrees| {
        let squares: f64 = (0..degrees).map(|_| random.normal().powi(2)).sum();
        (squares / f64::from(degrees)).sqrt()
    });
    random.normal() / scale
}

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
                let low = if is_low { 1.0 } else { self.low };
                let mut visits = Vec::new();
                for pass in 0..passes {
                    walk += self.drift * deviation(random, self.tails);
                    let level = walk + self.passes * deviation(random, self.tails);
                    let sharing = sharing(self.shared, random);
                    visits.extend(
                        (0..processes).map(|_| self.visit(pass, level, sharing, low, random)),
                    );
                }
                let clocks = relative(&mut visits, &highest);
                highest.push(clocks.0);
                (visits, clocks.1)
            })
            .collect()
    }

    fn visit(&self, pass: usize, level: f64, of_pass: f64, low: f64, random: &mut Random) -> Visit {
        let mut level = level + self.processes * deviation(random, self.tails);
        if self.slow_processes > 0.0 && random.uniform() < self.slow_processes {
            level += 1.2_f64.ln();
        }
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
            let sharing = of_pass.max(sharing(self.shared_legs, random));
            let sharing = sharing * (1.0 + 0.01 * random.uniform());
            let logarithm = level
                + self.slope * sharing.ln()
                + self.clock_slope * clock.ln()
                + self.legs * deviation(random, self.tails);
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
}

/// The sharing of the core, which is 1 but for this share of cases.
fn sharing(share: f64, random: &mut Random) -> f64 {
    if random.uniform() < share {
        1.2 + 0.8 * random.uniform()
    } else {
        1.0
    }
}

/// Makes the clocks of a session relative to its highest, and returns that with what the session knows
/// after those with these `highest` ones.
fn relative(visits: &mut [Visit], highest: &[f64]) -> (f64, Clocks) {
    let legs = || visits.iter().flat_map(|visit| &visit.legs);
    let clocks = || legs().filter_map(|leg| leg.core.clock);
    let (shortest, longest) = (
        clocks().fold(f64::INFINITY, f64::min),
        clocks().fold(0.0, f64::max),
    );
    for leg in visits.iter_mut().flat_map(|visit| &mut visit.legs) {
        leg.core.clock = leg.core.clock.map(|clock| clock / shortest);
    }
    let known = Clocks {
        longest: longest / shortest,
        earlier: highest.iter().map(|earlier| earlier / shortest).collect(),
    };
    (shortest, known)
}
