//! The ratio of two estimates of one run.

use super::{Estimate, FEWEST_PROCESSES};
use crate::statistics::prediction::{Centre, Core, Leg, Visit, predict};
use crate::statistics::{Estimated, Interval, student, summary};
use std::collections::BTreeMap;

/// The interval over the passes counts as at most this many times as wide as that of both errors: a
/// single odd pass of few can make it many times as wide.
const MOST_PAIRED: f64 = 1.5;

impl Estimate {
    /// The ratio of this estimate to `other`, with an interval that predicts the ratio in another
    /// run.
    ///
    /// The errors of both add up. If both were measured in the same passes, the values of each pass
    /// are compared with each other as well, so that what changes from pass to pass cancels. The
    /// interval has the mean of both variances. Of the ratios of other recorded sessions it contains
    /// 0.95 to 0.98; the narrower of both intervals contained 0.86 to 0.94, since few passes often
    /// agree by chance, and each alone 0.90 to 0.98 (`tests/suite/statistics/prediction.rs`).
    ///
    /// `None` unless both are positive.
    pub fn ratio_to(&self, other: &Self) -> Option<Estimated> {
        if self.is_exact() && other.is_exact() {
            return self.exact_ratio(other);
        }
        let apart = self.ratio_of_intervals(other)?;
        let paired = self.paired_by_pass(other);
        let interval = match (reach(&apart), paired.as_ref().and_then(reach)) {
            (Some(apart_reach), Some(paired_reach)) => {
                let paired_reach = paired_reach.min(MOST_PAIRED * apart_reach);
                let mean = f64::midpoint(apart_reach.powi(2), paired_reach.powi(2));
                around(apart.centre, mean.sqrt())
            }
            _ => apart.interval,
        };
        Some(Estimated { interval, ..apart })
    }

    /// As [`ratio_to`](Self::ratio_to), of two metrics that every process measured together: what
    /// slows a process down as a whole cancels.
    pub fn ratio_within(&self, other: &Self) -> Option<Estimated> {
        if self.is_exact() && other.is_exact() {
            return self.exact_ratio(other);
        }
        if self.pass_of.is_empty() || self.pass_of != other.pass_of {
            return self.ratio_to(other);
        }
        let pairs = self.by_process.iter().zip(&other.by_process);
        let ratios: Vec<f64> = pairs.map(|(above, below)| above / below).collect();
        let visits = self.pass_of.iter().zip(&ratios);
        predicted(visits.map(|(pass, ratio)| (*pass, *ratio)))
    }

    /// The ratio of two values without error.
    fn exact_ratio(&self, other: &Self) -> Option<Estimated> {
        let centre = self.ratio_of_centres(other)?;
        let interval = Interval::new(centre, centre);
        Some(Estimated { centre, interval })
    }

    fn is_exact(&self) -> bool {
        let is_point = |interval: Interval| interval.low.total_cmp(&interval.high).is_eq();
        self.interval.is_some_and(is_point)
    }

    /// `None` unless both were measured in most of the same passes.
    fn paired_by_pass(&self, other: &Self) -> Option<Estimated> {
        let (ours, theirs) = (self.by_pass()?, other.by_pass()?);
        let ratios: Vec<(u32, f64)> = ours
            .iter()
            .filter_map(|(pass, value)| Some((*pass, value / theirs.get(pass)?)))
            .collect();
        let has_most = 4 * ratios.len() >= 3 * ours.len().max(theirs.len());
        let is_enough = has_most && ratios.len() >= FEWEST_PROCESSES;
        is_enough.then(|| predicted(ratios.into_iter()))?
    }

    /// The value of each pass: the median of its processes. `None` unless all are positive.
    fn by_pass(&self) -> Option<BTreeMap<u32, f64>> {
        let mut processes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (pass, value) in self.pass_of.iter().zip(&self.by_process) {
            if *value <= 0.0 {
                return None;
            }
            processes.entry(*pass).or_default().push(*value);
        }
        let median = |(pass, values): (u32, Vec<f64>)| Some((pass, summary::median(&values)?));
        processes.into_iter().map(median).collect()
    }

    fn ratio_of_intervals(&self, other: &Self) -> Option<Estimated> {
        let centre = self.ratio_of_centres(other)?;
        let reach = self.error().zip(other.error()).and_then(|(ours, theirs)| {
            let variance = ours.value + theirs.value;
            let degrees = ours.degrees.min(theirs.degrees);
            // Twice: for this run and for the next.
            Some(student::t_quantile(degrees)? * (2.0 * variance).sqrt())
        });
        let interval = reach.and_then(|reach| around(centre, reach));
        Some(Estimated { centre, interval })
    }

