//! The rules of a comparison, and its verdicts: when it stops, how long its blocks are, and the ratio of
//! each rival to the first subject.

use super::Block;
use crate::quantity::Nanoseconds;
use crate::statistics::Interval;
use crate::statistics::sequential::Sequential;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time of a comparison if the user gives none.
const USUAL_BUDGET: Nanoseconds = Nanoseconds(30e9);
/// Blocks run there and back if there is time for this many of them.
const MANY_BLOCKS: f64 = 24.0;
/// The test is computed after each block up to this number, and later each time when their number
/// has grown by 2 %.
const LOOKS: usize = 50;

/// The rules of a comparison.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Differences up to this share count as none: 0.01 is 1 %.
    pub margin: f64,
    /// The time.
    pub budget: Budget,
    /// Runs of each subject before the comparison may stop because it is decided.
    pub least_runs: usize,
    /// Runs of each subject after which it stops.
    pub most_runs: Option<usize>,
    /// Even a clear case runs for this long, so that its interval is worth printing.
    pub least_time: Nanoseconds,
}

/// The time of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// 30 s, or as long as 12 runs of each subject take if that is longer.
    Usual,
    /// This long.
    Fixed(Nanoseconds),
}

/// The reason why a comparison ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every pair is decided.
    Decided,
    /// The time was used up.
    BudgetUsed,
    /// Each subject had as many runs as were allowed.
    RunsUsed,
    /// The user asked to stop.
    Stopped,
    /// A subject could not be measured, or its measurements could not be kept.
    Failed,
}

impl Budget {
    /// The time in ns, unless each subject takes longer for the usual runs.
    fn ns(self) -> f64 {
        match self {
            Self::Usual => USUAL_BUDGET.0,
            Self::Fixed(budget) => budget.0,
        }
    }

    /// Runs of each subject for which there is always time.
    fn least_runs(self) -> usize {
        match self {
            Self::Usual => Rules::USUAL_RUNS,
            Self::Fixed(_) => 0,
        }
    }
}

impl Rules {
    /// The probability that an equal pair is called different, over all pairs and all moments: a hundred equal
    /// pairs then raise at most two alarms, in 99 % of cases.
    pub const ERROR: f64 = 0.005;
    /// A comparison without a given time gives each subject this many runs, however long they take:
    /// fewer blocks of one run cannot decide.
    pub const USUAL_RUNS: usize = 12;
    /// The least time of a comparison.
    pub const LEAST_TIME: Nanoseconds = Nanoseconds(1e9);

    /// The rules without a number of runs.
    pub fn new(margin: f64, budget: Budget) -> Self {
        Self {
            margin,
            budget,
            least_runs: 0,
            most_runs: None,
            least_time: Self::LEAST_TIME,
        }
    }

    /// Runs of each subject for which there is time, if one run of each takes `pace_ns`.
    pub fn room(&self, pace_ns: f64) -> usize {
        let fitting = (self.budget.ns() / pace_ns.max(1.0)) as usize;
        let runs = fitting.max(self.budget.least_runs());
        self.most_runs.map_or(runs, |most| runs.min(most))
    }

    /// True if the time is over: nothing more may begin, not even the rest of a turn.
    pub(super) fn is_over(&self, elapsed_ns: f64) -> bool {
        match self.budget {
            Budget::Usual => false,
            Budget::Fixed(budget) => elapsed_ns >= budget.0,
        }
    }

    /// The reason to stop before another block, if there is one. `pace_ns` is the time of one run
    /// of each subject.
    pub(super) fn exhausted(
        &self,
        runs: usize,
        elapsed_ns: f64,
        pace_ns: Option<f64>,
    ) -> Option<Ending> {
        if self.most_runs.is_some_and(|most| runs >= most) {
            return Some(Ending::RunsUsed);
        }
        let is_open = runs < self.budget.least_runs();
        let next_ns = pace_ns.unwrap_or(0.0) * self.turns(runs, pace_ns) as f64;
        (!is_open && elapsed_ns + next_ns > self.budget.ns()).then_some(Ending::BudgetUsed)
    }

    /// True if the comparison may stop as soon as it is decided.
    pub(super) fn may_stop(&self, runs: usize, elapsed_ns: f64) -> bool {
        runs >= self.least_runs && elapsed_ns >= self.least_time.0
    }

    /// Runs of each subject in the next block: two, there and back, or one where time or runs would
    /// not be enough for the blocks that a decision takes, or where the time of a run is unknown.
    pub(super) fn turns(&self, runs: usize, pace_ns: Option<f64>) -> usize {
        let is_long = pace_ns.is_none_or(|pace| 2.0 * MANY_BLOCKS * pace > self.budget.ns());
        let is_short_of_runs = self
            .most_runs
            .is_some_and(|most| most - runs < 2 || (most as f64) < 2.0 * MANY_BLOCKS);
        if is_long || is_short_of_runs { 1 } else { 2 }
    }
}

/// The number of blocks at which the test is computed again.
pub(super) fn next_look(blocks: usize) -> usize {
    blocks + 1 + blocks / LOOKS
}

