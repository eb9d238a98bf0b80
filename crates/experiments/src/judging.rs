//! Decides claims by ratios of estimates and their intervals.

use crate::estimates::ratio;
use instrument::claim::{Judgement, Ruling};
use instrument::curve::{self, Onset, Open};
use instrument::finding::{Finding, Grade, Sentence, sentence};
use instrument::quantity::Quantity;
use instrument::results::Estimate;

/// Less than this makes no difference that anyone would act on.
pub(crate) const MARGIN: f64 = curve::MARGIN;

/// Of two settings that differ by no more, the one that takes less is the better choice. Quick runs can show this
/// much of disks and of several threads, where they cannot show [`MARGIN`].
pub(crate) const NEAR_BEST: f64 = 0.2;

/// [`NEAR_BEST`] in a sentence.
pub(crate) fn near_best() -> String {
    format!("{} %", (100.0 * NEAR_BEST).round())
}

/// Up to this factor, two costs are almost the same to a program.
pub(crate) const ALMOST: f64 = 1.25;

/// Up to this factor, slower is a little slower.
pub(crate) const LITTLE: f64 = 1.5;

/// Decides whether a ratio lies above `threshold`: the interval must leave no doubt.
pub(crate) fn exceeds(ratio: &Quantity, threshold: f64) -> Ruling {
    match ratio.interval {
        Some(interval) if interval.low > threshold => Ruling::Holds,
        Some(interval) if interval.high < threshold => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    }
}

/// The place from which on the ratio stays above `threshold`.
pub(crate) fn above_from<L: Copy>(
    ratios: &[(L, Quantity)],
    threshold: f64,
) -> Result<Onset<L>, Open<L>> {
    let ruling = |(place, ratio): &(L, Quantity)| (*place, exceeds(ratio, threshold));
    curve::crossover(&ratios.iter().map(ruling).collect::<Vec<_>>())
}

/// The place from which on the ratio stays below `threshold`.
pub(crate) fn below_from<L: Copy>(
    ratios: &[(L, Quantity)],
    threshold: f64,
) -> Result<Onset<L>, Open<L>> {
    let ruling = |(place, ratio): &(L, Quantity)| (*place, opposite(exceeds(ratio, threshold)));
    curve::crossover(&ratios.iter().map(ruling).collect::<Vec<_>>())
}

/// Decides whether a ratio is about `expected`: neither is more than `factor` times the other.
pub(crate) fn is_about(ratio: &Quantity, expected: f64, factor: f64) -> Ruling {
    let (least, most) = (expected / factor, expected * factor);
    match ratio.interval {
        Some(interval) if interval.low > least && interval.high < most => Ruling::Holds,
        Some(interval) if interval.high < least || interval.low > most => Ruling::DoesNotHold,
        _ => Ruling::Undecided,
    }
}

/// The ruling on a statement about several places from the ruling at each: it holds in part where it holds at
/// some of them, and does not hold where it holds at none and one contradicts it.
pub(crate) fn throughout(rulings: impl IntoIterator<Item = Ruling>) -> Ruling {
    let rulings: Vec<Ruling> = rulings.into_iter().collect();
    if rulings.is_empty() {
        Ruling::Undecided
    } else if rulings.iter().all(|it| *it == Ruling::Holds) {
        Ruling::Holds
    } else if rulings.contains(&Ruling::Holds) || rulings.contains(&Ruling::HoldsInPart) {
        Ruling::HoldsInPart
    } else if rulings.contains(&Ruling::DoesNotHold) {
        Ruling::DoesNotHold
    } else {
        Ruling::Undecided
    }
}

/// The ruling on a statement that one place contradicts, from the ruling at each of several places.
fn everywhere(rulings: impl IntoIterator<Item = Ruling>) -> Ruling {
    let rulings: Vec<Ruling> = rulings.into_iter().collect();
    if rulings.contains(&Ruling::DoesNotHold) {
        Ruling::DoesNotHold
    } else if rulings.contains(&Ruling::Undecided) {
        Ruling::Undecided
    } else {
        Ruling::Holds
    }
}

