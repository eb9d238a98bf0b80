//! Decides claims by ratios of estimates and their intervals.

use crate::estimates::{ratio, ratio_within};
use instrument::claim::{Judgement, Ruling};
use instrument::finding::{Finding, Grade, Sentence};
use instrument::quantity::Quantity;
use instrument::results::Estimate;

/// Less than this makes no difference that anyone would act on.
pub(crate) const MARGIN: f64 = 0.02;

/// Up to this factor, two costs are almost the same to a program.
pub(crate) const ALMOST: f64 = 1.25;

/// Decides if a ratio lies above `threshold`: the interval must leave no doubt.
pub(crate) fn exceeds(ratio: &Quantity, threshold: f64) -> Ruling {
    match ratio.interval {
        Some(interval) if interval.low > threshold => Ruling::Holds,
        Some(interval) if interval.high < threshold => Ruling::DoesNotHold,
        _ => Ruling::CannotBeTold,
    }
}

/// Judges "`one` is larger than `other`" by their ratio, which the sentence is made of. All three are
/// beside it for programs, as `one`, `other` and `ratio`.
pub(crate) fn larger(
    one: &Estimate,
    other: &Estimate,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Judgement> {
    larger_by(1.0 + MARGIN, one, other, say)
}

/// As [`larger`], by more than `factor`.
pub(crate) fn larger_by(
    factor: f64,
    one: &Estimate,
    other: &Estimate,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Judgement> {
    Some(exceeding(factor, one, other, ratio(one, other)?, say))
}

/// As [`larger`], of two metrics that every process measured together ([`ratio_within`]).
pub(crate) fn larger_within(
    one: &Estimate,
    other: &Estimate,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Judgement> {
    let ratio = ratio_within(one, other)?;
    Some(exceeding(1.0 + MARGIN, one, other, ratio, say))
}

fn exceeding(
    factor: f64,
    one: &Estimate,
    other: &Estimate,
    ratio: Quantity,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Judgement {
    let because = Finding::new("because", say(ratio))
        .beside("one", one)
        .beside("other", other)
        .beside("ratio", ratio);
    decided(exceeds(&ratio, factor), because)
}

/// Judges "`one` and `other` are about the same": neither is more than `factor` times the other.
pub(crate) fn alike(
    factor: f64,
    one: &Estimate,
    other: &Estimate,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Judgement> {
    let ratio = ratio(one, other)?;
    let ruling = match ratio.interval {
        Some(interval) if interval.low > 1.0 / factor && interval.high < factor => Ruling::Holds,
        Some(interval) if interval.high < 1.0 / factor || interval.low > factor => {
            Ruling::DoesNotHold
        }
        _ => Ruling::CannotBeTold,
    };
    let because = Finding::new("because", say(ratio))
        .beside("one", one)
        .beside("other", other)
        .beside("ratio", ratio);
    Some(decided(ruling, because))
}

/// The ratios along an axis, for the sentences of [`Along`].
#[derive(Clone, Copy)]
pub(crate) struct Ratios {
    /// The smallest.
    pub(crate) least: Quantity,
    /// The largest.
    pub(crate) most: Quantity,
    /// The first place from which on it holds up to the last, where it does at the last.
    pub(crate) from: Quantity,
}

/// The sentences about a range of sizes or numbers.
pub(crate) struct Along {
    /// It holds everywhere.
    pub(crate) everywhere: fn(Ratios) -> Sentence,
    /// It holds from some place on.
    pub(crate) from_on: fn(Ratios) -> Sentence,
    /// It holds nowhere.
    pub(crate) nowhere: fn(Ratios) -> Sentence,
    /// It holds here and there.
    pub(crate) mixed: fn(Ratios) -> Sentence,
}

impl Along {
    /// Judges "one is larger than the other" along an axis: at each place the ratio of the one to
    /// the other is given, in ascending order of the places. `None` with fewer than two places.
    pub(crate) fn judge<L: Copy + Into<Quantity>>(
        &self,
        ratios: &[(L, Quantity)],
    ) -> Option<Judgement> {
        if ratios.len() < 2 {
            return None;
        }
        let rulings = ratios.iter().map(|(_, ratio)| exceeds(ratio, 1.0 + MARGIN));
        let rulings: Vec<Ruling> = rulings.collect();
        let count = |wanted| rulings.iter().filter(|ruling| **ruling == wanted).count();
        let (held, refuted) = (count(Ruling::Holds), count(Ruling::DoesNotHold));
        let from_the_end = rulings.iter().rev();
        let tail = from_the_end.take_while(|it| **it == Ruling::Holds).count();
        let (ruling, say) = match (held, refuted, tail) {
            (held, _, _) if held == ratios.len() => (Ruling::Holds, self.everywhere),
            (0, refuted, _) if refuted == ratios.len() => (Ruling::DoesNotHold, self.nowhere),
            // One place at the end may be chance; two in a row are a trend.
            (_, _, tail) if tail >= 2 => (Ruling::HoldsInPart, self.from_on),
            (0, refuted, _) if refuted > 0 => (Ruling::DoesNotHold, self.nowhere),
            (held, _, _) if held > 0 => (Ruling::HoldsInPart, self.mixed),
            _ => (Ruling::CannotBeTold, self.mixed),
        };
        let values = ratios.iter().map(|(_, ratio)| *ratio);
        let least = values.clone().min_by(|a, b| a.value.total_cmp(&b.value))?;
        let most = values.max_by(|a, b| a.value.total_cmp(&b.value))?;
        let end: Quantity = ratios.last()?.0.into();
        let from = match ratios.get(ratios.len() - tail) {
            Some((place, _)) => (*place).into(),
            None => Quantity::exact(f64::NAN, end.unit),
        };
        let said = say(Ratios { least, most, from });
        let because = Finding::new("because", said)
            .beside("least", least)
            .beside("most", most)
            .beside("from", from);
        Some(decided(ruling, because))
    }
}

/// The choice to advise where `other` is `gain` as fast as the `usual` choice: the better of both with what
/// it gains; `None` where the measurement does not decide.
pub(crate) fn better<T>(gain: &Quantity, other: T, usual: T) -> Option<(T, Option<Quantity>)> {
    match exceeds(gain, 1.0 + MARGIN) {
        Ruling::Holds => Some((other, Some(*gain))),
        Ruling::DoesNotHold => Some((usual, None)),
        Ruling::HoldsInPart | Ruling::CannotBeTold => None,
    }
}

/// A judgement whose sentence is as sure as its ruling.
pub(crate) fn decided(ruling: Ruling, because: Finding) -> Judgement {
    let grade = match ruling {
        Ruling::Holds | Ruling::HoldsInPart | Ruling::DoesNotHold => Grade::Certain,
        Ruling::CannotBeTold => Grade::CannotBeTold,
    };
    Judgement::new(ruling, because.graded(grade))
}

#[cfg(test)]
mod tests {
    use super::{Along, Ratios, alike, exceeds, larger};
    use crate::estimates::ratio;
    use crate::made_up::{RATE, estimate_of};
    use instrument::claim::Ruling;
    use instrument::finding::sentence;
    use instrument::quantity::{Count, Quantity};

    fn of(factor: f64) -> Quantity {
        let one = estimate_of(RATE, &[100.0 * factor, 100.1 * factor, 99.9 * factor]);
        ratio(&one, &estimate_of(RATE, &[100.0, 100.1, 99.9])).expect("sound")
    }

    const ALONG: Along = Along {
        everywhere: |_| sentence!("everywhere"),
        from_on: |Ratios { from, .. }| sentence!("from {from}"),
        nowhere: |_| sentence!("nowhere"),
        mixed: |_| sentence!("mixed"),
    };

    fn along(factors: &[f64]) -> (Ruling, String) {
        let places = factors.iter().enumerate();
        let ratios: Vec<_> = places
            .map(|(place, factor)| (Count(place as u64), of(*factor)))
            .collect();
        let judgement = ALONG.judge(&ratios).expect("two places");
        let sentence = judgement
            .because
            .sentence
            .text(|quantity| quantity.value.to_string());
        (judgement.ruling, sentence)
    }

    #[test]
    fn a_difference_within_the_margin_is_none() {
        assert_eq!(exceeds(&of(1.1), 1.02), Ruling::Holds);
        assert_eq!(exceeds(&of(1.01), 1.02), Ruling::DoesNotHold);
        assert_eq!(exceeds(&of(1.02), 1.02), Ruling::CannotBeTold);
    }

    #[test]
    fn what_is_about_the_same_differs_by_no_more_than_the_factor_either_way() {
        let judged = |one: f64| {
            let one = estimate_of(RATE, &[one, one * 1.001, one * 0.999]);
            let other = estimate_of(RATE, &[100.0, 100.1, 99.9]);
            alike(1.25, &one, &other, |ratio| sentence!("{ratio}"))
                .expect("sound")
                .ruling
        };
        assert_eq!(judged(90.0), Ruling::Holds);
        assert_eq!(judged(70.0), Ruling::DoesNotHold);
        assert_eq!(judged(150.0), Ruling::DoesNotHold);
        assert_eq!(judged(125.0), Ruling::CannotBeTold);
    }

    #[test]
    fn a_judgement_names_what_it_rests_on() {
        let one = estimate_of(RATE, &[200.0, 201.0, 199.0]);
        let other = estimate_of(RATE, &[100.0, 100.5, 99.5]);
        let judgement = larger(&one, &other, |ratio| {
            sentence!("{one} is {ratio} of {other}")
        })
        .expect("sound");
        assert_eq!(judgement.ruling, Ruling::Holds);
        let sentence = judgement
            .because
            .sentence
            .text(|quantity| format!("{:.0}", quantity.value));
        assert_eq!(sentence, "200 is 2 of 100");
    }

    #[test]
    fn along_an_axis_a_claim_holds_everywhere_from_a_place_on_in_places_or_nowhere() {
        assert_eq!(
            along(&[1.5, 1.5, 2.0]),
            (Ruling::Holds, "everywhere".into())
        );
        assert_eq!(
            along(&[0.5, 1.5, 2.0]),
            (Ruling::HoldsInPart, "from 1".into())
        );
        assert_eq!(
            along(&[1.5, 0.5, 1.5]),
            (Ruling::HoldsInPart, "mixed".into())
        );
        assert_eq!(
            along(&[0.5, 1.0, 0.9]),
            (Ruling::DoesNotHold, "nowhere".into())
        );
        assert_eq!(along(&[1.02, 1.02]), (Ruling::CannotBeTold, "mixed".into()));
    }
}
