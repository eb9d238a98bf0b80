//! Comparison of two or more ways to do a thing, interleaved in one go.
//!
//! The subjects run in blocks. Each block has a random order and runs it there and back: two subjects
//! give ABBA or BAAB, three for example CABBAC. So a drift of the machine affects all subjects alike,
//! and the load of other programs at that moment cancels in the log ratios of a block. A sequential
//! test decides on these ratios ([`Sequential`](crate::statistics::sequential::Sequential)), and the
//! comparison stops as soon as all rivals are judged.
//!
//! This module knows neither programs nor clocks: a [`Bench`] takes the measurements.

mod contest;
mod remarks;

pub use contest::{Budget, Contest, Ending, Pair, Rules, Verdict};
pub use remarks::{Remark, remarks};

use crate::statistics::random::Random;

/// Takes the measurements of a comparison.
pub trait Bench {
    /// The reason why a measurement failed.
    type Error;

    /// Measures `subject` once: its costs, of which less is better. There is at least one, usually wall time in ns,
    /// and it decides when the comparison ends; the others are judged along with it. `None` if the user asked to stop.
    ///
    /// # Errors
    /// If the subject cannot be measured. The comparison ends.
    fn measure(&mut self, subject: usize) -> Result<Option<Vec<f64>>, Self::Error>;

    /// Wall time since the comparison started, in ns.
    fn elapsed_ns(&self) -> f64;

    /// Time of one run of each subject in ns, as far as it is known before the comparison.
    fn pace_ns(&self) -> Option<f64> {
        None
    }

    /// Receives a finished block of the first cost, and the state of the comparison after it.
    ///
    /// # Errors
    /// If the block cannot be kept. The comparison ends.
    fn keep(&mut self, block: &Block, contest: &Contest) -> Result<(), Self::Error>;
}

/// A finished block of one kind of cost: for each turn, there or back, the cost of each subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Block(Vec<Vec<f64>>);

impl Block {
    /// A block of these turns: for each, the cost of each subject.
    pub fn new(turns: Vec<Vec<f64>>) -> Self {
        Self(turns)
    }

    /// Number of turns: runs of each subject.
    pub fn turns(&self) -> usize {
        self.0.len()
    }

    /// The log ratio of `subject` to the first in each turn.
    pub fn log_ratios(&self, subject: usize) -> Vec<f64> {
        // A cost of zero means that it is below the resolution of the clock.
        let logarithm = |cost: f64| cost.max(1.0).ln();
        let turns = self.0.iter();
        turns
            .map(|costs| logarithm(costs[subject]) - logarithm(costs[0]))
            .collect()
    }
}

/// The result of a comparison.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Each rival against the first subject, in their order.
    pub pairs: Vec<Pair>,
    /// The same for each further cost.
    pub others: Vec<Vec<Pair>>,
    /// The reason why the comparison ended.
    pub ending: Ending,
    /// Number of finished blocks.
    pub blocks: usize,
}

/// Compares `subjects` ways, the first with each other. `seed` decides the orders. The outcome holds all finished turns,
/// also after an error.
///
/// # Errors
/// Those of `bench`, next to the outcome.
pub fn compare<B: Bench>(
    subjects: usize,
    rules: &Rules,
    seed: u64,
    bench: &mut B,
) -> (Outcome, Result<(), B::Error>) {
    // One for each cost.
    let mut contests = vec![Contest::new(subjects, rules.margin)];
    let ended = contend(&mut contests, subjects, rules, seed, bench);
    let (ending, result) = match ended {
        Ok(ending) => (ending, Ok(())),
        Err(error) => (Ending::Failed, Err(error)),
    };
    let elapsed_ns = bench.elapsed_ns();
    let others = contests[1..].iter();
    let outcome = Outcome {
        pairs: contests[0].pairs(elapsed_ns),
        others: others.map(|contest| contest.pairs(elapsed_ns)).collect(),
        ending,
        blocks: contests[0].blocks(),
    };
    (outcome, result)
}