/// The ruling on a statement that one place is enough for, from the ruling at each of several places.
pub(crate) fn somewhere(rulings: impl IntoIterator<Item = Ruling>) -> Ruling {
    opposite(everywhere(rulings.into_iter().map(opposite)))
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

/// Judges "`one` is about `times` as large as `other`", with 1 "they are about the same": the ratio is no more than `factor`
/// away from it.
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
    decided(ruling, say(ratio))
        .with_number("one", one)
        .with_number("other", other)
        .with_number("ratio", ratio)
}

/// Judges "one is larger than the other" along an axis, from their ratio at each place in ascending order of
/// the places, and the least and the largest of them in the sentence. A place has several ratios where several
/// pairs were measured. A sentence about a part of the range begins with the place from which on it holds, named by
/// `noun`: `blocks of `. `None` with fewer than two ratios.
pub(crate) fn larger_along<L: Copy + PartialEq + Into<Quantity>>(
    noun: &str,
    ratios: &[(L, Quantity)],
    say: impl FnOnce([Quantity; 2]) -> Sentence,
) -> Option<Judgement> {
    larger_along_by(1.0 + MARGIN, noun, ratios, say)
}

/// As [`larger_along`], by more than `factor`.
pub(crate) fn larger_along_by<L: Copy + PartialEq + Into<Quantity>>(
    factor: f64,
    noun: &str,
    ratios: &[(L, Quantity)],
    say: impl FnOnce([Quantity; 2]) -> Sentence,
) -> Option<Judgement> {
    if ratios.len() < 2 {
        return None;
    }
    let rulings = ratios.iter().map(|(_, ratio)| exceeds(ratio, factor));
    let rulings: Vec<Ruling> = rulings.collect();
    let ruling = throughout(rulings.iter().copied());
    let [(_, least), (_, most)] = extremes(ratios)?;
    let said = say([least, most]);
    let said = if ruling != Ruling::HoldsInPart {
        said
    } else if let Some(from) = tail(ratios, &rulings) {
        let from: Quantity = from.into();
        let overall = said.after("; overall, ");
        sentence!("From {noun}{from} on{overall}")
    } else {
        said.after("Only in part of the range; overall, ")
    };
    Some(between(ruling, said, [least, most]))
}

/// The place from which on every ratio is above the bound. One place at the end may be chance; two in a row are a
/// trend.
fn tail<L: Copy + PartialEq>(ratios: &[(L, Quantity)], rulings: &[Ruling]) -> Option<L> {
    let last_that_fails = rulings.iter().rposition(|it| *it != Ruling::Holds);
    let behind = last_that_fails.map_or(ratios, |last| {
        let fails = ratios[last].0;
        let behind = ratios[last..].iter().position(|(place, _)| *place != fails);
        behind.map_or(&[][..], |first| &ratios[last + first..])
    });
    let (from, _) = behind.first()?;
    let (to, _) = behind.last()?;
    (from != to).then_some(*from)
}

/// Judges "one is larger than the other by more than `factor`" among pairs that have names and no order, from the
/// ratio of each. `say` gets the least and the largest ratio, each with its name.
pub(crate) fn larger_among<N: Copy>(
    factor: f64,
    ratios: &[(N, Quantity)],
    say: impl FnOnce([(N, Quantity); 2]) -> Sentence,
) -> Option<Judgement> {
    let ruling = throughout(ratios.iter().map(|(_, ratio)| exceeds(ratio, factor)));
    let [least, most] = extremes(ratios)?;
    Some(between(ruling, say([least, most]), [least.1, most.1]))
}

/// Judges "one is about `times` as large as the other" along an axis, from their ratio at each place and the
/// least and the largest of them in the sentence: none is more than `factor` away from `times`.
pub(crate) fn about_along<L: Copy>(
    times: f64,
    factor: f64,
    ratios: &[(L, Quantity)],
    say: impl FnOnce([Quantity; 2]) -> Sentence,
) -> Option<Judgement> {
    let ruling = everywhere(ratios.iter().map(|(_, it)| is_about(it, times, factor)));
    let [(_, least), (_, most)] = extremes(ratios)?;
    Some(between(ruling, say([least, most]), [least, most]))
}

/// A judgement by several ratios, of which programs find the `least` and the `most`.
fn between(ruling: Ruling, said: Sentence, [least, most]: [Quantity; 2]) -> Judgement {
    decided(ruling, said)
        .with_number("least", least)
        .with_number("most", most)
}

