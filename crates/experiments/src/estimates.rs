//! Arithmetic with estimates, for the findings of several experiments.

use instrument::finding::{Finding, Grade, Sentence};
use instrument::quantity::{Known, Quantity, Unit};
use instrument::results::Estimate;
use instrument::statistics::Interval;

/// The ratio of two estimates with its interval; `None` if either is unsound.
pub(crate) fn ratio(numerator: &Estimate, denominator: &Estimate) -> Option<Quantity> {
    let is_sound = numerator.is_sound() && denominator.is_sound();
    let ratio = is_sound
        .then(|| numerator.ratio_to(denominator))
        .flatten()?;
    Some(Quantity::estimated(&ratio, Unit::Ratio))
}

/// As [`ratio`], of two metrics that every process measured at the same point: what slows a process
/// down as a whole cancels.
pub(crate) fn ratio_within(numerator: &Estimate, denominator: &Estimate) -> Option<Quantity> {
    let is_sound = numerator.is_sound() && denominator.is_sound();
    let ratio = is_sound
        .then(|| numerator.ratio_within(denominator))
        .flatten()?;
    Some(Quantity::estimated(&ratio, Unit::Ratio))
}

/// The share of a part in its whole, which every process measured together. Its interval is cut off at
/// the whole.
pub(crate) fn part(part: &Estimate, whole: &Estimate) -> Option<Quantity> {
    let share = ratio_within(part, whole)?.in_unit(Unit::Share);
    let cut = |interval: Interval| Interval::new(interval.low.min(1.0), interval.high.min(1.0));
    Some(Quantity {
        interval: share.interval.and_then(cut),
        ..share
    })
}

/// The value of a curve at a place, if it has that place.
pub(crate) fn value_at<L: Copy + PartialEq, V: Copy>(curve: &[(L, V)], place: L) -> Option<V> {
    let found = curve.iter().find(|(measured, _)| *measured == place);
    found.map(|(_, value)| *value)
}

