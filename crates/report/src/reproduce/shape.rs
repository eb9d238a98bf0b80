//! The shapes of a table: what can be compared with a machine of another age.

use super::here::{Here, place};
use super::judge::{Outcome, TOLERANCE, TOLERANCE_OF_GROWTH, TOLERANCE_OF_PLACES, against, near};
use super::printed::{Figure, ShapeKind, Side, Table};
use super::words::brief;
use crate::lists::distinct;
use instrument::curve::MARGIN;
use instrument::quantity::{Bytes, Quantity, Unit};
use instrument::results::Estimate;

/// A crossover or an order needs this number of places.
const FEWEST: usize = 3;

/// A figure with its value here, if there is one.
pub(super) type Pair<'a, 'r> = (&'a Figure, Option<&'r Here<'r>>);

/// One shape of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The shape.
    pub kind: ShapeKind,
    /// The series; empty if it belongs to two.
    pub series: String,
    /// The rows that it is made of, or the two series.
    pub of: String,
    /// As the report's figures have it; `None` if it is nowhere in them.
    pub reported: Option<Quantity>,
    /// As it is here.
    pub here: Option<Quantity>,
    /// The judgement.
    pub outcome: Outcome,
    /// The things counted, if both numbers alone do not say it.
    pub remark: Option<String>,
}

/// All shapes of a table, each judged by the figures that have a value here.
pub(super) fn all(table: &Table, pairs: &[Pair<'_, '_>]) -> Vec<Shape> {
    let with_counterpart = pairs.iter().filter(|(figure, _)| figure.here.is_some());
    let names = distinct(with_counterpart.map(|(figure, _)| figure.series.as_str()));
    let of = |series: &str| -> Vec<Pair<'_, '_>> {
        let of_series = pairs.iter().filter(|(figure, _)| figure.series == series);
        of_series.copied().collect()
    };
    let series: Vec<Vec<Pair<'_, '_>>> = names.into_iter().map(of).collect();
    let kinds = table.shapes.iter();
    let unit = table.axes.as_ref().map_or(Unit::Count, |axes| axes.unit);
    let each = kinds.flat_map(|kind| -> Vec<Shape> {
        match kind {
            ShapeKind::Ratio => series.iter().flat_map(|it| ratios(it)).collect(),
            ShapeKind::Order => series.iter().filter_map(|it| order(it)).collect(),
            ShapeKind::Growth => series.iter().filter_map(|it| growth(it)).collect(),
            ShapeKind::Plateau => series.iter().filter_map(|it| plateau(it)).collect(),
            ShapeKind::Crossover => (table.rivals.iter())
                .filter_map(|[one, other]| crossover(unit, &of(one), &of(other)))
                .collect(),
        }
    });
    each.collect()
}

/// One value here over another; `None` if one of them is missing.
fn over(one: Option<&Here<'_>>, other: Option<&Here<'_>>) -> Option<Quantity> {
    one?.over(other?)
}

/// Each figure of a series over its first.
fn ratios(series: &[Pair<'_, '_>]) -> Vec<Shape> {
    let Some((base, base_here)) = series.iter().find(|(figure, _)| figure.value() > 0.0) else {
        return Vec::new();
    };
    let others = series
        .iter()
        .filter(|(figure, _)| !std::ptr::eq(*figure, *base));
    let ratio = |(figure, here): &Pair<'_, '_>| {
        let reported = figure.value() / base.value();
        let relative = figure.rounding() / figure.value().max(figure.rounding())
            + base.rounding() / base.value();
        let here = over(*here, *base_here);
        Shape {
            kind: ShapeKind::Ratio,
            series: figure.series.clone(),
            of: format!("{} over {}", figure.what, base.what),
            reported: Some(Quantity::exact(reported, Unit::Ratio)),
            outcome: against(here, reported, relative * reported, TOLERANCE),
            here,
            remark: None,
        }
    };
    others.map(ratio).collect()
}

