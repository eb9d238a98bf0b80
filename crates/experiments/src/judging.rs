//! Decides claims by ratios of estimates and their intervals.

use crate::estimates::{ratio, ratio_within};
use instrument::claim::{Judgement, Ruling};
use instrument::finding::{Finding, Grade, Sentence, sentence};
use instrument::quantity::Quantity;
use instrument::results::Estimate;

/// Less than this makes no difference that anyone would act on. The narrowest interval of a first run is ±2 %, so
/// that a smaller margin could never be shown to be kept.
pub(crate) const MARGIN: f64 = 0.05;

/// Up to this factor, two costs are almost the same to a program.
pub(crate) const ALMOST: f64 = 1.25;

/// Up to this factor, slower is a little slower.
pub(crate) const LITTLE: f64 = 1.5;

/// Decides if a ratio lies above `threshold`: the interval must leave no doubt.
pub(crate) fn exceeds(ratio: &Quantity, threshold: f64) -> Ruling {
    match ratio.interval {
        Some(interval) if interval.low > threshold => Ruling::Holds,
        Some(interval) if interval.high < threshold => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    }
}

/// Decides if a ratio is about `expected`: neither is more than `factor` times the other.
pub(crate) fn is_about(ratio: &Quantity, expected: f64, factor: f64) -> Ruling {
    let (least, most) = (expected / factor, expected * factor);
    match ratio.interval {
        Some(interval) if interval.low > least && interval.high < most => Ruling::Holds,
        Some(interval) if interval.high < least || interval.low > most => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    }
}

/// Decides if all ratios are about 1: none is surely more than `factor` away from it.
pub(crate) fn all_alike<'r>(factor: f64, ratios: impl IntoIterator<Item = &'r Quantity>) -> Ruling {
    let rulings = ratios.into_iter().map(|it| is_about(it, 1.0, factor));
    let rulings: Vec<Ruling> = rulings.collect();
    if rulings.contains(&Ruling::DoesNotHold) {
        Ruling::DoesNotHold
    } else if rulings.is_empty() || rulings.contains(&Ruling::Undecided) {
        Ruling::Undecided
    } else {
        Ruling::Holds
    }
}

/// The ruling on two things at once: where one holds and the other does not, they hold in part.
pub(crate) fn both(one: Ruling, other: Ruling) -> Ruling {
    match (one, other) {
        (Ruling::Holds, Ruling::Holds) => Ruling::Holds,
        (Ruling::DoesNotHold, Ruling::DoesNotHold) => Ruling::DoesNotHold,
        (Ruling::Undecided, _) | (_, Ruling::Undecided) => Ruling::Undecided,
        _ => Ruling::HoldsInPart,
    }
}

/// The ruling on the contrary.
pub(crate) fn opposite(ruling: Ruling) -> Ruling {
    match ruling {
        Ruling::Holds => Ruling::DoesNotHold,
        Ruling::DoesNotHold => Ruling::Holds,
        open => open,
    }
}

/// The judgement on "a little slower" from that on "slower": it does not hold where one of `losses` is
/// large.
pub(crate) fn a_little<L>(judged: Judgement, losses: &[(L, Quantity)]) -> Judgement {
    let is = |wanted| move |(_, loss): &(L, Quantity)| exceeds(loss, LITTLE) == wanted;
    let ruling = match judged.ruling {
        Ruling::Holds | Ruling::HoldsInPart if losses.iter().any(is(Ruling::Holds)) => {
            Ruling::DoesNotHold
        }
        Ruling::Holds if !losses.iter().all(is(Ruling::DoesNotHold)) => Ruling::HoldsInPart,
        ruling => ruling,
    };
    Judgement { ruling, ..judged }
}

/// Judges "`one` is larger than `other`" by their ratio, which `say` makes the sentence of. Programs find all
/// three as `one`, `other` and `ratio`.
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
    let ratio = ratio(one, other)?;
    Some(compared([one, other], ratio, exceeds(&ratio, factor), say))
}