/// Measures until there is a reason to stop.
fn contend<B: Bench>(
    contests: &mut Vec<Contest>,
    subjects: usize,
    rules: &Rules,
    seed: u64,
    bench: &mut B,
) -> Result<Ending, B::Error> {
    let mut random = Random::new(seed);
    let mut all: Vec<usize> = (0..subjects).collect();
    // Runs of each subject.
    let mut runs = 0;
    let mut next_look = 1;
    loop {
        let pace_ns = if runs > 0 {
            Some(bench.elapsed_ns() / runs as f64)
        } else {
            bench.pace_ns()
        };
        if let Some(ending) = rules.exhausted(runs, bench.elapsed_ns(), pace_ns) {
            return Ok(ending);
        }
        let turns = rules.turns(runs, pace_ns);
        let order = draw(&mut all, turns, &mut random);
        let (blocks, cut) = block(&order, subjects, rules, bench);
        if let Some(first) = blocks.first() {
            runs += first.turns();
            contests.resize(blocks.len(), Contest::new(subjects, rules.margin));
            for (contest, block) in contests.iter_mut().zip(&blocks) {
                contest.add(block);
            }
            bench.keep(first, &contests[0])?;
        }
        if let Some(ending) = cut? {
            return Ok(ending);
        }
        // The test costs time too, more with each block.
        let may_stop = rules.may_stop(runs, bench.elapsed_ns());
        let first = &contests[0];
        if may_stop && first.blocks() >= next_look {
            if first.is_decided() {
                return Ok(Ending::Decided);
            }
            next_look = contest::next_look(first.blocks());
        }
    }
}

/// Measures one block: its finished turns, for each cost, and the reason if it ended early.
fn block<B: Bench>(
    order: &[usize],
    subjects: usize,
    rules: &Rules,
    bench: &mut B,
) -> (Vec<Block>, Result<Option<Ending>, B::Error>) {
    let mut blocks: Vec<Block> = Vec::new();
    for turn in order.chunks(subjects) {
        // The costs of each subject.
        let mut costs = vec![Vec::new(); subjects];
        for &subject in turn {
            if rules.is_over(bench.elapsed_ns()) {
                return (blocks, Ok(Some(Ending::BudgetUsed)));
            }
            match bench.measure(subject) {
                Ok(Some(measured)) => costs[subject] = measured,
                Ok(None) => return (blocks, Ok(Some(Ending::Stopped))),
                Err(error) => return (blocks, Err(error)),
            }
        }
        blocks.resize(costs[0].len(), Block::new(Vec::new()));
        for (kind, block) in blocks.iter_mut().enumerate() {
            block
                .0
                .push(costs.iter().map(|costs| costs[kind]).collect());
        }
    }
    (blocks, Ok(None))
}