/// The least and the largest ratio, each with its place.
pub(crate) fn extremes<L: Copy>(ratios: &[(L, Quantity)]) -> Option<[(L, Quantity); 2]> {
    let by_value = |a: &&(L, Quantity), b: &&(L, Quantity)| a.1.value.total_cmp(&b.1.value);
    let least = ratios.iter().min_by(by_value)?;
    let most = ratios.iter().max_by(by_value)?;
    Some([*least, *most])
}

/// A judgement whose sentence is as sure as its ruling.
pub(crate) fn decided(ruling: Ruling, said: Sentence) -> Judgement {
    let grade = match ruling {
        Ruling::Holds | Ruling::HoldsInPart | Ruling::DoesNotHold => Grade::Certain,
        Ruling::Undecided => Grade::Undecided,
    };
    Judgement::new(ruling, Finding::new("because", said).graded(grade))
}

#[cfg(test)]
mod tests {
    use super::{
        MARGIN, a_little, about, about_along, both, exceeds, larger, larger_along, larger_among,
        opposite, throughout,
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
    fn about_n_times_is_judged_at_every_place_and_on_both_sides() {
        let judged = |factors: &[f64]| {
            let ratios: Vec<_> = factors.iter().map(|it| (Count(1), of(*it))).collect();
            let judged = about_along(4.0, 1.25, &ratios, |_| sentence!("It is larger."));
            judged.expect("ratios").ruling
        };
        assert_eq!(judged(&[3.9, 4.2]), Ruling::Holds);
        assert_eq!(judged(&[3.9, 40.0]), Ruling::DoesNotHold);
        assert_eq!(judged(&[3.9, 2.0]), Ruling::DoesNotHold);
        assert_eq!(judged(&[3.9, 5.0]), Ruling::Undecided);
        assert_eq!(judged(&[5.0, 6.0]), Ruling::DoesNotHold);
    }

    #[test]
    fn what_holds_at_some_places_holds_in_part() {
        use Ruling::{DoesNotHold, Holds, HoldsInPart, Undecided};
        assert_eq!(throughout([Holds, Holds]), Holds);
        assert_eq!(throughout([Holds, DoesNotHold]), HoldsInPart);
        assert_eq!(throughout([HoldsInPart, Undecided]), HoldsInPart);
        assert_eq!(throughout([Undecided, DoesNotHold]), DoesNotHold);
        assert_eq!(throughout([Undecided, Undecided]), Undecided);
        assert_eq!(throughout([]), Undecided);
    }

    #[test]
    fn among_things_without_order_the_extremes_are_named() {
        let ratios = [("pipe", of(0.5)), ("ring", of(3.0)), ("futex", of(1.5))];
        let judged = larger_among(1.0 + MARGIN, &ratios, |[(slow, _), (fast, _)]| {
            sentence!("{slow}, {fast}")
        });
        let judged = judged.expect("ratios");
        assert_eq!(judged.ruling, Ruling::HoldsInPart);
        assert_eq!(judged.because.sentence.to_string(), "pipe, ring");
    }

    #[test]
    fn a_part_of_the_range_begins_where_every_pair_of_a_place_agrees() {
        let ratios = [(1, 2.0), (2, 0.5), (2, 2.0), (3, 2.0), (4, 2.0), (4, 3.0)];
        let ratios = ratios.map(|(place, factor)| (Count(place), of(factor)));
        let judged = larger_along("place ", &ratios, |_| sentence!("It is larger."));
        let said = judged.expect("two places").because.sentence;
        let said = said.text(|quantity| quantity.value.to_string());
        assert_eq!(said, "From place 3 on; overall, it is larger.");
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
                "From place 1 on; overall, it is larger.",
            ),
            (
                vec![1.5, 0.5, 1.5],
                Ruling::HoldsInPart,
                "Only in part of the range; overall, it is larger.",
            ),
            (vec![0.5, 1.0, 0.9], Ruling::DoesNotHold, "It is larger."),
            (vec![1.05, 1.05], Ruling::Undecided, "It is larger."),
        ] {
            assert_eq!(along(&factors), (ruling, said.to_owned()), "{factors:?}");
        }
    }
}
