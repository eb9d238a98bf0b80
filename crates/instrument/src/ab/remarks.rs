//! Remarks on the runs of one subject: outliers and drift.

use crate::statistics::summary::{mean, median, median_absolute_deviation};
use crate::statistics::trend::mann_kendall;

/// With fewer runs, neither outliers nor drift are reported.
const FEWEST_RUNS: usize = 12;
/// A run this many median absolute deviations beyond the median is an outlier: the usual rule of
/// 3.5 standard deviations, fourfold, as hyperfine has it, since run times have long tails.
const OUTLIER_DEVIATIONS: f64 = 14.826;
/// An outlier also takes at least this many times the median: where deviations are tiny, nearly
/// every run would be one.
const OUTLIER_FACTOR: f64 = 1.1;
/// The least change from the first third of the runs to the last that is reported as a drift.
const DRIFT: f64 = 0.02;
/// A drift is reported only if chance gives such a trend less often than this.
const DRIFT_CHANCE: f64 = 0.001;
/// The test for a trend takes the means of this many stretches of runs.
const STRETCHES: usize = 24;

/// A remark on the runs of one subject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remark {
    /// Runs that took much longer than the others.
    Outliers {
        /// Their number.
        count: usize,
        /// The longest over the median.
        worst: f64,
    },
    /// The first run took much longer than the others: something was cold.
    SlowStart {
        /// The first run over the median.
        factor: f64,
    },
    /// The runs became slower or faster.
    Drift {
        /// The last third over the first.
        factor: f64,
    },
}

/// The remarks on `costs`, the runs of one subject in their order.
pub fn remarks(costs: &[f64]) -> Vec<Remark> {
    if costs.len() < FEWEST_RUNS {
        return Vec::new();
    }
    [outliers(costs), drift(costs)]
        .into_iter()
        .flatten()
        .collect()
}

fn outliers(costs: &[f64]) -> Option<Remark> {
    let centre = median(costs)?;
    let deviation = median_absolute_deviation(costs)?;
    let limit = (centre + OUTLIER_DEVIATIONS * deviation).max(OUTLIER_FACTOR * centre);
    let count = costs.iter().filter(|cost| **cost > limit).count();
    let worst = costs.iter().copied().fold(0.0, f64::max) / centre;
    match count {
        0 => None,
        1 if costs[0] > limit => Some(Remark::SlowStart { factor: worst }),
        _ => Some(Remark::Outliers { count, worst }),
    }
}

fn drift(costs: &[f64]) -> Option<Remark> {
    let third = costs.len() / 3;
    let factor = median(&costs[costs.len() - third..])? / median(&costs[..third])?;
    // Neighbouring runs share what disturbs them, which the test for a trend would mistake for one.
    let stretch = costs.len().div_ceil(STRETCHES);
    let means: Option<Vec<f64>> = costs.chunks(stretch).map(mean).collect();
    let chance = mann_kendall(&means?)?;
    ((factor - 1.0).abs() >= DRIFT && chance < DRIFT_CHANCE).then_some(Remark::Drift { factor })
}

#[cfg(test)]
mod tests {
    use super::{Remark, remarks};
    use crate::statistics::random::Random;

    fn noisy(count: usize) -> Vec<f64> {
        let mut random = Random::new(5);
        (0..count)
            .map(|_| 1e6 * (0.01 * random.normal()).exp())
            .collect()
    }

    #[test]
    fn quiet_runs_need_no_remark() {
        assert_eq!(remarks(&noisy(200)), []);
        assert_eq!(remarks(&[1.0, 9.0]), []);
        assert_eq!(remarks(&[1e6; 50]), []);
    }

    #[test]
    fn outliers_a_cold_start_and_drift_have_remarks() {
        let mut costs = noisy(100);
        costs[0] *= 3.0;
        assert!(matches!(remarks(&costs)[..], [Remark::SlowStart { .. }]));
        costs[40] *= 2.0;
        assert!(
            matches!(remarks(&costs)[..], [Remark::Outliers { count: 2, worst }] if worst > 2.5)
        );
        let drifting = noisy(100).into_iter().enumerate();
        let drifting: Vec<f64> = drifting
            .map(|(index, cost)| cost * (1.0 + index as f64 / 1000.0))
            .collect();
        assert!(matches!(remarks(&drifting)[..], [Remark::Drift { factor }] if factor > 1.05));
    }
}
