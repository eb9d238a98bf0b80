//! A finding as a sentence.

use super::interval::range;
use super::value::{round, value};
use instrument::finding::{Finding, Trust};
use instrument::quantity::{Quantity, Unit, significant};
use instrument::statistics::Interval;

/// The sentence of a finding, each number with its unit and its interval.
pub fn sentence(finding: &Finding) -> String {
    finding.sentence.text(text)
}

/// The evidence for the grade of a finding: `holds in 9 of 10 passes; the next run within ±4 %;
/// weakest number: 35.4 ns`.
pub fn trust(finding: &Finding, trust: &Trust) -> String {
    let passes = match (trust.held, trust.of) {
        (_, 0) => "no pass measured it by itself".into(),
        (held, of) => format!("holds in {held} of {of} passes"),
    };
    let weakest = finding.weakest().map(|number| {
        let (value, range) = parts(&number.quantity);
        if may_be_zero(&number.quantity) {
            return format!("weakest number: {value}");
        }
        let share = number.quantity.relative_half_width();
        let within = match (share, range) {
            (Some(share), Some(range)) if share > 0.5 => range,
            (share, _) => format!("±{} %", significant(100.0 * share.unwrap_or(0.0), 2)),
        };
        format!("the next run within {within}; weakest number: {value}")
    });
    let doubts = match trust.doubts.as_slice() {
        [] => None,
        doubts => Some(format!("warned of: {}", doubts.join(", "))),
    };
    let parts = [Some(passes), weakest, doubts];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A number of a finding: `512 KiB (256 to 1024 KiB)`; without the interval if the number was not
/// estimated or the interval is too narrow to show.
fn text(quantity: &Quantity) -> String {
    let (centre, range) = parts(quantity);
    match range {
        Some(range) => format!("{centre} ({range})"),
        None => centre,
    }
}

/// A number and its interval separately: `512 KiB` and `256 to 1024 KiB`. Of a number that may be zero
/// only the end of its interval is known: `at most 11 ns`.
pub fn parts(quantity: &Quantity) -> (String, Option<String>) {
    let &Quantity {
        value: centre,
        interval,
        unit,
    } = quantity;
    let Some(interval) = interval else {
        return (round(unit, centre), None);
    };
    if may_be_zero(quantity) {
        return (format!("at most {}", round(unit, interval.high)), None);
    }
    let range = range(unit, interval, centre);
    let shown = value(unit, centre, Some(interval));
    (shown, range.contains(" to ").then_some(range))
}

/// True if the interval of a number that cannot be negative reaches zero.
fn may_be_zero(quantity: &Quantity) -> bool {
    let reaches_zero = |interval: Interval| interval.low <= 0.0 && interval.high > 0.0;
    quantity.unit != Unit::Share && quantity.interval.is_some_and(reaches_zero)
}

#[cfg(test)]
mod tests {
    use super::{sentence, text, trust};
    use instrument::finding::{Finding, Trust, sentence};
    use instrument::quantity::{Bytes, Quantity, Unit};
    use instrument::statistics::Interval;

    fn shown(value: f64, low: f64, high: f64, unit: Unit) -> String {
        let interval = Interval::new(low, high);
        text(&Quantity {
            value,
            interval,
            unit,
        })
    }

    #[test]
    fn a_sentence_gives_every_number_its_interval() {
        const KIB: f64 = 1024.0;
        let (plateau, base) = (512.0 * KIB, Bytes(4096));
        let plateau = Quantity {
            value: plateau,
            interval: Interval::new(256.0 * KIB, 1024.0 * KIB),
            unit: Unit::Bytes,
        };
        let said = sentence!("Blocks above {plateau} gain nothing over {base}.");
        assert_eq!(
            sentence(&Finding::new("plateau", said)),
            "Blocks above 512 KiB (256 to 1024 KiB) gain nothing over 4 KiB."
        );
    }

    #[test]
    fn an_interval_names_its_unit_once_and_vanishes_when_it_does_not_show() {
        let shown = |value, low, high| shown(value, low, high, Unit::Nanoseconds);
        assert_eq!(shown(1239.0, 1200.0, 1280.0), "1.24 µs (1.20 to 1.28 µs)");
        assert_eq!(shown(1000.0, 900.0, 1100.0), "1.00 µs (0.900 to 1.10 µs)");
        assert_eq!(shown(1239.0, 1238.9, 1239.1), "1.24 µs");
        assert_eq!(shown(5e3, 5.0, 5e6), "5 µs (5.0 ns to 5.0 ms)");
    }

    #[test]
    fn a_cost_that_may_be_zero_is_shown_as_its_bound() {
        assert_eq!(shown(4.8, -1.6, 11.2, Unit::Nanoseconds), "at most 11.2 ns");
        assert_eq!(shown(4.8, 0.0, 11.2, Unit::Nanoseconds), "at most 11.2 ns");
        assert_eq!(shown(0.1, -0.1, 0.3, Unit::Share), "10 % (-10 to 30 %)");
        let extra = Quantity {
            value: 4.8,
            interval: Interval::new(-1.6, 11.2),
            unit: Unit::Nanoseconds,
        };
        let finding = Finding::new("extra", sentence!("It takes {extra} longer."));
        assert_eq!(sentence(&finding), "It takes at most 11.2 ns longer.");
        let evidence = Trust {
            held: 8,
            of: 10,
            doubts: Vec::new(),
        };
        assert_eq!(
            trust(&finding, &evidence),
            "holds in 8 of 10 passes; weakest number: at most 11.2 ns"
        );
    }

    #[test]
    fn a_large_ratio_is_shown_as_far_as_it_is_known() {
        let shown = |value, low, high| shown(value, low, high, Unit::Ratio);
        assert_eq!(
            shown(39_892.0, 34_726.0, 45_059.0),
            "39900 × (34700 to 45100 ×)"
        );
        assert_eq!(shown(3372.0, 935.0, 12_166.0), "3400 × (940 to 12000 ×)");
    }
}
