//! From a pilot to a plan: number of processes, and number of samples in each.
//!
//! T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable time", International Symposium
//! on Memory Management (2013): split the variance of a pilot into the variance within and between
//! processes, then spend the time where it narrows the interval most. The plan only gives the
//! number to take before looking again. Measurement stops when the interval reaches its target
//! *width*, never because a difference has become significant.

use super::interval::Confidence;
use super::student::{logarithms, t_quantile};
use super::summary::{all_finite, finite, mean};

/// Ratio of the variance of the median of many normal values to the variance of their mean: π / 2.
const MEDIAN_OVER_MEAN: f64 = std::f64::consts::FRAC_PI_2;

/// No plan asks for more processes than this.
const MOST_PROCESSES: usize = 1_000_000;

/// The components of the variance of samples relative to the square of their mean: 0.0001 means a
/// standard deviation of 1 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceComponents {
    /// Within one process, between its samples.
    pub within: f64,
    /// Between processes, beyond the part explained by the samples within them.
    pub between: f64,
}

/// The costs of a measurement, both in the same unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Cost of starting a process and of its warm-up.
    pub process: f64,
    /// Cost of one sample.
    pub sample: f64,
}

/// A measurement plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Samples in each process.
    pub samples_per_process: usize,
    /// Processes in all. The pilot's processes count if they took the same number of samples.
    pub processes: usize,
}

/// The variance components of a pilot of several processes with several samples each.
///
/// One-way analysis of variance: with the mean squares `W` within and `B` between, and `r` samples
/// per process (for unequal counts `(N − Σ rᵢ² / N) / (m − 1)`), `within = W` and
/// `between = max(0, (B − W) / r)`. It is done on logarithms; if a sample is zero or negative, on
/// the samples divided by their mean.
///
/// Autocorrelation within a process counts as variance between processes, which leads to more
/// processes rather than too few. `None` for fewer than two processes, a process without samples,
/// or if no process has two.
pub fn variance_components(pilot: &[Vec<f64>]) -> Option<VarianceComponents> {
    let processes = relative_scale(pilot)?;
    let m = processes.len();
    let total = processes.iter().map(Vec::len).sum::<usize>();
    if m < 2 || total <= m {
        return None;
    }
    let grand_mean = mean(&processes.concat())?;
    let (mut between_squares, mut within_squares, mut squared_counts) = (0.0, 0.0, 0.0);
    for samples in &processes {
        let centre = mean(samples)?;
        let count = samples.len() as f64;
        between_squares += count * (centre - grand_mean).powi(2);
        within_squares += samples.iter().map(|x| (x - centre).powi(2)).sum::<f64>();
        squared_counts += count * count;
    }
    let total_f = total as f64;
    let within = within_squares / (total - m) as f64;
    let samples_each = (total_f - squared_counts / total_f) / (m - 1) as f64;
    let between = (between_squares / (m - 1) as f64 - within) / samples_each;
    Some(VarianceComponents {
        within: finite(within)?,
        between: finite(between)?.max(0.0),
    })
}

/// The number of samples per process that narrows the interval fastest:
///
/// `⌈√(process cost / sample cost · within / between)⌉`, from 1 to `most`,
///
/// Here `within` is multiplied by π / 2, since each process gives its median. The number does not
/// depend on the target.
pub fn samples_per_process(variance: VarianceComponents, costs: Costs, most: usize) -> usize {
    let within = variance.within * MEDIAN_OVER_MEAN;
    let best = (costs.process / costs.sample * within / variance.between).sqrt();
    if best.is_nan() {
        // Without any variance, or without cost, one sample suffices.
        return 1;
    }
    (best.ceil() as usize).clamp(1, most.max(1))
}