/// The pairs of figures that have the same order here.
fn order(series: &[Pair<'_, '_>]) -> Option<Shape> {
    let [mut same, mut turned, mut open] = [0_u32; 3];
    for (index, (one, one_here)) in series.iter().enumerate() {
        for (other, other_here) in &series[index + 1..] {
            let reported = one.value() / other.value();
            if !reported.is_finite() || (1.0 / TOLERANCE..=TOLERANCE).contains(&reported) {
                continue;
            }
            match over(*one_here, *other_here).and_then(|ratio| ratio.interval) {
                Some(ratio) if ratio.low > 1.0 && reported > 1.0 => same += 1,
                Some(ratio) if ratio.high < 1.0 && reported < 1.0 => same += 1,
                Some(ratio) if ratio.low > 1.0 || ratio.high < 1.0 => turned += 1,
                _ => open += 1,
            }
        }
    }
    let all = same + turned + open;
    let count = |count: u32| Quantity::exact(f64::from(count), Unit::Count);
    (all as usize >= FEWEST).then(|| Shape {
        kind: ShapeKind::Order,
        series: series[0].0.series.clone(),
        of: format!("{all} pairs of figures"),
        reported: Some(count(all)),
        here: (same + turned > 0).then(|| count(same)),
        outcome: match (turned, open) {
            (0, 0) => Outcome::AsReported,
            (0, _) => Outcome::Undecided,
            _ => Outcome::Differs,
        },
        remark: Some(format!(
            "{same} in the reported order, {turned} the other way round, {open} undecided"
        )),
    })
}

/// The exponent with which a series grows along its axis, from its first to its last place.
fn growth(series: &[Pair<'_, '_>]) -> Option<Shape> {
    let placed = || {
        series
            .iter()
            .filter(|(figure, _)| figure.x.is_some() && figure.value() > 0.0)
    };
    let is_here = |pair: &&Pair<'_, '_>| pair.1.is_some();
    // Both ends must be measured here; without them the report's own ends count.
    let measured: Vec<_> = placed().filter(is_here).collect();
    let ends = if measured.len() >= 2 {
        (measured[0], measured[measured.len() - 1])
    } else {
        (placed().next()?, placed().next_back()?)
    };
    let ((first, first_here), (last, last_here)) = ends;
    let doublings = (last.x? / first.x?).ln();
    if doublings <= 0.0 {
        return None;
    }
    let exponent = |ratio: f64| ratio.ln() / doublings;
    let reported = exponent(last.value() / first.value());
    let here = over(*last_here, *first_here).and_then(|ratio| {
        let ends = ratio.interval?.map(exponent);
        Some(Quantity::new(exponent(ratio.value), ends, Unit::Count))
    });
    Some(Shape {
        kind: ShapeKind::Growth,
        series: first.series.clone(),
        of: format!("{} to {}", first.what, last.what),
        reported: Some(Quantity::exact(reported, Unit::Count)),
        outcome: near(here, reported, TOLERANCE_OF_GROWTH),
        here,
        remark: Some("exponent of growth: 1 is proportional, 0 is constant".into()),
    })
}

/// A place of two series: its x, and the first over the second as reported and here.
type Rivals = (f64, f64, Option<Quantity>);