/// The estimates of two curves at the places that both have, in the order of the first.
pub(crate) fn side_by_side<'r, L: Copy + PartialEq>(
    one: &[(L, &'r Estimate)],
    other: &[(L, &'r Estimate)],
) -> Vec<(L, &'r Estimate, &'r Estimate)> {
    let both = |(place, one): &(L, &'r Estimate)| Some((*place, *one, value_at(other, *place)?));
    one.iter().filter_map(both).collect()
}

/// The ratio of one curve to the other at each place that both have.
pub(crate) fn ratios<L: Copy + PartialEq>(
    one: &[(L, &Estimate)],
    other: &[(L, &Estimate)],
) -> Vec<(L, Quantity)> {
    let both = side_by_side(one, other).into_iter();
    both.filter_map(|(place, one, other)| Some((place, ratio(one, other)?)))
        .collect()
}

/// As [`ratios`], of two metrics of the same points: see [`ratio_within`].
pub(crate) fn ratios_within<L: Copy + PartialEq>(
    one: &[(L, &Estimate)],
    other: &[(L, &Estimate)],
) -> Vec<(L, Quantity)> {
    let both = side_by_side(one, other).into_iter();
    both.filter_map(|(place, one, other)| Some((place, ratio_within(one, other)?)))
        .collect()
}

/// The largest estimate, with its place. Chance decides between those that are alike.
pub(crate) fn highest<'r, L>(
    curve: impl IntoIterator<Item = (L, &'r Estimate)>,
) -> Option<(L, &'r Estimate)> {
    let curve = curve.into_iter();
    curve.max_by(|(_, one), (_, other)| one.centre.total_cmp(&other.centre))
}

/// The smallest estimate, with its place. Chance decides between those that are alike.
pub(crate) fn lowest<'r, L>(
    curve: impl IntoIterator<Item = (L, &'r Estimate)>,
) -> Option<(L, &'r Estimate)> {
    let curve = curve.into_iter();
    curve.min_by(|(_, one), (_, other)| one.centre.total_cmp(&other.centre))
}

/// The ratios of several pairs of curves in ascending order of their places, for a statement about all of them.
pub(crate) fn pooled<L: Copy + Ord>(
    pairs: impl IntoIterator<Item = Vec<(L, Quantity)>>,
) -> Vec<(L, Quantity)> {
    let mut all: Vec<_> = pairs.into_iter().flatten().collect();
    all.sort_by_key(|(place, _)| *place);
    all
}

/// The wall time in ns that `work` bytes or operations take at a `rate` per second; `None` where
/// the rate is unsound.
pub(crate) fn time_ns(rate: &Estimate, work: f64) -> Option<Quantity> {
    let time = |per_second: f64| work * 1e9 / per_second;
    rate.is_sound().then(|| Quantity {
        value: time(rate.centre),
        interval: rate
            .interval
            .and_then(|rate| Interval::new(time(rate.high), time(rate.low))),
        unit: Unit::Nanoseconds,
    })
}

/// The grade of a comparison that came out as `value`, where `neutral` would mean no difference.
pub(crate) fn grade(value: &Quantity, neutral: f64) -> Grade {
    match value.interval {
        None => Grade::Likely,
        Some(_) if value.differs_from(neutral) => Grade::Certain,
        Some(_) => Grade::Undecided,
    }
}

/// A finding about a ratio, as certain as this differs from 1.
pub(crate) fn by_ratio(key: &str, said: Sentence, ratio: &Quantity) -> Finding {
    Finding::new(key, said).graded(grade(ratio, 1.0))
}

/// The findings that follow, in this order.
pub(crate) fn found<const N: usize>(findings: [Option<Finding>; N]) -> Vec<Finding> {
    findings.into_iter().flatten().collect()
}

/// A finding that only states `values`, each with its interval.
pub(crate) fn of_values<const N: usize>(
    key: &str,
    said: Sentence,
    values: [impl Into<Quantity>; N],
) -> Finding {
    Finding::new(key, said).graded(known(values))
}

/// The grade of a sentence that only states `values`.
pub(crate) fn known<const N: usize>(values: [impl Into<Quantity>; N]) -> Grade {
    let values = values.map(Into::into);
    if values.iter().any(|value| value.known() == Known::Nothing) {
        Grade::Undecided
    } else {
        certain_if(values.iter().all(|value| value.interval.is_some()))
    }
}

/// The grade of a sentence that states what something costs more; where it costs less, that none shows.
pub(crate) fn extra_cost(difference: &Quantity) -> Grade {
    if difference.value > 0.0 {
        known([*difference])
    } else {
        Grade::Undecided
    }
}

/// The grade of a sentence that is likely at least.
pub(crate) fn certain_if(is_certain: bool) -> Grade {
    if is_certain {
        Grade::Certain
    } else {
        Grade::Likely
    }
}

#[cfg(test)]
mod tests {
    use super::{grade, known, ratio, ratio_within, time_ns};
    use crate::made_up::{RATE, estimate_of};
    use instrument::finding::Grade;
    use instrument::quantity::Quantity;

    #[test]
    fn a_time_is_the_inverse_of_a_rate_and_its_interval_is_in_order() {
        let time = time_ns(&estimate_of(RATE, &[1e6, 1.1e6, 0.9e6]), 1.0).expect("sound");
        let interval = time.interval.expect("three processes");
        assert!(interval.low < time.value && time.value < interval.high);
        assert!((time.value - 1000.0).abs() < 10.0, "{time:?}");
    }

    #[test]
    fn a_comparison_is_certain_only_when_its_interval_leaves_out_equality() {
        let slow = estimate_of(RATE, &[10.0, 10.1, 9.9]);
        let fast = estimate_of(RATE, &[20.0, 20.1, 19.9]);
        let other = estimate_of(RATE, &[10.0, 10.1, 9.9]);
        assert_eq!(
            grade(&ratio(&fast, &slow).expect("sound"), 1.0),
            Grade::Certain
        );
        assert_eq!(
            grade(&ratio(&other, &slow).expect("sound"), 1.0),
            Grade::Undecided
        );
    }

    #[test]
    fn what_slows_whole_processes_down_cancels_within_them() {
        let part = estimate_of(RATE, &[10.0, 20.0, 15.0]);
        let whole = estimate_of(RATE, &[20.0, 40.0, 30.0]);
        let share = ratio_within(&part, &whole).expect("sound");
        let interval = share.interval.expect("three processes");
        assert!((share.value - 0.5).abs() < 1e-9 && interval.half_width() < 1e-9);
        let apart = ratio(&part, &whole).expect("sound");
        assert!(apart.interval.expect("three processes").half_width() > 0.1);
    }

    #[test]
    fn a_part_is_no_larger_than_its_whole() {
        let part = super::part(
            &estimate_of(RATE, &[98.0, 80.0, 99.0]),
            &estimate_of(RATE, &[100.0, 100.0, 100.0]),
        );
        let interval = part
            .and_then(|part| part.interval)
            .expect("three processes");
        assert!(interval.low < 0.98 && interval.high <= 1.0, "{interval:?}");
    }

    #[test]
    fn a_stated_value_is_certain_if_its_interval_says_something() {
        let narrow = estimate_of(RATE, &[10.0, 10.1, 9.9]).quantity();
        let wide = estimate_of(RATE, &[10.0, 100.0]).quantity();
        let printed = Quantity::exact(10.0, narrow.unit);
        assert_eq!(known([narrow]), Grade::Certain);
        assert_eq!(known([narrow, printed]), Grade::Likely);
        assert_eq!(known([narrow, printed, wide]), Grade::Undecided);
    }
}
