//! Intervals of a quantile by order statistics: the values must be independent, but may have any
//! distribution.
//!
//! The number of values below the quantile at `p` is binomial B(n, p), so the order statistics
//! themselves bound the quantile with a known probability (W. Thompson 1936; H. David and
//! H. Nagaraja, "Order Statistics", 2003, section 7.1).

use statrs::function::beta::checked_beta_reg;

use super::interval::{Confidence, Estimated, Interval, Scale};
use super::summary::{quantile_of_sorted, sorted};

/// The median with its distribution-free interval, interpolated between two depths of order
/// statistics. So its coverage is close to the wanted confidence instead of a step above it.
///
/// The interval estimates the median of the distribution. Between the deepest order statistics
/// `d` that still cover with γ(d) ≥ γ and the next, `d + 1`, the ends are interpolated with
///
/// `λ = (n − d) I / (d + (n − 2d) I)`, `I = (γ(d) − γ) / (γ(d) − γ(d + 1))`
///
/// Source: T. Hettmansperger and S. Sheather, "Confidence intervals based on interpolated order
/// statistics", Statistics and Probability Letters 4 (1986). No interval when even the extremes
/// cover too little: at 95 % for fewer than 6 values.
pub fn median_estimate(values: &[f64], confidence: Confidence) -> Option<Estimated> {
    let ascending = sorted(values)?;
    Some(Estimated {
        centre: quantile_of_sorted(&ascending, 0.5)?,
        interval: median_interval(&ascending, confidence),
        n: values.len(),
        scale: Scale::Ranks,
    })
}

fn median_interval(ascending: &[f64], confidence: Confidence) -> Option<Interval> {
    let n = ascending.len();
    let coverage = |depth: usize| 1.0 - 2.0 * at_most(depth - 1, n, 0.5);
    let depth = first_beyond_tail(n, 0.5, confidence.tail());
    if depth == 0 {
        return None;
    }

    // An interval one deeper than the middle is empty: its coverage counts as zero.
    let inner = (depth + 1).min(n.div_ceil(2));
    let inner_coverage = if inner > depth { coverage(inner) } else { 0.0 };
    let excess = (coverage(depth) - confidence.level()) / (coverage(depth) - inner_coverage);
    let (n_f, depth_f) = (n as f64, depth as f64);
    let inward = (n_f - depth_f) * excess / (depth_f + (n_f - 2.0 * depth_f) * excess);

    let end = |outer: f64, inner: f64| outer * (1.0 - inward) + inner * inward;
    let low = end(ascending[depth - 1], ascending[inner - 1]);
    let high = end(ascending[n - depth], ascending[n - inner]);
    Interval::new(low.min(high), high.max(low))
}

/// The quantile at `probability` (type 7) with the narrowest interval of order statistics that
/// excludes at most half of the error probability on each side.
///
/// The interval estimates the quantile of the distribution, and covers it with *at least* the
/// wanted confidence: it widens in steps. This is the interval of `scipy.stats.quantile_test`.
/// No interval when `n` is too small, as for the 99th percentile of fewer than 368 values.
pub fn quantile_estimate(
    values: &[f64],
    probability: f64,
    confidence: Confidence,
) -> Option<Estimated> {
    let ascending = sorted(values)?;
    Some(Estimated {
        centre: quantile_of_sorted(&ascending, probability)?,
        interval: quantile_interval(&ascending, probability, confidence),
        n: values.len(),
        scale: Scale::Ranks,
    })
}

fn quantile_interval(
    ascending: &[f64],
    probability: f64,
    confidence: Confidence,
) -> Option<Interval> {
    let n = ascending.len();
    // With a probability within the tail, at most `low` values lie below the quantile. So the value
    // with `low` others below it is a bound.
    let low = first_beyond_tail(n, probability, confidence.tail()).checked_sub(1)?;
    let high = first_beyond_tail(n, 1.0 - probability, confidence.tail()).checked_sub(1)?;
    Interval::new(ascending[low], ascending[n - 1 - high])
}

/// The smallest count whose cumulative probability under B(n, p) exceeds `tail`.
fn first_beyond_tail(n: usize, probability: f64, tail: f64) -> usize {
    let (mut below, mut beyond) = (0, n);
    while below < beyond {
        let middle = usize::midpoint(below, beyond);
        if at_most(middle, n, probability) > tail {
            beyond = middle;
        } else {
            below = middle + 1;
        }
    }
    below
}

/// P(B(n, p) ≤ k), by the regularised incomplete beta function.
fn at_most(k: usize, n: usize, probability: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    // The arguments are in range by construction, so the function always returns a value.
    checked_beta_reg((n - k) as f64, (k + 1) as f64, 1.0 - probability).unwrap_or(f64::NAN)
}
