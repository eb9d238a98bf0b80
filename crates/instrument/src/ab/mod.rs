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

    /// Measures `subject` once: its cost, of which less is better, usually wall time in ns. `None`
    /// if the user asked to stop.
    ///
    /// # Errors
    /// If the subject cannot be measured. The comparison ends.
    fn measure(&mut self, subject: usize) -> Result<Option<f64>, Self::Error>;

    /// Wall time since the comparison started, in ns.
    fn elapsed_ns(&self) -> f64;

    /// Time of one run of each subject in ns, as far as it is known before the comparison.
    fn pace_ns(&self) -> Option<f64> {
        None
    }

    /// Receives a finished block, and the state of the comparison after it.
    ///
    /// # Errors
    /// If the block cannot be kept. The comparison ends.
    fn keep(&mut self, block: &Block, contest: &Contest) -> Result<(), Self::Error>;
}

/// A finished block: for each turn, there or back, the cost of each subject.
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
    let mut orders = Orders::new(subjects, seed);
    let mut contest = Contest::new(subjects, rules);
    let ended = contend(&mut orders, &mut contest, subjects, rules, bench);
    let (ending, result) = match ended {
        Ok(ending) => (ending, Ok(())),
        Err(error) => (Ending::Failed, Err(error)),
    };
    let outcome = Outcome {
        pairs: contest.pairs(bench.elapsed_ns()),
        ending,
        blocks: contest.blocks(),
    };
    (outcome, result)
}

/// Measures until there is a reason to stop.
fn contend<B: Bench>(
    orders: &mut Orders,
    contest: &mut Contest,
    subjects: usize,
    rules: &Rules,
    bench: &mut B,
) -> Result<Ending, B::Error> {
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
        let (block, cut) = block(&orders.draw(turns), subjects, rules, bench);
        if block.turns() > 0 {
            runs += block.turns();
            contest.add(&block);
            bench.keep(&block, contest)?;
        }
        if let Some(ending) = cut? {
            return Ok(ending);
        }
        // The test costs time too, more with each block.
        let may_stop = rules.may_stop(runs, bench.elapsed_ns());
        if may_stop && contest.blocks() >= next_look {
            if contest.is_decided() {
                return Ok(Ending::Decided);
            }
            next_look = contest::next_look(contest.blocks());
        }
    }
}

/// Measures one block: its finished turns, and the reason if it ended early.
fn block<B: Bench>(
    order: &[usize],
    subjects: usize,
    rules: &Rules,
    bench: &mut B,
) -> (Block, Result<Option<Ending>, B::Error>) {
    let mut turns = Vec::with_capacity(order.len() / subjects);
    for turn in order.chunks(subjects) {
        let mut costs = vec![0.0; subjects];
        for &subject in turn {
            if rules.is_over(bench.elapsed_ns()) {
                return (Block(turns), Ok(Some(Ending::BudgetUsed)));
            }
            match bench.measure(subject) {
                Ok(Some(cost)) => costs[subject] = cost,
                Ok(None) => return (Block(turns), Ok(Some(Ending::Stopped))),
                Err(error) => return (Block(turns), Err(error)),
            }
        }
        turns.push(costs);
    }
    (Block(turns), Ok(None))
}

/// Draws the orders of blocks.
///
/// All orders are equally likely, and the way back reverses the way there. If two subjects are
/// equal, exchanging them gives an order that was as likely, with the log ratio negated. This is
/// the symmetry on which the sequential test relies.
pub(super) struct Orders {
    subjects: Vec<usize>,
    random: Random,
}

impl Orders {
    pub(super) fn new(subjects: usize, seed: u64) -> Self {
        Self {
            subjects: (0..subjects).collect(),
            random: Random::new(seed),
        }
    }

    /// The order of a block in which each subject has `turns` runs.
    pub(super) fn draw(&mut self, turns: usize) -> Vec<usize> {
        self.random.shuffle(&mut self.subjects);
        let mut order = Vec::with_capacity(turns * self.subjects.len());
        for turn in 0..turns {
            if turn % 2 == 0 {
                order.extend(&self.subjects);
            } else {
                order.extend(self.subjects.iter().rev());
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Nanoseconds;
    use std::collections::BTreeSet;

    /// A clock and subjects whose runs take a second each.
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

        fn measure(&mut self, _: usize) -> Result<Option<f64>, usize> {
            self.runs += 1;
            match self.fails_at {
                Some(at) if at == self.runs => Err(at),
                _ => Ok(Some(1e9)),
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
            error: Rules::ERROR,
            margin: 0.01,
            budget,
            least_runs: 0,
            most_runs: Some(40),
            least_time: Rules::LEAST_TIME,
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
        }
    }

    #[test]
    fn two_subjects_give_abba_and_baab() {
        let mut orders = Orders::new(2, 1);
        let seen: BTreeSet<_> = (0..50).map(|_| orders.draw(2)).collect();
        assert_eq!(seen, BTreeSet::from([vec![0, 1, 1, 0], vec![1, 0, 0, 1]]));
        assert_eq!(orders.draw(1).len(), 2);
    }

    #[test]
    fn every_order_of_three_is_drawn() {
        let mut orders = Orders::new(3, 2);
        let seen: BTreeSet<_> = (0..200).map(|_| orders.draw(2)).collect();
        assert_eq!(seen.len(), 6);
        assert!(seen.iter().all(|order| order.iter().eq(order.iter().rev())));
    }
}
