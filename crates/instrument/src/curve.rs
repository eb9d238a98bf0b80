//! Places on a curve: where it is best, where its plateau begins and ends, where one curve passes another.
//!
//! Nothing is picked by its centre, since the highest of several noisy centres is high by chance. Each place is
//! compared with *every* other one instead. It is as good as the best only if each of these ratios is shown to be
//! within [`MARGIN`]: a test of equivalence, which no choice of a best can favour (R. Berger, "Multiparameter
//! hypothesis testing and acceptance sampling", Technometrics 24, 1982). The intervals of the ratios come from
//! resampled passes ([`Estimate::ratio_to`]). A noisier curve has wider ones, so that less is shown: a place may
//! stay open, but none is found elsewhere.
//!
//! Nothing is known between two measured places, so a change is known to lie between the last place before it and
//! the first place behind it ([`Onset`]).

use crate::claim::Ruling;
use crate::definition::Better;
use crate::estimate::Estimate;
use crate::quantity::Quantity;
use crate::statistics::Interval;
use std::cmp::Ordering;
use std::f64::consts::FRAC_1_SQRT_2;

/// Values that differ by no more are equally good: nobody would act on less. The narrowest interval of a ratio is
/// ±2 %, so that a much smaller margin could never be shown to be kept.
pub const MARGIN: f64 = 0.05;

/// Fewer places show no plateau.
const FEWEST_PLACES: usize = 3;

/// The place from which on something holds, as closely as the measured places show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Onset<L> {
    /// The last place where it is shown not to hold yet, or the first of all places if it may hold from there on.
    pub after: L,
    /// The first place where it is shown to hold.
    pub from: L,
}

/// The reason why a curve does not show a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open<L> {
    /// Too few places were measured.
    TooFew,
    /// It may lie at either of these places, or anywhere between them.
    Between(L, L),
    /// It is shown not to lie before the last place of all: what was not measured may be better still.
    Beyond(L),
}

/// The places of a curve, and which of them are as good as the best.
pub struct Curve<'r, L> {
    places: Vec<Place<'r, L>>,
    better: Better,
}

struct Place<'r, L> {
    at: L,
    estimate: &'r Estimate,
    /// Whether no other place is better by more than the margin.
    is_good: Ruling,
}

impl<L: Copy + PartialEq> Onset<L> {
    /// True if it holds at every place.
    pub fn is_everywhere(&self) -> bool {
        self.after == self.from
    }
}

impl<L: Into<Quantity>> From<Onset<L>> for Quantity {
    /// The first place where it holds, with the places between which it begins.
    fn from(onset: Onset<L>) -> Self {
        let (after, from): (Self, Self) = (onset.after.into(), onset.from.into());
        Self {
            interval: between(after.value, from.value),
            ..from
        }
    }
}

fn between(one: f64, other: f64) -> Option<Interval> {
    Interval::new(one.min(other), one.max(other))
}

