//! Error rate and speed of comparisons on simulated machines.

use oscope_instrument::ab::{
    Bench, Block, Budget, Contest, Ending, Outcome, Pair, Rules, Verdict, compare,
};
use oscope_instrument::quantity::Nanoseconds;
use oscope_instrument::statistics::random::Random;
use oscope_instrument::statistics::sequential::Sequential;
use std::convert::Infallible;

/// An unoptimised build simulates fewer comparisons.
const COMPARISONS: u64 = if cfg!(debug_assertions) { 40 } else { 300 };
/// At 0.005, chance exceeds this less often than once in 10 000 such tests.
const MOST_MISSES: usize = if cfg!(debug_assertions) { 3 } else { 8 };
const RUN_NS: f64 = 20e6;

/// Disturbances of a simulated machine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    /// 1 % from run to run.
    Quiet,
    /// A neighbour takes half the processor for 0.2 to 2 s, and leaves it for as long.
    Bursts,
    /// The processor gets slower by 1 % each second.
    Drift,
    /// The processor changes between two speeds, 20 % apart, for half a second on the average.
    TwoSpeeds,
    /// Every tenth run takes longer by a Pareto factor without a variance.
    HeavyTails,
    /// Each run shares most of its noise with the one before.
    Memory,
}

const ALL: [Noise; 6] = [
    Noise::Quiet,
    Noise::Bursts,
    Noise::Drift,
    Noise::TwoSpeeds,
    Noise::HeavyTails,
    Noise::Memory,
];

/// A simulated machine; the subjects after the first cost more by `factor`.
struct Machine {
    noise: Noise,
    factor: f64,
    run_ns: f64,
    random: Random,
    now_ns: f64,
    is_slow: bool,
    turns_ns: f64,
    state: f64,
}

impl Machine {
    fn new(noise: Noise, factor: f64, seed: u64) -> Self {
        Self {
            noise,
            factor,
            run_ns: RUN_NS,
            random: Random::new(seed),
            now_ns: 0.0,
            is_slow: false,
            turns_ns: 0.0,
            state: 0.0,
        }
    }

    /// The machine's slowness at this moment, as a factor.
    fn slowness(&mut self) -> f64 {
        let jitter = (0.01 * self.random.normal()).exp();
        let turn = |random: &mut Random| match self.noise {
            Noise::Bursts => 0.2e9 + 1.8e9 * random.uniform(),
            _ => -0.5e9 * (1.0 - random.uniform()).ln(),
        };
        while self.now_ns >= self.turns_ns {
            self.turns_ns += turn(&mut self.random).max(1.0);
            self.is_slow = !self.is_slow;
        }
        jitter
            * match self.noise {
                Noise::Bursts if self.is_slow => 1.0 + 0.5 * self.random.uniform(),
                Noise::TwoSpeeds if self.is_slow => 1.2,
                Noise::Drift => 1.0 + 0.01 * self.now_ns / 1e9,
                Noise::HeavyTails if self.random.below(10) == 0 => {
                    (1.0 - self.random.uniform()).powf(-0.7)
                }
                Noise::Memory => {
                    self.state = 0.9 * self.state + 0.03 * self.random.normal();
                    self.state.exp()
                }
                Noise::Quiet | Noise::Bursts | Noise::TwoSpeeds | Noise::HeavyTails => 1.0,
            }
    }
}

impl Bench for Machine {
    type Error = Infallible;

    fn measure(&mut self, subject: usize) -> Result<Option<Vec<f64>>, Infallible> {
        let factor = if subject == 0 { 1.0 } else { self.factor };
        let cost = self.run_ns * factor * self.slowness();
        self.now_ns += cost;
        Ok(Some(vec![cost]))
    }

    fn elapsed_ns(&self) -> f64 {
        self.now_ns
    }

    fn keep(&mut self, _: &Block, _: &Contest) -> Result<(), Infallible> {
        Ok(())
    }
}

fn rules(seconds: f64) -> Rules {
    Rules::new(0.01, Budget::Fixed(Nanoseconds(seconds * 1e9)))
}

/// The outcome, and how long it took in seconds.
fn run(noise: Noise, factor: f64, subjects: usize, rules: &Rules, seed: u64) -> (Outcome, f64) {
    let mut machine = Machine::new(noise, factor, seed);
    let (outcome, Ok(())) = compare(subjects, rules, seed ^ 0xabba, &mut machine);
    (outcome, machine.now_ns / 1e9)
}

