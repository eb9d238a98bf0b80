//! Arithmetic with estimates, for the findings of several experiments.

use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::Estimate;
use instrument::statistics::ratio::ratio_estimate;
use instrument::statistics::student::process_estimate;
use instrument::statistics::{Confidence, Estimated, Interval, Scale};

/// A value known to within this share of itself can be stated as it is.
const WELL_KNOWN: f64 = 0.25;
/// Beyond this, not even its order of magnitude is sure.
const HARDLY_KNOWN: f64 = 1.0;

/// A measured value in its own unit, for arithmetic.
pub(crate) fn estimated(estimate: &Estimate) -> Estimated {
    Estimated {
        centre: estimate.centre,
        interval: estimate.interval,
        n: estimate.processes,
        scale: Scale::Logarithmic,
    }
}

/// How many times `denominator` goes into `numerator`, with its interval; `None` where either is
/// unsound.
pub(crate) fn ratio(numerator: &Estimate, denominator: &Estimate) -> Option<Estimated> {
    let sound = numerator.is_sound() && denominator.is_sound();
    let ratio = || {
        ratio_estimate(
            &numerator.by_process,
            &denominator.by_process,
            Confidence::NINETY_FIVE,
        )
    };
    sound.then(ratio).flatten()
}

/// As [`ratio`], of two metrics that every process measured at the same point: what slows a process
/// down as a whole cancels.
pub(crate) fn ratio_within(numerator: &Estimate, denominator: &Estimate) -> Option<Estimated> {
    if numerator.by_process.len() != denominator.by_process.len() {
        return ratio(numerator, denominator);
    }
    let pairs = numerator.by_process.iter().zip(&denominator.by_process);
    let ratios: Vec<f64> = pairs.map(|(above, below)| above / below).collect();
    let sound = numerator.is_sound() && denominator.is_sound();
    let ratio = || process_estimate(&ratios, Confidence::NINETY_FIVE);
    sound.then(ratio).flatten()
}

