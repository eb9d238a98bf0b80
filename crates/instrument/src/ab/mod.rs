//! Comparison of two or more ways to do a thing, interleaved in one go.
//!
//! The subjects run in blocks. Each block has a random order and runs it there and back: two subjects give ABBA or BAAB, three
//! for example CABBAC. So a drift of the machine affects all subjects alike, and the load of other programs at that moment
//! cancels in the log ratios of a block. A sequential test decides on these ratios
//! ([`Sequential`](crate::statistics::sequential::Sequential)) and the comparison stops as soon as all rivals are judged.
//!
//! This module knows neither programs nor clocks: a [`Bench`] takes the measurements.

mod order;
mod pair;
mod remarks;
mod rules;

pub use pair::{Contest, Pair, Verdict};
pub use remarks::{Remark, remarks};
pub use rules::{Budget, Ending, Rules};

use order::Orders;

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
    /// Each rival beside the first subject, in their order.
    pub pairs: Vec<Pair>,
    /// The reason why the comparison ended.
    pub ending: Ending,
    /// Number of finished blocks.
    pub blocks: usize,
}

/// Compares `subjects` ways, the first with each other. `seed` decides the orders.
///
/// # Errors
/// Those of `bench`.
pub fn compare<B: Bench>(
    subjects: usize,
    rules: &Rules,
    seed: u64,
    bench: &mut B,
) -> Result<Outcome, B::Error> {
    let mut orders = Orders::new(subjects, seed);
    let mut contest = Contest::new(subjects, rules);
    // Runs of each subject.
    let mut runs = 0;
    let mut next_look = 1;
    let ending = loop {
        let pace_ns = (runs > 0).then(|| bench.elapsed_ns() / runs as f64);
        if let Some(ending) = rules.exhausted(runs, bench.elapsed_ns(), pace_ns) {
            break ending;
        }
        let turns = rules.turns(runs, pace_ns);
        let Some(block) = block(&orders.draw(turns), subjects, bench)? else {
            break Ending::Stopped;
        };
        runs += turns;
        contest.add(&block);
        bench.keep(&block, &contest)?;
        // The test costs time too, more with each block.
        let may_stop = rules.may_stop(runs, bench.elapsed_ns());
        if may_stop && contest.blocks() >= next_look {
            if contest.is_told() {
                break Ending::Told;
            }
            next_look = rules::next_look(contest.blocks());
        }
    };
    Ok(Outcome {
        pairs: contest.pairs(bench.elapsed_ns()),
        ending,
        blocks: contest.blocks(),
    })
}

/// Measures one block; `None` if the user asked to stop.
fn block<B: Bench>(
    order: &[usize],
    subjects: usize,
    bench: &mut B,
) -> Result<Option<Block>, B::Error> {
    let mut turns = Vec::with_capacity(order.len() / subjects);
    for turn in order.chunks(subjects) {
        let mut costs = vec![0.0; subjects];
        for &subject in turn {
            let Some(cost) = bench.measure(subject)? else {
                return Ok(None);
            };
            costs[subject] = cost;
        }
        turns.push(costs);
    }
    Ok(Some(Block(turns)))
}