impl<'r, L: Copy> Curve<'r, L> {
    /// The curve through these places, in order. Places within [`MARGIN`] of the best are as good
    /// as the best.
    pub fn of(places: &[(L, &'r Estimate)], better: Better) -> Self {
        Self::within(MARGIN, places, better)
    }

    /// As [`Self::of`], with another margin.
    pub fn within(margin: f64, places: &[(L, &'r Estimate)], better: Better) -> Self {
        let estimates = || places.iter().map(|(_, estimate)| *estimate);
        let top = estimates().max_by(|one, other| by_centre(better, one, other));
        let is_good = |estimate: &'r Estimate| {
            // The place that is most likely better comes first: one better place decides.
            let others = top.into_iter().chain(estimates());
            let mut ruling = Ruling::Holds;
            for other in others.filter(|other| !std::ptr::eq(*other, estimate)) {
                match times_as_good(better, estimate, other) {
                    Some(times) if times.high < 1.0 - margin => return Ruling::DoesNotHold,
                    Some(times) if times.low >= 1.0 - margin => {}
                    _ => ruling = Ruling::Undecided,
                }
            }
            ruling
        };
        let place = |(at, estimate): &(L, &'r Estimate)| Place {
            at: *at,
            estimate,
            is_good: is_good(estimate),
        };
        Self {
            places: places.iter().map(place).collect(),
            better,
        }
    }

    /// The start of the plateau: the first place that is as good as any. All places behind it gain at most
    /// the margin over it.
    ///
    /// # Errors
    /// If no place is shown to be as good as any, or only the last one.
    pub fn plateau(&self) -> Result<Onset<L>, Open<L>> {
        first_good(self.places.iter())
    }

    /// The end of the plateau: the last place that is as good as any, and the first one behind it that is not.
    ///
    /// # Errors
    /// If no place is shown to be as good as any, or only the first one.
    pub fn end(&self) -> Result<Onset<L>, Open<L>> {
        first_good(self.places.iter().rev())
    }

    /// The best of the places that are as good as any. Chance decides between those that are alike.
    ///
    /// # Errors
    /// If no place is shown to be as good as any.
    pub fn best(&self) -> Result<(L, &'r Estimate), Open<L>> {
        let best = self
            .good()
            .max_by(|(_, one), (_, other)| by_centre(self.better, one, other));
        best.ok_or_else(|| open(self.contenders().map(|(at, _)| at)))
    }

    /// The places that are shown to be as good as any.
    pub fn good(&self) -> impl DoubleEndedIterator<Item = (L, &'r Estimate)> {
        self.with(|ruling| ruling == Ruling::Holds)
    }

    /// The places that are not shown to be worse than another.
    pub fn contenders(&self) -> impl DoubleEndedIterator<Item = (L, &'r Estimate)> {
        self.with(|ruling| ruling != Ruling::DoesNotHold)
    }

    fn with(
        &self,
        is_wanted: fn(Ruling) -> bool,
    ) -> impl DoubleEndedIterator<Item = (L, &'r Estimate)> {
        let places = self.places.iter();
        let wanted = places.filter(move |place| is_wanted(place.is_good));
        wanted.map(|place| (place.at, place.estimate))
    }
}

/// How many times as good one value truly is as another; `None` if nothing is known of it.
///
/// The interval of a ratio is wider by √2 on the log scale, since it predicts the ratio of another run, which has an
/// error of the same size.
fn times_as_good(better: Better, one: &Estimate, other: &Estimate) -> Option<Interval> {
    let times = match better {
        Better::Lower => other.ratio_to(one)?,
        Better::Higher | Better::Neither => one.ratio_to(other)?,
    };
    let Interval { low, high } = times.interval?;
    let end = |end: f64| times.centre * (end / times.centre).powf(FRAC_1_SQRT_2);
    Interval::new(end(low), end(high))
}

/// The order of two values, the better one last.
fn by_centre(better: Better, one: &Estimate, other: &Estimate) -> Ordering {
    let order = one.centre.total_cmp(&other.centre);
    match better {
        Better::Lower => order.reverse(),
        Better::Higher | Better::Neither => order,
    }
}

fn first_good<'p, 'r: 'p, L: Copy + 'p>(
    places: impl Iterator<Item = &'p Place<'r, L>>,
) -> Result<Onset<L>, Open<L>> {
    let rulings: Vec<(L, Ruling)> = places.map(|it| (it.at, it.is_good)).collect();
    if rulings.len() < FEWEST_PLACES {
        return Err(Open::TooFew);
    }
    let good = rulings
        .iter()
        .position(|(_, ruling)| *ruling == Ruling::Holds);
    let last = rulings.len() - 1;
    match good {
        Some(good) if good < last => Ok(Onset {
            after: last_not(&rulings[..=good]),
            from: rulings[good].0,
        }),
        Some(_) if rulings[last - 1].1 == Ruling::DoesNotHold => Err(Open::Beyond(rulings[last].0)),
        _ => {
            let may_hold = rulings.iter().filter(|(_, it)| *it != Ruling::DoesNotHold);
            Err(open(may_hold.map(|(at, _)| *at)))
        }
    }
}

/// Open between the first and the last of these places.
fn open<L: Copy>(mut places: impl DoubleEndedIterator<Item = L>) -> Open<L> {
    let first = places.next();
    let last = places.next_back().or(first);
    let ends = first.zip(last);
    ends.map_or(Open::TooFew, |(first, last)| Open::Between(first, last))
}

/// The last place where something does not hold, or the first of all. There is at least one.
fn last_not<L: Copy>(rulings: &[(L, Ruling)]) -> L {
    let not = rulings.iter().rfind(|(_, it)| *it == Ruling::DoesNotHold);
    not.unwrap_or(&rulings[0]).0
}

/// The place from which on something holds at all places, by the ruling at each, in order: where one curve passes
/// another.
///
/// # Errors
/// If it does not hold at the last place, or that is not decided.
pub fn crossover<L: Copy>(rulings: &[(L, Ruling)]) -> Result<Onset<L>, Open<L>> {
    let (last, ruling) = *rulings.last().ok_or(Open::TooFew)?;
    let from_the_end = rulings.iter().rev();
    let held = from_the_end
        .take_while(|(_, it)| *it == Ruling::Holds)
        .count();
    match ruling {
        Ruling::Holds => Ok(Onset {
            after: last_not(&rulings[..=rulings.len() - held]),
            from: rulings[rulings.len() - held].0,
        }),
        Ruling::DoesNotHold => Err(Open::Beyond(last)),
        Ruling::HoldsInPart | Ruling::Undecided => Err(Open::Between(last_not(rulings), last)),
    }
}