/// The place, in `unit`, from which on the first series stays below the second. Places without a value here are
/// left out of the judgement, and decide nothing.
fn crossover(unit: Unit, one: &[Pair<'_, '_>], other: &[Pair<'_, '_>]) -> Option<Shape> {
    let all: Vec<Rivals> = one
        .iter()
        .filter_map(|(figure, here)| {
            let same = |(rival, _): &&Pair<'_, '_>| rival.x.is_some() && rival.x == figure.x;
            let (rival, rival_here) = other.iter().find(same)?;
            let ratio = figure.value() / rival.value();
            Some((figure.x?, ratio, over(*here, *rival_here)))
        })
        .collect();
    let name = |series: &[Pair<'_, '_>]| Some(series.first()?.0.series.clone());
    let of = format!("{} below {}", name(one)?, name(other)?);
    let measured: Vec<Rivals> = all
        .iter()
        .filter(|(.., it)| it.is_some())
        .copied()
        .collect();
    let is_reported = |(_, ratio, _): &Rivals| *ratio < 1.0;
    let extent = |ratio: &Option<Quantity>| ratio.and_then(|ratio| ratio.interval);
    let may_be = |(.., ratio): &Rivals| extent(ratio).is_none_or(|ratio| ratio.low < 1.0);
    let must_be = |(.., ratio): &Rivals| extent(ratio).is_some_and(|ratio| ratio.high < 1.0);
    let reported = tail(&measured, &is_reported);
    let (may, must) = (tail(&measured, &may_be), tail(&measured, &must_be));
    let outcome = if measured.len() < FEWEST {
        Outcome::Undecided
    } else if may.total_cmp(&must).is_eq() && may.total_cmp(&reported).is_eq() {
        Outcome::AsReported
    } else if reported < may || reported > must {
        Outcome::Differs
    } else {
        Outcome::Undecided
    };
    let place = |x: f64| x.is_finite().then(|| Quantity::exact(x, unit));
    let words = |from: Option<f64>| match from.map(place) {
        Some(Some(from)) => format!("from {} on", brief(&from)),
        Some(None) => "never up to the end".to_owned(),
        None => "not measured".to_owned(),
    };
    let from_all = tail(&all, &is_reported);
    let here = (!measured.is_empty()).then_some(must);
    (all.len() >= FEWEST).then(|| Shape {
        kind: ShapeKind::Crossover,
        series: String::new(),
        of,
        reported: place(from_all),
        here: here.and_then(place),
        outcome,
        remark: Some(format!(
            "reported {}; here {}{}",
            words(Some(from_all)),
            words(here),
            if here.is_some() && measured.len() < all.len() {
                format!(", in {} of {} places", measured.len(), all.len())
            } else {
                String::new()
            },
        )),
    })
}

/// The place from which on the condition is met; infinite if it is not met at the end.
fn tail(places: &[Rivals], is_met: &dyn Fn(&Rivals) -> bool) -> f64 {
    let tail = places.iter().rev().take_while(|place| is_met(place)).last();
    tail.map_or(f64::INFINITY, |(x, ..)| *x)
}

/// The place from which on a series of speeds gains nothing.
fn plateau(series: &[Pair<'_, '_>]) -> Option<Shape> {
    let placed = || {
        let places = series.iter();
        places.filter_map(|(figure, here)| Some((figure.x?, figure, here)))
    };
    let best = placed()
        .map(|(_, figure, _)| figure.value())
        .fold(0.0, f64::max);
    let (reported, ..) = placed().find(|(_, figure, _)| figure.value() >= (1.0 - MARGIN) * best)?;
    let measured = placed().filter_map(|(x, _, here)| Some((x, (*here)?.estimate()?)));
    let measured: Vec<_> = measured.collect();
    let run = measured.first().map(|(_, (run, _))| *run);
    let curve: Vec<(Bytes, &Estimate)> = measured
        .into_iter()
        .filter(|(_, (of, _))| Some(*of) == run)
        .map(|(x, (_, estimate))| (Bytes(x as u64), estimate))
        .collect();
    let here = place(&curve, Side::From).ok();
    Some(Shape {
        kind: ShapeKind::Plateau,
        series: series.first()?.0.series.clone(),
        of: format!(
            "from here on, larger ones gain at most {} %",
            100.0 * MARGIN
        ),
        reported: Some(Quantity::exact(reported, Unit::Bytes)),
        outcome: against(here, reported, 0.0, TOLERANCE_OF_PLACES),
        here,
        remark: None,
    })
}