    fn ratio_of_centres(&self, other: &Self) -> Option<f64> {
        let is_positive = self.centre > 0.0 && other.centre > 0.0;
        summary::finite(self.centre / other.centre).filter(|_| is_positive)
    }
}

/// The interval from `centre` to `reach` on the log scale.
fn around(centre: f64, reach: f64) -> Option<Interval> {
    Interval::new(centre * (-reach).exp(), centre * reach.exp())
}

/// Half the width of the interval on the log scale.
fn reach(ratio: &Estimated) -> Option<f64> {
    let interval = ratio.interval?;
    summary::finite((interval.high / interval.low).ln() / 2.0)
}

fn predicted(values: impl Iterator<Item = (u32, f64)>) -> Option<Estimated> {
    let visits: Vec<Visit> = values
        .map(|(pass, cost)| Visit {
            pass: pass as usize,
            legs: vec![Leg {
                cost,
                core: Core::default(),
            }],
        })
        .collect();
    Some(predict(&visits, Centre::Median, None)?.estimated)
}

#[cfg(test)]
mod tests {
    use crate::definition::{Better, Metric};
    use crate::estimate::Estimate;
    use crate::made_up;
    use crate::quantity::Unit;
    use crate::sample::Batch;
    use crate::statistics::Estimated;

    /// An estimate of one process in each of these passes, with these costs in ns.
    fn estimate(costs: &[(u32, u64)]) -> Estimate {
        let batch = |&(pass, cost): &(u32, u64)| Batch {
            samples: vec![made_up::cost(vec![cost; 4], &[])],
            pass: Some(pass),
            ..Batch::default()
        };
        let metric = Metric::new("cost", "cost", Unit::Nanoseconds, Better::Lower);
        let batches: Vec<Batch> = costs.iter().map(batch).collect();
        Estimate::from_batches(&metric, &batches).expect("it has samples")
    }

    /// Costs that rise from pass to pass.
    fn rising(start: u64, passes: std::ops::Range<u32>) -> Estimate {
        let costs: Vec<(u32, u64)> = passes
            .map(|pass| (pass, start * (10 + u64::from(pass))))
            .collect();
        estimate(&costs)
    }

    #[test]
    fn what_changes_from_pass_to_pass_cancels() {
        let (one, other) = (rising(3000, 0..8), rising(1000, 0..8));
        let ratio = one.ratio_to(&other).unwrap();
        assert!((ratio.centre - 3.0).abs() < 1e-9);
        let later: Vec<(u32, u64)> = (0..8)
            .map(|pass| (8 + pass, 1000 * (10 + u64::from(pass))))
            .collect();
        let apart = one.ratio_to(&estimate(&later)).unwrap();
        let width = |ratio: &Estimated| ratio.relative_half_width().unwrap();
        assert!(1.3 * width(&ratio) < width(&apart), "{ratio:?} {apart:?}");
        let within = one.ratio_within(&other).unwrap();
        assert!((within.centre - 3.0).abs() < 1e-9 && within.is_within(0.04));
    }

    #[test]
    fn one_odd_pass_of_few_does_not_widen_the_ratio_of_narrow_values() {
        let costs = |odd: u64| -> Vec<(u32, u64)> {
            let of_pass = |pass: u32| [(pass, 10_000), (pass, 10_010), (pass, 9990)];
            let mut costs: Vec<(u32, u64)> = (0..5).flat_map(of_pass).collect();
            costs.extend((5..8).map(|pass| (pass, odd)));
            costs
        };
        let ratio = estimate(&costs(300_000)).ratio_to(&estimate(&costs(10_000)));
        let ratio = ratio.unwrap();
        let apart = estimate(&costs(300_000)).error().unwrap();
        let apart_reach = (2.0 * 2.0 * apart.value).sqrt() * 2.6;
        let interval = ratio.interval.unwrap();
        assert!(
            (interval.high / interval.low).ln() / 2.0 < 1.3 * apart_reach,
            "{ratio:?}"
        );
        assert!((ratio.centre - 1.0).abs() < 0.01, "{ratio:?}");
    }

    #[test]
    fn without_common_passes_both_errors_count() {
        let (one, other) = (rising(3000, 0..8), rising(1000, 8..16));
        let ratio = one.ratio_to(&other).unwrap();
        assert!(!ratio.is_within(0.2), "{ratio:?}");
        assert!(ratio.interval.unwrap().contains(2.0), "{ratio:?}");
    }
}