/// As [`larger`], of two metrics that every process measured together ([`ratio_within`]).
pub(crate) fn larger_within(
    one: &Estimate,
    other: &Estimate,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Judgement> {
    let ratio = ratio_within(one, other)?;
    let ruling = exceeds(&ratio, 1.0 + MARGIN);
    Some(compared([one, other], ratio, ruling, say))
}

/// Judges "`one` and `other` are about the same": neither is more than `factor` times the other.
pub(crate) fn alike(
    factor: f64,
    one: &Estimate,
    other: &Estimate,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Judgement> {
    about(1.0, factor, one, other, say)
}

/// Judges "`one` is about `times` as large as `other`": the ratio is no more than `factor` away from it.
pub(crate) fn about(
    times: f64,
    factor: f64,
    one: &Estimate,
    other: &Estimate,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Option<Judgement> {
    let ratio = ratio(one, other)?;
    let ruling = is_about(&ratio, times, factor);
    Some(compared([one, other], ratio, ruling, say))
}

fn compared(
    [one, other]: [&Estimate; 2],
    ratio: Quantity,
    ruling: Ruling,
    say: impl FnOnce(Quantity) -> Sentence,
) -> Judgement {
    let because = Finding::new("because", say(ratio))
        .with_number("one", one)
        .with_number("other", other)
        .with_number("ratio", ratio);
    decided(ruling, because)
}

/// Judges "one is larger than the other" along an axis, from their ratio at each place in ascending order of
/// the places, and the least and the largest of them in the sentence. A sentence about a part of the range begins with
/// the place from which on it holds, named by `noun`: `blocks of `. `None` with fewer than two places.
pub(crate) fn larger_along<L: Copy + Into<Quantity>>(
    noun: &str,
    ratios: &[(L, Quantity)],
    say: impl FnOnce([Quantity; 2]) -> Sentence,
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
    let [least, most] = extremes(ratios)?;
    let said = say([least, most]);
    let (ruling, said) = if held == ratios.len() {
        (Ruling::Holds, said)
    } else if tail >= 2 {
        // One place at the end may be chance; two in a row are a trend.
        let from: Quantity = ratios[ratios.len() - tail].0.into();
        let in_all = said.after("; in all, ");
        let said = sentence!("From {noun}{from} on{in_all}");
        (Ruling::HoldsInPart, said)
    } else if held > 0 {
        let said = said.after("Only in part of the range; in all, ");
        (Ruling::HoldsInPart, said)
    } else if refuted > 0 {
        (Ruling::DoesNotHold, said)
    } else {
        (Ruling::Undecided, said)
    };
    let because = Finding::new("because", said)
        .with_number("least", least)
        .with_number("most", most);
    Some(decided(ruling, because))
}

/// Judges "one and the other are about the same" along an axis, from their ratio at each place and the
/// least and the largest of them in the sentence: none is more than `factor` away from 1.
pub(crate) fn alike_along<L>(
    factor: f64,
    ratios: &[(L, Quantity)],
    say: impl FnOnce([Quantity; 2]) -> Sentence,
) -> Option<Judgement> {
    let ruling = all_alike(factor, ratios.iter().map(|(_, ratio)| ratio));
    let [least, most] = extremes(ratios)?;
    let because = Finding::new("because", say([least, most]))
        .with_number("least", least)
        .with_number("most", most);
    Some(decided(ruling, because))
}

/// The least and the largest ratio.
fn extremes<L>(ratios: &[(L, Quantity)]) -> Option<[Quantity; 2]> {
    let values = || ratios.iter().map(|(_, ratio)| *ratio);
    let least = values().min_by(|a, b| a.value.total_cmp(&b.value))?;
    let most = values().max_by(|a, b| a.value.total_cmp(&b.value))?;
    Some([least, most])
}

/// A judgement whose sentence is as sure as its ruling.
pub(crate) fn decided(ruling: Ruling, because: Finding) -> Judgement {
    let grade = match ruling {
        Ruling::Holds | Ruling::HoldsInPart | Ruling::DoesNotHold => Grade::Certain,
        Ruling::Undecided => Grade::Undecided,
    };
    Judgement::new(ruling, because.graded(grade))
}

#[cfg(test)]
mod tests {
    use super::{
        MARGIN, a_little, about, all_alike, both, exceeds, larger, larger_along, opposite,
    };
    use crate::estimates::ratio;
    use crate::made_up::{RATE, estimate_of};
    use instrument::claim::Ruling;
    use instrument::finding::sentence;
    use instrument::quantity::{Count, Quantity};

    fn of(factor: f64) -> Quantity {
        let one = estimate_of(RATE, &[100.0 * factor, 100.1 * factor, 99.9 * factor]);
        ratio(&one, &estimate_of(RATE, &[100.0, 100.1, 99.9])).expect("sound")
    }

    fn along(factors: &[f64]) -> (Ruling, String) {
        let places = factors.iter().enumerate();
        let ratios: Vec<_> = places
            .map(|(place, factor)| (Count(place as u64), of(*factor)))
            .collect();
        let judgement = larger_along("place ", &ratios, |_| sentence!("It is larger."));
        let judgement = judgement.expect("two places");
        let sentence = judgement.because.sentence;
        let sentence = sentence.text(|quantity| quantity.value.to_string());
        (judgement.ruling, sentence)
    }

    #[test]
    fn a_difference_within_the_margin_is_none() {
        let judged = |factor: f64| exceeds(&of(factor), 1.0 + MARGIN);
        assert_eq!(judged(1.1), Ruling::Holds);
        assert_eq!(judged(1.01), Ruling::DoesNotHold);
        assert_eq!(judged(1.05), Ruling::Undecided);
    }

    #[test]
    fn what_is_about_as_large_differs_by_no_more_than_the_factor_either_way() {
        let other = estimate_of(RATE, &[100.0, 100.1, 99.9]);
        for (times, one, ruling) in [
            (1.0, 90.0, Ruling::Holds),
            (1.0, 70.0, Ruling::DoesNotHold),
            (1.0, 150.0, Ruling::DoesNotHold),
            (1.0, 125.0, Ruling::Undecided),
            (4.0, 386.0, Ruling::Holds),
            (4.0, 228.0, Ruling::DoesNotHold),
            (4.0, 600.0, Ruling::DoesNotHold),
            (4.0, 500.0, Ruling::Undecided),
        ] {
            let one = estimate_of(RATE, &[one, one * 1.001, one * 0.999]);
            let judged = about(times, 1.25, &one, &other, |ratio| sentence!("{ratio}"));
            assert_eq!(judged.expect("sound").ruling, ruling, "{times}: {one:?}");
        }
    }

    #[test]
    fn all_are_alike_if_none_is_surely_away() {
        let judged = |factors: &[f64]| {
            let ratios: Vec<Quantity> = factors.iter().map(|factor| of(*factor)).collect();
            all_alike(1.25, &ratios)
        };
        assert_eq!(judged(&[0.9, 1.1]), Ruling::Holds);
        assert_eq!(judged(&[0.9, 1.25]), Ruling::Undecided);
        assert_eq!(judged(&[1.25, 1.5]), Ruling::DoesNotHold);
        assert_eq!(judged(&[]), Ruling::Undecided);
    }

    #[test]
    fn what_is_lost_is_little_or_much() {
        let judged = |losses: &[f64]| {
            let losses: Vec<_> = losses.iter().map(|loss| (Count(1), of(*loss))).collect();
            let slower = larger_along("place ", &losses, |_| sentence!("It is slower."));
            a_little(slower.expect("two places"), &losses).ruling
        };
        assert_eq!(judged(&[1.2, 1.3]), Ruling::Holds);
        assert_eq!(judged(&[1.2, 1.5]), Ruling::HoldsInPart);
        assert_eq!(judged(&[1.2, 1.9]), Ruling::DoesNotHold);
        assert_eq!(judged(&[0.8, 0.9]), Ruling::DoesNotHold);
    }

    #[test]
    fn two_rulings_make_one() {
        use Ruling::{DoesNotHold, Holds, HoldsInPart, Undecided};
        assert_eq!(both(Holds, Holds), Holds);
        assert_eq!(both(Holds, DoesNotHold), HoldsInPart);
        assert_eq!(both(DoesNotHold, Undecided), Undecided);
        assert_eq!(both(DoesNotHold, opposite(Holds)), DoesNotHold);
        assert_eq!(opposite(Undecided), Undecided);
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
        for (factors, ruling, said) in [
            (vec![1.5, 1.5, 2.0], Ruling::Holds, "It is larger."),
            (
                vec![0.5, 1.5, 2.0],
                Ruling::HoldsInPart,
                "From place 1 on; in all, it is larger.",
            ),
            (
                vec![1.5, 0.5, 1.5],
                Ruling::HoldsInPart,
                "Only in part of the range; in all, it is larger.",
            ),
            (vec![0.5, 1.0, 0.9], Ruling::DoesNotHold, "It is larger."),
            (vec![1.05, 1.05], Ruling::Undecided, "It is larger."),
        ] {
            assert_eq!(along(&factors), (ruling, said.to_owned()), "{factors:?}");
        }
    }
}