/// What two curves say at the places that both have, in the order of the first.
pub(crate) fn side_by_side<'r>(
    one: &[(u64, &'r Estimate)],
    other: &[(u64, &'r Estimate)],
) -> Vec<(u64, &'r Estimate, &'r Estimate)> {
    let both = |(place, one): &(u64, &'r Estimate)| {
        let (_, other) = other.iter().find(|(measured, _)| measured == place)?;
        Some((*place, *one, *other))
    };
    one.iter().filter_map(both).collect()
}

/// How many times one curve is as high as the other at each place that both have.
pub(crate) fn ratios(
    one: &[(u64, &Estimate)],
    other: &[(u64, &Estimate)],
) -> Vec<(u64, Estimated)> {
    let both = side_by_side(one, other).into_iter();
    both.filter_map(|(place, one, other)| Some((place, ratio(one, other)?)))
        .collect()
}

/// As [`ratios`], of two metrics of the same points: see [`ratio_within`].
pub(crate) fn ratios_within(
    one: &[(u64, &Estimate)],
    other: &[(u64, &Estimate)],
) -> Vec<(u64, Estimated)> {
    let both = side_by_side(one, other).into_iter();
    both.filter_map(|(place, one, other)| Some((place, ratio_within(one, other)?)))
        .collect()
}

/// The wall time in ns that `work` bytes or operations take at a `rate` per second; `None` where
/// the rate is unsound.
pub(crate) fn time_ns(rate: &Estimate, work: f64) -> Option<Estimated> {
    let time = |per_second: f64| work * 1e9 / per_second;
    rate.is_sound().then(|| Estimated {
        centre: time(rate.centre),
        interval: rate
            .interval
            .and_then(|rate| Interval::new(time(rate.high), time(rate.low))),
        n: rate.processes,
        scale: Scale::Logarithmic,
    })
}

/// The difference of two independent estimates. The squares of their half widths add up, which is
/// exact for normal errors known from many processes and close to it for few.
pub(crate) fn difference(minuend: &Estimated, subtrahend: &Estimated) -> Estimated {
    let centre = minuend.centre - subtrahend.centre;
    let half_width = match (minuend.interval, subtrahend.interval) {
        (Some(one), Some(other)) => Some(one.half_width().hypot(other.half_width())),
        _ => None,
    };
    Estimated {
        centre,
        interval: half_width.and_then(|half| Interval::new(centre - half, centre + half)),
        n: minuend.n.min(subtrahend.n),
        scale: Scale::Linear,
    }
}

/// The estimate times `factor`, as for another unit.
pub(crate) fn scaled(value: &Estimated, factor: f64) -> Estimated {
    let ends = |interval: Interval| (interval.low * factor, interval.high * factor);
    Estimated {
        centre: value.centre * factor,
        interval: value
            .interval
            .map(ends)
            .and_then(|(one, other)| Interval::new(one.min(other), one.max(other))),
        ..*value
    }
}

/// The quotient of two independent estimates, both positive. The squares of their relative half widths
/// add up, which is close for intervals that are a small part of their centres.
pub(crate) fn quotient(dividend: &Estimated, divisor: &Estimated) -> Option<Estimated> {
    let is_positive = dividend.centre > 0.0 && divisor.centre > 0.0;
    let centre = dividend.centre / divisor.centre;
    let relative = match (
        dividend.relative_half_width(),
        divisor.relative_half_width(),
    ) {
        (Some(one), Some(other)) => Some(one.hypot(other)),
        _ => None,
    };
    is_positive.then(|| Estimated {
        centre,
        interval: relative.and_then(|by| Interval::new(centre * (1.0 - by), centre * (1.0 + by))),
        n: dividend.n.min(divisor.n),
        scale: Scale::Linear,
    })
}

/// Whether the interval shows that the value is not `other`.
pub(crate) fn differs_from(value: &Estimated, other: f64) -> bool {
    value
        .interval
        .is_some_and(|interval| !interval.contains(other))
}

/// How sure a comparison is that came out as `value`, where `neutral` would mean no difference.
pub(crate) fn grade(value: &Estimated, neutral: f64) -> Grade {
    match value.interval {
        None => Grade::Likely,
        Some(_) if differs_from(value, neutral) => Grade::Certain,
        Some(_) => Grade::CannotBeTold,
    }
}

/// How sure a sentence can be that only states `values`: as their widest interval is.
pub(crate) fn known(values: &[&Estimated]) -> Grade {
    let worst = |value: &&Estimated| value.relative_half_width().unwrap_or(f64::INFINITY);
    let widest = values.iter().map(worst).fold(0.0, f64::max);
    if widest <= WELL_KNOWN {
        Grade::Certain
    } else if widest <= HARDLY_KNOWN {
        Grade::Likely
    } else {
        Grade::CannotBeTold
    }
}

/// How sure a value is that a finding only tells, by the width of its interval.
pub(crate) fn told(estimate: &Estimate) -> Grade {
    match estimate.relative_half_width() {
        Some(half_width) if half_width <= 0.1 => Grade::Certain,
        Some(half_width) if half_width > 0.5 => Grade::CannotBeTold,
        _ => Grade::Likely,
    }
}

/// How sure a difference is that can only be an extra cost.
pub(crate) fn extra_cost(difference: &Estimated) -> Grade {
    if difference.centre > 0.0 {
        grade(difference, 0.0)
    } else {
        Grade::CannotBeTold
    }
}

/// Adds an estimate to a finding.
pub(crate) trait WithEstimate {
    /// With `value` as the number called `name`.
    fn with(self, name: &str, value: &Estimated, unit: Unit) -> Self;
}

impl WithEstimate for Finding {
    fn with(self, name: &str, value: &Estimated, unit: Unit) -> Self {
        self.estimated(name, value.centre, value.interval, unit)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        difference, estimated, extra_cost, grade, known, ratio, ratio_within, time_ns, told,
    };
    use crate::made_up::estimate;
    use instrument::finding::Grade;

    #[test]
    fn a_time_is_the_inverse_of_a_rate_and_its_interval_is_in_order() {
        let time = time_ns(&estimate("rate", &[1e6, 1.1e6, 0.9e6]), 1.0).expect("sound");
        let interval = time.interval.expect("three processes");
        assert!(interval.low < time.centre && time.centre < interval.high);
        assert!((time.centre - 1000.0).abs() < 10.0, "{time:?}");
    }

    #[test]
    fn a_comparison_is_certain_only_when_its_interval_leaves_out_equality() {
        let slow = estimate("rate", &[10.0, 10.1, 9.9]);
        let fast = estimate("rate", &[20.0, 20.1, 19.9]);
        let other = estimate("rate", &[10.0, 10.1, 9.9]);
        assert_eq!(
            grade(&ratio(&fast, &slow).expect("sound"), 1.0),
            Grade::Certain
        );
        assert_eq!(
            grade(&ratio(&other, &slow).expect("sound"), 1.0),
            Grade::CannotBeTold
        );
        let single = estimate("rate", &[10.0]);
        assert_eq!(
            grade(&ratio(&single, &slow).expect("sound"), 1.0),
            Grade::Likely
        );
    }

    #[test]
    fn what_slows_whole_processes_down_cancels_within_them() {
        let part = estimate("rate", &[10.0, 20.0, 15.0]);
        let whole = estimate("rate", &[20.0, 40.0, 30.0]);
        let share = ratio_within(&part, &whole).expect("sound");
        let interval = share.interval.expect("three processes");
        assert!((share.centre - 0.5).abs() < 1e-9 && interval.half_width() < 1e-9);
        let apart = ratio(&part, &whole).expect("sound");
        assert!(apart.interval.expect("three processes").half_width() > 0.1);
    }

    #[test]
    fn a_wide_interval_takes_from_the_certainty() {
        let narrow = estimated(&estimate("rate", &[10.0, 10.1, 9.9]));
        let wide = estimated(&estimate("rate", &[10.0, 100.0]));
        assert_eq!(known(&[&narrow]), Grade::Certain);
        assert_eq!(known(&[&narrow, &wide]), Grade::CannotBeTold);
    }

    #[test]
    fn a_value_known_badly_and_a_cost_below_zero_are_not_told_as_certain() {
        assert_eq!(told(&estimate("rate", &[10.0, 10.1, 9.9])), Grade::Certain);
        assert_eq!(told(&estimate("rate", &[10.0])), Grade::Likely);
        let wide = estimate("rate", &[1.0, 10.0, 100.0]);
        assert_eq!(told(&wide), Grade::CannotBeTold);
        let slow = time_ns(&estimate("rate", &[10.0]), 1.0).expect("sound");
        let fast = time_ns(&estimate("rate", &[20.0]), 1.0).expect("sound");
        assert_eq!(extra_cost(&difference(&slow, &fast)), Grade::Likely);
        assert_eq!(extra_cost(&difference(&fast, &slow)), Grade::CannotBeTold);
    }

    #[test]
    fn the_half_widths_of_a_difference_add_up_as_squares() {
        let one = time_ns(&estimate("rate", &[1e6, 1.1e6, 0.9e6]), 1.0).expect("sound");
        let none = difference(&one, &one);
        let expected = one.interval.expect("three processes").half_width() * 2_f64.sqrt();
        assert!(none.centre.abs() < 1e-9);
        assert!((none.interval.expect("both have one").half_width() - expected).abs() < 1e-9);
    }
}
