//! The first subject and a rival: their ratio and its verdict.

use super::Block;
use super::rules::Rules;
use crate::quantity::Nanoseconds;
use crate::statistics::Interval;
use crate::statistics::sequential::Sequential;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The least log ratio that is a difference: 0.01 %. Where most blocks have equal readings, such as
/// medians in steps of a histogram, an interval can exclude zero by less than any clock can
/// resolve.
const LEAST_DIFFERENCE: f64 = 1e-4;

/// A rival beside the first subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Index of the rival.
    pub rival: usize,
    /// The rival's cost over that of the first; below 1 the rival is better.
    pub ratio: f64,
    /// The interval of the ratio, valid no matter when the comparison stopped; `None` while there
    /// are too few blocks for one.
    pub interval: Option<Interval>,
    /// The verdict.
    pub verdict: Verdict,
    /// A rough estimate of the further time until a verdict, at this ratio and spread; `None` if
    /// there is a verdict, or no basis for an estimate.
    pub needed: Option<Nanoseconds>,
    /// Standard deviation of the log ratio from block to block, without outliers.
    pub spread: Option<f64>,
}

/// The verdict on a rival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The rival is faster than the first.
    Faster,
    /// The rival is slower.
    Slower,
    /// They differ by the margin at most.
    Equivalent,
    /// Not yet decided.
    Untold,
}

impl Pair {
    /// True if there is a verdict.
    pub fn is_told(&self) -> bool {
        self.verdict != Verdict::Untold
    }
}

/// The tests of all rivals.
#[derive(Clone, Debug)]
pub struct Contest {
    tests: Vec<Sequential>,
    /// The largest log ratio that counts as no difference.
    margin: f64,
    blocks: usize,
}

impl Contest {
    /// A comparison of `subjects` ways without blocks.
    pub fn new(subjects: usize, rules: &Rules) -> Self {
        let rivals = subjects.saturating_sub(1);
        Self {
            // Together they err no more often than one test would.
            tests: vec![Sequential::new(rules.error / rivals.max(1) as f64); rivals],
            margin: rules.margin.ln_1p(),
            blocks: 0,
        }
    }

    /// Adds a finished block.
    pub fn add(&mut self, block: &Block) {
        self.blocks += 1;
        for (index, test) in self.tests.iter_mut().enumerate() {
            test.add(&block.log_ratios(index + 1));
        }
    }

    /// Number of blocks so far.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// True if every pair has a verdict. Takes less time than the pairs with their intervals.
    pub(super) fn is_told(&self) -> bool {
        let is_told = |test: &Sequential| {
            let is_different = test.is_above(LEAST_DIFFERENCE) || test.is_below(-LEAST_DIFFERENCE);
            is_different || test.is_above(-self.margin) && test.is_below(self.margin)
        };
        self.tests.iter().all(is_told)
    }

    /// The state of all pairs after `elapsed_ns`.
    pub fn pairs(&self, elapsed_ns: f64) -> Vec<Pair> {
        let rivals = self.tests.iter().enumerate();
        rivals
            .filter_map(|(index, test)| self.pair(index + 1, test, elapsed_ns))
            .collect()
    }

    fn pair(&self, rival: usize, test: &Sequential, elapsed_ns: f64) -> Option<Pair> {
        let centre = test.centre()?;
        let interval = test.interval();
        let verdict = interval.map_or(Verdict::Untold, |interval| self.verdict(interval));
        let needed = match interval {
            Some(interval) if verdict == Verdict::Untold => {
                Some(self.needed(centre, interval, elapsed_ns))
            }
            _ => None,
        };
        Some(Pair {
            rival,
            ratio: centre.exp(),
            interval: interval.and_then(|it| Interval::new(it.low.exp(), it.high.exp())),
            verdict,
            needed,
            spread: test.spread(),
        })
    }

    /// The verdict that the interval of the log ratio allows.
    fn verdict(&self, interval: Interval) -> Verdict {
        if -self.margin <= interval.low && interval.high <= self.margin {
            Verdict::Equivalent
        } else if interval.high < -LEAST_DIFFERENCE {
            Verdict::Faster
        } else if interval.low > LEAST_DIFFERENCE {
            Verdict::Slower
        } else {
            Verdict::Untold
        }
    }

    /// Further time until the interval excludes no difference, or lies within the margin,
    /// whichever comes first: its width falls with the square root of the time.
    fn needed(&self, centre: f64, interval: Interval, elapsed_ns: f64) -> Nanoseconds {
        let wanted = centre.abs().max(self.margin - centre.abs());
        let growth = (interval.half_width() / wanted).powi(2);
        Nanoseconds(elapsed_ns * (growth - 1.0).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ab::Budget;

    fn contest() -> Contest {
        let rules = Rules {
            error: Rules::ERROR,
            margin: 0.01,
            budget: Budget::Usual,
            least_runs: 0,
            most_runs: None,
        };
        Contest::new(2, &rules)
    }

    #[test]
    fn the_interval_gives_the_verdict() {
        let verdict = |low, high| contest().verdict(Interval::new(low, high).unwrap());
        assert_eq!(verdict(-0.002, 0.003), Verdict::Equivalent);
        assert_eq!(verdict(0.001, 0.009), Verdict::Equivalent);
        assert_eq!(verdict(0.001, 0.02), Verdict::Slower);
        assert_eq!(verdict(-0.02, -0.001), Verdict::Faster);
        assert_eq!(verdict(-0.02, 0.02), Verdict::Untold);
    }

    #[test]
    fn readings_that_are_mostly_equal_are_no_difference() {
        let mut contest = contest();
        for block in 0..100 {
            let rival = if block % 4 == 0 { 1011.0 } else { 1000.0 };
            contest.add(&Block::new(vec![vec![1000.0, rival]]));
        }
        let pair = contest.pairs(1e9).remove(0);
        assert!((pair.ratio - 1.0).abs() < 1e-9, "{pair:?}");
        assert_ne!(pair.verdict, Verdict::Slower, "{pair:?}");
        assert!(!contest.is_told() || pair.verdict == Verdict::Equivalent);
    }

    #[test]
    fn twice_the_width_takes_four_times_the_time() {
        let interval = Interval::new(-0.02, 0.02).unwrap();
        let needed = contest().needed(0.0, interval, 1e9).0;
        let margin = 0.01_f64.ln_1p();
        let expected = 1e9 * ((0.02 / margin).powi(2) - 1.0);
        assert!((needed / expected - 1.0).abs() < 1e-9, "{needed}");
    }
}
