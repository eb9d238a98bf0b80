//! A finding as a sentence.

use super::interval::range;
use super::value::{round, value};
use instrument::finding::{Finding, Number};

/// The sentence of a finding, each number with its unit and its interval.
pub fn sentence(finding: &Finding) -> String {
    finding.sentence(number)
}

/// A number of a finding: `512 KiB (256 to 1024 KiB)`; without the interval where it was not
/// estimated, or where the interval is too narrow to show.
pub fn number(number: &Number) -> String {
    let Some(interval) = number.interval else {
        return round(number.unit, number.value);
    };
    let centre = value(number.unit, number.value, number.interval);
    match range(number.unit, interval, number.value) {
        range if range.contains(" to ") => format!("{centre} ({range})"),
        _ => centre,
    }
}

#[cfg(test)]
mod tests {
    use super::{number, sentence};
    use instrument::finding::{Finding, Number};
    use instrument::quantity::Unit;
    use instrument::statistics::Interval;

    #[test]
    fn a_sentence_gives_every_number_its_interval() {
        const KIB: f64 = 1024.0;
        let finding = Finding::new(
            "plateau",
            "Blocks above {plateau} gain nothing over {base}.",
        )
        .estimated(
            "plateau",
            512.0 * KIB,
            Interval::new(256.0 * KIB, 1024.0 * KIB),
            Unit::Bytes,
        )
        .given("base", 4.0 * KIB, Unit::Bytes);
        assert_eq!(
            sentence(&finding),
            "Blocks above 512 KiB (256 to 1024 KiB) gain nothing over 4 KiB."
        );
    }

    #[test]
    fn an_interval_names_its_unit_once_and_vanishes_when_it_does_not_show() {
        let shown = |value, low, high| {
            let interval = Interval::new(low, high);
            number(&Number {
                name: "n".into(),
                value,
                interval,
                unit: Unit::Nanoseconds,
            })
        };
        assert_eq!(shown(1239.0, 1200.0, 1280.0), "1.24 µs (1.20 to 1.28 µs)");
        assert_eq!(shown(1000.0, 900.0, 1100.0), "1.00 µs (0.900 to 1.10 µs)");
        assert_eq!(shown(1239.0, 1238.9, 1239.1), "1.24 µs");
        assert_eq!(shown(5e3, 5.0, 5e6), "5 µs (5.0 ns to 5.0 ms)");
    }

    #[test]
    fn a_large_ratio_is_told_as_far_as_it_is_known() {
        let number = |value, low, high| Number {
            name: "n".into(),
            value,
            interval: Interval::new(low, high),
            unit: Unit::Ratio,
        };
        let shown = super::number(&number(39_892.0, 34_726.0, 45_059.0));
        assert_eq!(shown, "39900 × (34700 to 45100 ×)");
        let shown = super::number(&number(3372.0, 935.0, 12_166.0));
        assert_eq!(shown, "3400 × (940 to 12000 ×)");
    }
}