/// For equal programs, a miss is a false alarm.
#[test]
fn intervals_seldom_miss_the_ratio_at_whatever_moment_they_are_looked_at() {
    for noise in ALL {
        // A margin that is never met lets the test run to its end, with as many looks as possible.
        for (factor, subjects, margin, seconds) in [
            (1.0, 2, 1e-6, 8.0),
            (1.0, 2, 0.01, 2.0),
            (1.0, 4, 1e-6, 8.0),
            (1.05, 2, 0.01, 3.0),
        ] {
            let rules = Rules {
                margin,
                ..rules(seconds)
            };
            let outcomes =
                (0..COMPARISONS).map(|seed| run(noise, factor, subjects, &rules, seed).0);
            let is_missed = |pair: &Pair| pair.interval.is_some_and(|it| !it.contains(factor));
            let misses = outcomes.filter(|outcome| outcome.pairs.iter().any(is_missed));
            let misses = misses.count();
            let case = format!("{noise:?}, {subjects} subjects, ratio {factor}, margin {margin}");
            println!("{case}: {misses} misses in {COMPARISONS}");
            assert!(misses <= MOST_MISSES, "{case}: {misses}");
        }
    }
}

#[test]
fn a_difference_of_one_per_cent_and_equality_are_found_soon_and_rightly() {
    for (factor, noise, seconds, least) in [
        (1.01, Noise::Quiet, 10.0, 99),
        (1.01, Noise::Drift, 10.0, 99),
        (1.01, Noise::HeavyTails, 20.0, 95),
        (1.01, Noise::TwoSpeeds, 20.0, 95),
        (1.01, Noise::Memory, 60.0, 90),
        (1.01, Noise::Bursts, 60.0, 90),
        (1.0, Noise::Quiet, 60.0, 99),
        (1.0, Noise::TwoSpeeds, 60.0, 95),
    ] {
        let outcomes = (0..100).map(|seed| run(noise, factor, 2, &rules(seconds), seed));
        let (outcomes, mut times): (Vec<Outcome>, Vec<f64>) = outcomes.unzip();
        let count = |verdict| {
            let verdicts = outcomes.iter().map(|outcome| outcome.pairs[0].verdict);
            verdicts.filter(|it| *it == verdict).count()
        };
        let decided = count(if factor > 1.0 {
            Verdict::Slower
        } else {
            Verdict::Equivalent
        });
        times.sort_by(f64::total_cmp);
        println!(
            "{factor}, {noise:?}: {decided} of 100 decided, median {:.1} s, 90 % {:.1} s",
            times[50], times[90]
        );
        let is_wrong = factor > 1.0 && count(Verdict::Faster) > 0;
        assert!(!is_wrong, "{factor}, {noise:?}");
        assert!(decided >= least, "{factor}, {noise:?}: {decided}");
    }
}

#[test]
fn long_runs_are_decided_in_twelve_turns() {
    let rules = Rules {
        budget: Budget::Usual,
        ..rules(0.0)
    };
    let mut slow = Machine {
        run_ns: 500.0 * RUN_NS,
        ..Machine::new(Noise::Quiet, 1.5, 1)
    };
    let (outcome, Ok(())) = compare(2, &rules, 1, &mut slow);
    assert_eq!(outcome.pairs[0].verdict, Verdict::Slower);
    assert_eq!(outcome.ending, Ending::Decided);
    assert!(outcome.blocks <= 12, "{}", outcome.blocks);
}

#[test]
fn what_is_no_number_is_left_out_and_equal_differences_are_known_exactly() {
    for difference in [0.0, 2.0_f64.ln()] {
        let mut test = Sequential::new(Rules::ERROR);
        assert_eq!((test.centre(), test.interval()), (None, None));
        test.add(&[f64::NAN]);
        test.add(&[f64::INFINITY]);
        assert_eq!(test.differences().count(), 0);
        for _ in 0..50 {
            test.add(&[difference]);
        }
        let (centre, interval) = (test.centre().unwrap(), test.interval().unwrap());
        assert!((centre - difference).abs() < 1e-9, "{centre}");
        assert!(interval.contains(centre) && interval.half_width() < 1e-9);
        assert!(!test.is_below(0.0) && test.is_above(0.0) == (difference > 0.0));
    }
}

#[test]
fn the_interval_holds_its_centre_and_turns_with_the_sign() {
    let mut random = Random::new(9);
    let (mut test, mut mirrored) = (Sequential::new(0.005), Sequential::new(0.005));
    for _ in 0..300 {
        let difference = 0.02 + 0.01 * random.normal();
        test.add(&[difference]);
        mirrored.add(&[-difference]);
    }
    let (one, other) = (test.interval().unwrap(), mirrored.interval().unwrap());
    assert!(one.contains(test.centre().unwrap()) && one.contains(0.02));
    assert!((one.low + other.high).abs() < 1e-9 && (one.high + other.low).abs() < 1e-9);
    assert!(test.is_above(0.0) && mirrored.is_below(0.0));
}