/// The number of processes for which the expected interval of [`process_estimate`] is within
/// ±`target` (0.02 for ±2 %): the smallest n ≥ 2 with
///
/// `t(n − 1) √((between + π/2 · within / samples) / n) ≤ ln(1 + target)`.
///
/// `None` for a target that is not positive, or that a million processes would not reach.
///
/// [`process_estimate`]: super::student::process_estimate
pub fn processes_needed(
    variance: VarianceComponents,
    samples_per_process: usize,
    target: f64,
    confidence: Confidence,
) -> Option<usize> {
    let samples = samples_per_process.max(1) as f64;
    let deviation = (variance.between + MEDIAN_OVER_MEAN * variance.within / samples).sqrt();
    let widest = (target > 0.0).then(|| target.ln_1p())?;
    let is_enough = |n: usize| {
        t_quantile(confidence, (n - 1) as f64)
            .is_some_and(|t| t * deviation / (n as f64).sqrt() <= widest)
    };
    if !is_enough(MOST_PROCESSES) {
        return None;
    }
    // The width falls with n, so bisection finds the smallest sufficient n.
    let (mut too_few, mut enough) = (1, MOST_PROCESSES);
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        if is_enough(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Some(enough)
}

/// The plan that follows from a pilot: [`variance_components`], [`samples_per_process`] (up to
/// `most_samples`) and [`processes_needed`] in one.
pub fn plan(
    pilot: &[Vec<f64>],
    costs: Costs,
    most_samples: usize,
    target: f64,
    confidence: Confidence,
) -> Option<Plan> {
    let variance = variance_components(pilot)?;
    let samples_per_process = samples_per_process(variance, costs, most_samples);
    Some(Plan {
        samples_per_process,
        processes: processes_needed(variance, samples_per_process, target, confidence)?,
    })
}

/// The samples on a scale where a difference is a share of the value.
fn relative_scale(pilot: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    if pilot.iter().any(|samples| !all_finite(samples)) {
        return None;
    }
    if let Some(on_log_scale) = pilot.iter().map(|samples| logarithms(samples)).collect() {
        return Some(on_log_scale);
    }
    let centre = mean(&pilot.concat())?;
    let share = |samples: &Vec<f64>| samples.iter().map(|x| finite(x / centre)).collect();
    pilot.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;

    const EXAMPLE: VarianceComponents = VarianceComponents {
        within: 0.0004,
        between: 0.0001,
    };

    fn pilot(processes: usize, samples: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::new(seed);
        let process = |random: &mut Random| {
            let layout = 0.01 * random.normal();
            (0..samples)
                .map(|_| (3.0 + layout + 0.02 * random.normal()).exp())
                .collect()
        };
        (0..processes).map(|_| process(&mut random)).collect()
    }

    #[test]
    fn components_are_those_of_the_simulation() {
        let found = variance_components(&pilot(2_000, 8, 1)).unwrap();
        assert!((found.within / EXAMPLE.within - 1.0).abs() < 0.05);
        assert!((found.between / EXAMPLE.between - 1.0).abs() < 0.1);
    }

    #[test]
    fn components_by_hand() {
        // Means 1 and 3 about 2; W = 2 · 0.02 / 2 = 0.02, B = 4, all over the mean squared.
        let pilot = [vec![-0.9, 1.1 + 1.8], vec![2.9, 3.1]];
        let found = variance_components(&pilot).unwrap();
        let within = 1.9_f64.mul_add(1.9, 0.01);
        assert!((found.within - within / 4.0).abs() < 1e-12);
        assert!((found.between - (4.0 - within) / 2.0 / 4.0).abs() < 1e-12);
    }

    #[test]
    fn dear_processes_ask_for_more_samples_in_each() {
        let cheap = Costs {
            process: 1.0,
            sample: 1.0,
        };
        let dear = Costs {
            process: 100.0,
            sample: 1.0,
        };
        // √(π/2 · 4) = 2.51 and √(100 · π/2 · 4) = 25.07.
        assert_eq!(samples_per_process(EXAMPLE, cheap, 1000), 3);
        assert_eq!(samples_per_process(EXAMPLE, dear, 1000), 26);
        assert_eq!(samples_per_process(EXAMPLE, dear, 10), 10);
    }

    #[test]
    fn no_variance_between_processes_asks_for_all_samples_in_one() {
        let costs = Costs {
            process: 1.0,
            sample: 1.0,
        };
        let within_only = VarianceComponents {
            between: 0.0,
            ..EXAMPLE
        };
        let none = VarianceComponents {
            within: 0.0,
            between: 0.0,
        };
        assert_eq!(samples_per_process(within_only, costs, 50), 50);
        assert_eq!(samples_per_process(none, costs, 50), 1);
        assert_eq!(
            processes_needed(none, 1, 0.01, Confidence::NINETY_FIVE),
            Some(2)
        );
    }

    #[test]
    fn the_planned_number_of_processes_just_reaches_the_target() {
        let confidence = Confidence::NINETY_FIVE;
        let n = processes_needed(EXAMPLE, 4, 0.01, confidence).unwrap();
        let deviation = (0.0001 + MEDIAN_OVER_MEAN * 0.0001).sqrt();
        let reach = |n: usize| {
            t_quantile(confidence, (n - 1) as f64).unwrap() * deviation / (n as f64).sqrt()
        };
        assert!(reach(n) <= 0.01_f64.ln_1p() && reach(n - 1) > 0.01_f64.ln_1p());
        assert_eq!(processes_needed(EXAMPLE, 4, 0.0, confidence), None);
        assert_eq!(processes_needed(EXAMPLE, 4, 1e-9, confidence), None);
    }

    #[test]
    fn a_plan_needs_two_processes_and_two_samples() {
        let costs = Costs {
            process: 1.0,
            sample: 1.0,
        };
        let plan = |pilot: &[Vec<f64>]| plan(pilot, costs, 100, 0.01, Confidence::NINETY_FIVE);
        assert_eq!(plan(&[]), None);
        assert_eq!(plan(&[vec![1.0, 2.0]]), None);
        assert_eq!(plan(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(plan(&[vec![1.0, 2.0], vec![]]), None);
        assert!(plan(&pilot(10, 5, 2)).is_some());
    }
}