/// The least log ratio that is a difference: 0.01 %. Where most blocks have equal readings, such as
/// medians in steps of a histogram, an interval can exclude zero by less than any clock can
/// resolve.
const LEAST_DIFFERENCE: f64 = 1e-4;

/// A rival against the first subject.
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
    /// Number of pairs of runs, one of each subject.
    pub runs: usize,
    /// Number of these in which the slower subject of all together was the slower one.
    pub agreeing: usize,
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
    Undecided,
}

impl Pair {
    /// True if there is a verdict.
    pub fn is_decided(&self) -> bool {
        self.verdict != Verdict::Undecided
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
    /// A comparison of `subjects` ways without blocks. Differences up to `margin` count as none.
    pub fn new(subjects: usize, margin: f64) -> Self {
        let rivals = subjects.saturating_sub(1);
        Self {
            // Together they err no more often than one test would.
            tests: vec![Sequential::new(Rules::ERROR / rivals.max(1) as f64); rivals],
            margin: margin.ln_1p(),
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
    pub(super) fn is_decided(&self) -> bool {
        let is_decided = |test: &Sequential| {
            let is_different = test.is_above(LEAST_DIFFERENCE) || test.is_below(-LEAST_DIFFERENCE);
            is_different || test.is_above(-self.margin) && test.is_below(self.margin)
        };
        self.tests.iter().all(is_decided)
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
        let verdict = interval.map_or(Verdict::Undecided, |interval| self.verdict(interval));
        let undecided = interval.filter(|_| verdict == Verdict::Undecided);
        let needed = undecided.map(|interval| self.needed(centre, interval, elapsed_ns));
        Some(Pair {
            rival,
            ratio: centre.exp(),
            interval: interval.and_then(|it| it.map(f64::exp)),
            verdict,
            needed,
            spread: test.spread(),
            runs: test.differences().count(),
            agreeing: test.differences().filter(|it| it * centre > 0.0).count(),
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
            Verdict::Undecided
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

    const MARGIN: f64 = 0.01;

    fn rules(budget: Budget) -> Rules {
        Rules::new(MARGIN, budget)
    }

    #[test]
    fn long_runs_go_in_blocks_of_one() {
        let rules = rules(Budget::Usual);
        assert_eq!(rules.turns(0, None), 1);
        assert_eq!(rules.turns(2, Some(1e6)), 2);
        assert_eq!(rules.turns(2, Some(10e9)), 1);
    }

    #[test]
    fn the_usual_time_waits_for_twelve_runs_and_a_named_one_does_not() {
        let usual = rules(Budget::Usual);
        assert_eq!(usual.exhausted(11, 100e9, Some(10e9)), None);
        let used = Some(Ending::BudgetUsed);
        assert_eq!(usual.exhausted(12, 120e9, Some(10e9)), used);
        let named = rules(Budget::Fixed(Nanoseconds(5e9)));
        assert_eq!(named.exhausted(1, 4e9, Some(4e9)), used);
        assert_eq!(named.exhausted(0, 0.0, None), None);
    }

    #[test]
    fn the_room_is_that_of_the_time_and_of_the_runs() {
        let fixed = rules(Budget::Fixed(Nanoseconds(10e9)));
        assert_eq!(fixed.room(4e9), 2);
        assert_eq!(fixed.room(11e9), 0);
        assert_eq!(rules(Budget::Usual).room(10e9), Rules::USUAL_RUNS);
        assert_eq!(rules(Budget::Usual).room(1e9), 30);
        let few = Rules {
            most_runs: Some(5),
            ..rules(Budget::Usual)
        };
        assert_eq!(few.room(1e9), 5);
    }

    #[test]
    fn no_subject_gets_more_runs_than_allowed() {
        let rules = Rules {
            most_runs: Some(101),
            ..rules(Budget::Usual)
        };
        assert_eq!(rules.turns(99, Some(1e3)), 2);
        assert_eq!(rules.turns(100, Some(1e3)), 1);
        assert_eq!(rules.exhausted(101, 0.0, Some(1e3)), Some(Ending::RunsUsed));
    }

    fn contest() -> Contest {
        Contest::new(2, MARGIN)
    }

    #[test]
    fn the_interval_gives_the_verdict() {
        let verdict = |low, high| contest().verdict(Interval::new(low, high).unwrap());
        assert_eq!(verdict(-0.002, 0.003), Verdict::Equivalent);
        assert_eq!(verdict(0.001, 0.009), Verdict::Equivalent);
        assert_eq!(verdict(0.001, 0.02), Verdict::Slower);
        assert_eq!(verdict(-0.02, -0.001), Verdict::Faster);
        assert_eq!(verdict(-0.02, 0.02), Verdict::Undecided);
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
        assert!(!contest.is_decided() || pair.verdict == Verdict::Equivalent);
    }

    #[test]
    fn twice_the_width_takes_four_times_the_time() {
        let interval = Interval::new(-0.02, 0.02).unwrap();
        let needed = contest().needed(0.0, interval, 1e9).0;
        let expected = 1e9 * ((0.02 / MARGIN.ln_1p()).powi(2) - 1.0);
        assert!((needed / expected - 1.0).abs() < 1e-9, "{needed}");
    }
}
