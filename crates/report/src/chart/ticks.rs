//! Positions and labels of the ticks of an axis.

use super::scale::Scale;
use crate::show::{self, Prefix};
use instrument::figure::FigureScale;
use instrument::quantity::Unit;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    /// The text; `None` for a minor tick.
    pub(crate) label: Option<String>,
}

/// Ticks for `scale`, at most `room` of them with labels.
pub(crate) fn ticks(scale: &Scale, unit: Option<Unit>, room: usize) -> Vec<Tick> {
    let room = room.max(2);
    let binary = is_binary(unit, scale);
    let logarithmic = match (scale.kind, binary) {
        (FigureScale::Linear, _) => Vec::new(),
        (FigureScale::Logarithmic, true) => octaves(scale, unit, room),
        (FigureScale::Logarithmic, false) => decades(scale, unit, room),
    };
    // Within a few octaves, equal steps are more useful.
    let is_long = scale.high / scale.low >= 16.0 && !logarithmic.is_empty();
    let labelled = logarithmic.iter().filter(|tick| tick.label.is_some());
    if is_long || labelled.count() >= 3 {
        logarithmic
    } else {
        equal_steps(scale, unit, room, binary)
    }
}

/// The ticks with a label in one unit, whose symbol comes first; `None` if the values lie too far apart
/// for one unit.
pub(crate) fn in_one_unit(ticks: &[Tick], unit: Option<Unit>) -> Option<(String, Vec<Tick>)> {
    let labelled = || ticks.iter().filter(|tick| tick.label.is_some());
    let values = labelled().map(|tick| tick.value);
    let prefix = Prefix::common(unit.unwrap_or(Unit::Count), values)?;
    let ticks = labelled().map(|tick| Tick {
        value: tick.value,
        label: Some(show::without_zeros(&prefix.number(tick.value)).to_owned()),
    });
    Some((prefix.symbol.clone(), ticks.collect()))
}

/// `value` with its unit and without trailing zeros.
fn label(unit: Option<Unit>, value: f64) -> String {
    show::round(unit.unwrap_or(Unit::Count), value)
}

/// True if ticks are powers of two: for sizes, and for small counts such as numbers of threads.
fn is_binary(unit: Option<Unit>, scale: &Scale) -> bool {
    match unit {
        Some(Unit::Bytes | Unit::BytesPerSecond) => true,
        Some(Unit::Count) => scale.kind == FigureScale::Logarithmic && scale.high <= 2048.0,
        _ => false,
    }
}

/// Powers of two, with a label at every one, every second, every fifth and so on.
fn octaves(scale: &Scale, unit: Option<Unit>, room: usize) -> Vec<Tick> {
    let exponents = scale.low.log2().ceil() as i32..=scale.high.log2().floor() as i32;
    let labelled = |step: i32| exponents.clone().filter(|e| e % step == 0).count();
    let step = [1, 2, 5, 10, 20]
        .into_iter()
        .find(|&step| labelled(step) <= room)
        .unwrap_or(40);
    let tick = |exponent: i32| {
        let value = f64::from(exponent).exp2();
        let label = (exponent % step == 0).then(|| label(unit, value));
        (label.is_some() || step < 10).then_some(Tick { value, label })
    };
    exponents.clone().filter_map(tick).collect()
}

/// Selects the powers of ten and leading digits with labels; and the mean distance of labels over
/// the smallest distance, which for 1, 2 and 5 is that between 1 and 2.
type Rule = (fn(i32, i32) -> bool, f64);

/// Powers of ten, with 2 and 5 between them if there is room.
fn decades(scale: &Scale, unit: Option<Unit>, room: usize) -> Vec<Tick> {
    let exponents = scale.low.log10().floor() as i32..=scale.high.log10().ceil() as i32;
    let digits = exponents
        .clone()
        .flat_map(|e| (1..10).map(move |digit| (digit, e)));
    let within: Vec<(i32, i32, f64)> = digits
        .map(|(digit, exponent)| (digit, exponent, decimal(digit, exponent)))
        .filter(|(_, _, value)| scale.contains(*value))
        .collect();
    let rules: [Rule; 5] = [
        (
            |digit, _| matches!(digit, 1 | 2 | 5),
            1.0 / (3.0 * f64::log10(2.0)),
        ),
        (|digit, _| digit == 1, 1.0),
        (|digit, exponent| digit == 1 && exponent % 2 == 0, 1.0),
        (|digit, exponent| digit == 1 && exponent % 3 == 0, 1.0),
        (|digit, exponent| digit == 1 && exponent % 30 == 0, 1.0),
    ];
    let fits = |(rule, uneven): &&Rule| {
        let labelled = within
            .iter()
            .filter(|(digit, exponent, _)| rule(*digit, *exponent));
        labelled.count() as f64 * uneven <= room as f64
    };
    let (rule, _) = rules.iter().find(fits).unwrap_or(&rules[4]);
    let tick = |&(digit, exponent, value): &(i32, i32, f64)| {
        let label = rule(digit, exponent).then(|| label(unit, value));
        (label.is_some() || within.len() <= 80).then_some(Tick { value, label })
    };
    within.iter().filter_map(tick).collect()
}