/// Draws the order of a block in which each of `subjects`, which are shuffled, has `turns` runs.
///
/// All orders are equally likely, and the way back reverses the way there. If two subjects are
/// equal, exchanging them gives an order that was as likely, with the log ratio negated. This is
/// the symmetry on which the sequential test relies.
fn draw(subjects: &mut [usize], turns: usize, random: &mut Random) -> Vec<usize> {
    random.shuffle(subjects);
    let mut order = Vec::with_capacity(turns * subjects.len());
    for turn in 0..turns {
        if turn % 2 == 0 {
            order.extend(&*subjects);
        } else {
            order.extend(subjects.iter().rev());
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Nanoseconds;
    use std::collections::BTreeSet;

    /// A clock and two subjects whose runs take a second each. The second needs twice the memory.
    #[derive(Default)]
    struct Slow {
        pace_ns: Option<f64>,
        /// The number of the run that fails, from 1.
        fails_at: Option<usize>,
        runs: usize,
        kept: usize,
    }

    impl Bench for Slow {
        type Error = usize;

        fn measure(&mut self, subject: usize) -> Result<Option<Vec<f64>>, usize> {
            self.runs += 1;
            match self.fails_at {
                Some(at) if at == self.runs => Err(at),
                _ => Ok(Some(vec![1e9, [1e6, 2e6][subject]])),
            }
        }

        fn elapsed_ns(&self) -> f64 {
            self.runs as f64 * 1e9
        }

        fn pace_ns(&self) -> Option<f64> {
            self.pace_ns
        }

        fn keep(&mut self, block: &Block, _: &Contest) -> Result<(), usize> {
            self.kept += block.turns();
            Ok(())
        }
    }

    fn compared(budget: Budget, mut bench: Slow) -> (Outcome, Result<(), usize>, Slow) {
        let rules = Rules {
            most_runs: Some(40),
            ..Rules::new(0.01, budget)
        };
        let (outcome, result) = compare(2, &rules, 1, &mut bench);
        (outcome, result, bench)
    }

    fn seconds(seconds: f64) -> Budget {
        Budget::Fixed(Nanoseconds(seconds * 1e9))
    }

    #[test]
    fn nothing_begins_for_which_there_is_no_time() {
        for (budget, pace_ns, runs) in [
            // Known before: a round does not fit.
            (1.5, Some(2e9), 0),
            (2.5, Some(2e9), 2),
            // Unknown: the first run shows it.
            (1.0, None, 1),
            (3.5, None, 2),
            (4.5, None, 4),
        ] {
            let bench = Slow {
                pace_ns,
                ..Slow::default()
            };
            let (outcome, _, bench) = compared(seconds(budget), bench);
            assert_eq!(bench.runs, runs, "{budget} {pace_ns:?}");
            assert_eq!(outcome.ending, Ending::BudgetUsed);
            assert_eq!(outcome.blocks, runs / 2);
        }
    }

    #[test]
    fn the_turns_before_a_failure_count() {
        for (fails_at, turns) in [(1, 0), (2, 0), (6, 2), (7, 3)] {
            let bench = Slow {
                fails_at: Some(fails_at),
                ..Slow::default()
            };
            let (outcome, result, bench) = compared(Budget::Usual, bench);
            assert_eq!(result, Err(fails_at));
            assert_eq!(outcome.ending, Ending::Failed);
            assert_eq!((bench.kept, outcome.blocks), (turns, turns));
            assert_eq!(outcome.pairs.len(), usize::from(turns > 0));
            assert_eq!(outcome.others.len(), usize::from(turns > 0));
        }
    }

    #[test]
    fn each_cost_is_judged_and_the_first_ends_the_comparison() {
        let (outcome, ..) = compared(Budget::Usual, Slow::default());
        assert_eq!(outcome.ending, Ending::Decided);
        assert_eq!(outcome.pairs[0].verdict, Verdict::Equivalent);
        let [other] = &outcome.others[..] else {
            panic!("{outcome:?}");
        };
        assert_eq!(other[0].verdict, Verdict::Slower);
        assert!((other[0].ratio - 2.0).abs() < 1e-9, "{other:?}");
    }

    #[test]
    fn two_subjects_give_abba_and_baab() {
        let (mut subjects, mut random) = ([0, 1], Random::new(1));
        let mut orders = |turns| draw(&mut subjects, turns, &mut random);
        let seen: BTreeSet<_> = (0..50).map(|_| orders(2)).collect();
        assert_eq!(seen, BTreeSet::from([vec![0, 1, 1, 0], vec![1, 0, 0, 1]]));
        assert_eq!(orders(1).len(), 2);
    }

    #[test]
    fn every_order_of_three_is_drawn() {
        let (mut subjects, mut random) = ([0, 1, 2], Random::new(2));
        let orders = (0..200).map(|_| draw(&mut subjects, 2, &mut random));
        let seen: BTreeSet<_> = orders.collect();
        assert_eq!(seen.len(), 6);
        assert!(seen.iter().all(|order| order.iter().eq(order.iter().rev())));
    }
}
