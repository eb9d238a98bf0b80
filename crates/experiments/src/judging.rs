//! How claims are decided: by ratios of estimates and their intervals.

use crate::estimates::{WithEstimate, estimated, ratio};
use instrument::claim::{Judgement, Ruling};
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::Estimate;
use instrument::statistics::Estimated;

/// Less than this makes no difference that anyone would act on.
pub(crate) const MARGIN: f64 = 0.02;

/// Whether a ratio lies above `threshold`: the interval must leave no doubt.
pub(crate) fn exceeds(ratio: &Estimated, threshold: f64) -> Ruling {
    match ratio.interval {
        Some(interval) if interval.low > threshold => Ruling::Holds,
        Some(interval) if interval.high < threshold => Ruling::DoesNotHold,
        _ => Ruling::CannotBeTold,
    }
}

/// Judges "`one` is larger than `other`" by their ratio. The sentence may name `{one}`, `{other}`
/// and `{ratio}`.
pub(crate) fn is_larger(
    (one, other): (&Estimate, &Estimate),
    unit: Unit,
    sentence: &str,
) -> Option<Judgement> {
    is_larger_by(1.0 + MARGIN, (one, other), unit, sentence)
}

/// As [`is_larger`], by more than `factor`.
pub(crate) fn is_larger_by(
    factor: f64,
    (one, other): (&Estimate, &Estimate),
    unit: Unit,
    sentence: &str,
) -> Option<Judgement> {
    let ratio = ratio(one, other)?;
    let because = Finding::new("because", sentence)
        .with("one", &estimated(one), unit)
        .with("other", &estimated(other), unit)
        .with("ratio", &ratio, Unit::Ratio);
    Some(decided(exceeds(&ratio, factor), because))
}

/// What is said of a range of sizes or numbers.
pub(crate) struct Range<'s> {
    /// What `from` is counted in.
    pub(crate) unit: Unit,
    /// Where all of it holds. May name `{least}` and `{most}`, the smallest and largest ratio.
    pub(crate) everywhere: &'s str,
    /// Where it holds from some place on. May name `{from}`, and the ratios.
    pub(crate) from_on: &'s str,
    /// Where it holds nowhere. May name the ratios.
    pub(crate) nowhere: &'s str,
    /// Where it holds here and there. May name the ratios.
    pub(crate) mixed: &'s str,
}

impl Range<'_> {
    /// Judges "one is larger than the other" along an axis: at each place the ratio of the one to
    /// the other is given, in ascending order of the places. `None` with fewer than two places.
    pub(crate) fn judge(&self, ratios: &[(u64, Estimated)]) -> Option<Judgement> {
        if ratios.len() < 2 {
            return None;
        }
        let rulings: Vec<Ruling> = ratios
            .iter()
            .map(|(_, ratio)| exceeds(ratio, 1.0 + MARGIN))
            .collect();
        let held = rulings
            .iter()
            .filter(|ruling| **ruling == Ruling::Holds)
            .count();
        let refuted = rulings
            .iter()
            .filter(|ruling| **ruling == Ruling::DoesNotHold)
            .count();
        let tail = rulings
            .iter()
            .rev()
            .take_while(|ruling| **ruling == Ruling::Holds)
            .count();
        let (ruling, sentence) = match (held, refuted, tail) {
            (held, _, _) if held == ratios.len() => (Ruling::Holds, self.everywhere),
            (0, refuted, _) if refuted == ratios.len() => (Ruling::DoesNotHold, self.nowhere),
            // One place at the end may be chance; two in a row are a trend.
            (_, _, tail) if tail >= 2 => (Ruling::HoldsInPart, self.from_on),
            (0, refuted, _) if refuted > 0 => (Ruling::DoesNotHold, self.nowhere),
            (held, _, _) if held > 0 => (Ruling::HoldsInPart, self.mixed),
            _ => (Ruling::CannotBeTold, self.mixed),
        };
        let by_centre =
            |a: &&(u64, Estimated), b: &&(u64, Estimated)| a.1.centre.total_cmp(&b.1.centre);
        let (_, least) = ratios.iter().min_by(by_centre)?;
        let (_, most) = ratios.iter().max_by(by_centre)?;
        let from = ratios
            .get(ratios.len() - tail)
            .map_or(f64::NAN, |(place, _)| *place as f64);
        let because = Finding::new("because", sentence)
            .with("least", least, Unit::Ratio)
            .with("most", most, Unit::Ratio)
            .given("from", from, self.unit);
        Some(decided(ruling, because))
    }
}

/// What to advise where `other` is `gain` as fast as the `usual` choice: the better of both with what
/// it gains; `None` where the measurement does not decide.
pub(crate) fn better<T>(gain: &Estimated, other: T, usual: T) -> Option<(T, Option<Estimated>)> {
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
    use super::{Range, exceeds, is_larger};
    use crate::estimates::ratio;
    use crate::made_up::estimate;
    use instrument::claim::Ruling;
    use instrument::quantity::Unit;
    use instrument::statistics::Estimated;

    fn of(factor: f64) -> Estimated {
        let one = estimate("rate", &[100.0 * factor, 100.1 * factor, 99.9 * factor]);
        ratio(&one, &estimate("rate", &[100.0, 100.1, 99.9])).expect("sound")
    }

    const RANGE: Range<'static> = Range {
        unit: Unit::Bytes,
        everywhere: "everywhere",
        from_on: "from {from}",
        nowhere: "nowhere",
        mixed: "mixed",
    };

    fn along(factors: &[f64]) -> (Ruling, String) {
        let places = factors.iter().enumerate();
        let ratios: Vec<_> = places
            .map(|(place, factor)| (place as u64, of(*factor)))
            .collect();
        let judgement = RANGE.judge(&ratios).expect("two places");
        let sentence = judgement
            .because
            .sentence(|number| number.value.to_string());
        (judgement.ruling, sentence)
    }

    #[test]
    fn a_difference_within_the_margin_is_none() {
        assert_eq!(exceeds(&of(1.1), 1.02), Ruling::Holds);
        assert_eq!(exceeds(&of(1.01), 1.02), Ruling::DoesNotHold);
        assert_eq!(exceeds(&of(1.02), 1.02), Ruling::CannotBeTold);
    }

    #[test]
    fn a_judgement_names_what_it_rests_on() {
        let one = estimate("rate", &[200.0, 201.0, 199.0]);
        let other = estimate("rate", &[100.0, 100.5, 99.5]);
        let judgement =
            is_larger((&one, &other), Unit::Count, "{one} is {ratio} of {other}").expect("sound");
        assert_eq!(judgement.ruling, Ruling::Holds);
        let sentence = judgement
            .because
            .sentence(|number| format!("{:.0}", number.value));
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