/// Equal steps: powers of two, or 1, 2 or 5 times a power of ten.
fn equal_steps(scale: &Scale, unit: Option<Unit>, room: usize, binary: bool) -> Vec<Tick> {
    let span = scale.high - scale.low;
    let least = span / room as f64;
    let step = if binary {
        least.log2().ceil().exp2()
    } else {
        let exponent = least.log10().floor() as i32;
        let nice = [(1, 0), (2, 0), (5, 0), (1, 1)];
        nice.into_iter()
            .map(|(digit, further)| decimal(digit, exponent.saturating_add(further)))
            .find(|step| *step >= least)
            .unwrap_or(span)
    };
    // Counts have no fractions.
    let step = if unit == Some(Unit::Count) {
        step.max(1.0)
    } else {
        step
    };
    let first = (scale.low / step).ceil();
    let count = ((scale.high / step).floor() - first) as usize;
    (0..=count.min(room))
        .map(|index| (first + index as f64) * step)
        .filter(|value| scale.contains(*value))
        .map(|value| Tick {
            value,
            label: Some(label(unit, value)),
        })
        .collect()
}

fn decimal(digit: i32, exponent: i32) -> f64 {
    // Dividing by a whole power of ten rounds once; multiplying by 0.1 would round twice.
    if exponent < 0 {
        f64::from(digit) / 10_f64.powi(-exponent)
    } else {
        f64::from(digit) * 10_f64.powi(exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scale::Scale;
    use super::{in_one_unit, ticks};
    use instrument::figure::FigureScale::{Linear, Logarithmic};
    use instrument::quantity::Unit;
    use proptest::prelude::*;

    #[test]
    fn labels_are_round_in_the_unit_of_the_axis() {
        use Unit::{Bytes, BytesPerSecond, Count, Nanoseconds};
        let axes = [
            (Logarithmic, 1024.0, 2e9, Bytes, 6),
            (Linear, 0.0, 13e9, BytesPerSecond, 5),
            (Logarithmic, 40.0, 9e5, Nanoseconds, 6),
            (Linear, 0.0, 0.7, Nanoseconds, 5),
            // Within less than an octave, equal steps.
            (Logarithmic, 110.0, 170.0, Nanoseconds, 5),
            // Counts are whole.
            (Linear, 0.0, 2.0, Count, 9),
            (Logarithmic, 1.0, 16.0, Count, 9),
        ];
        let labels = axes.map(|(kind, low, high, unit, room)| {
            let ticks = ticks(&Scale { kind, low, high }, Some(unit), room);
            let labels: Vec<_> = ticks.into_iter().filter_map(|tick| tick.label).collect();
            labels.join(", ")
        });
        insta::assert_snapshot!(labels.join("\n"), @r"
        1 KiB, 32 KiB, 1 MiB, 32 MiB, 1 GiB
        0 B/s, 4 GiB/s, 8 GiB/s, 12 GiB/s
        100 ns, 1 µs, 10 µs, 100 µs
        0 ns, 0.2 ns, 0.4 ns, 0.6 ns
        120 ns, 140 ns, 160 ns
        0, 1, 2
        1, 2, 4, 8, 16
        ");
    }

    #[test]
    fn a_unit_that_fits_all_is_written_once() {
        const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
        let one_unit = |kind, unit, high| {
            let low = 0.5 * GIB;
            let scale = Scale { kind, low, high };
            let (symbol, ticks) = in_one_unit(&ticks(&scale, unit, 5), unit)?;
            let labels: Vec<_> = ticks.into_iter().filter_map(|tick| tick.label).collect();
            Some((symbol, labels.join(" ")))
        };
        let rate = Some(Unit::BytesPerSecond);
        assert_eq!(
            one_unit(Linear, rate, 42.0 * GIB),
            Some(("GiB/s".into(), "16 32".into()))
        );
        assert_eq!(one_unit(Logarithmic, Some(Unit::Nanoseconds), 1e18), None);
    }

    proptest! {
        #[test]
        fn every_value_has_a_place_and_ticks_lie_within(
            values in prop::collection::vec(prop::num::f64::ANY, 0..8),
            logarithmic: bool,
            room in 0_usize..12,
        ) {
            let kind = if logarithmic { Logarithmic } else { Linear };
            let scale = Scale::around(values.iter().copied(), kind);
            for value in values.iter().filter(|value| value.is_finite()) {
                let place = scale.position(*value);
                prop_assert_eq!(place.is_none(), logarithmic && *value <= 0.0);
                prop_assert!(place.is_none_or(|place| (0.0..=1.0).contains(&place)));
            }
            let ticks = ticks(&scale, Some(Unit::Nanoseconds), room);
            prop_assert!(ticks.windows(2).all(|pair| pair[0].value < pair[1].value));
            prop_assert!(ticks.iter().all(|tick| scale.contains(tick.value)));
        }
    }
}
