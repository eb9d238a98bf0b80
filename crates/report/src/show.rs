//! Numbers, estimates and findings as text, the same on the terminal and on the page.

use instrument::claim::Ruling;
use instrument::experiment::{Better, Definition};
use instrument::figure::MarkOrigin;
use instrument::finding::{Finding, Grade, Number};
use instrument::noise::Warning;
use instrument::point::{Axis, AxisKind, Level, Point};
use instrument::quantity::{
    Bytes, BytesPerSecond, Nanoseconds, OperationsPerSecond, Unit, significant,
};
use instrument::results::{Estimate, Verdict};
use instrument::statistics::Interval;
use jiff::Timestamp;
use std::str::FromStr;

/// Most people cannot use more; fewer are shown where the interval supports fewer.
const DIGITS: usize = 3;
/// A number longer than this is easier to read with an exponent.
const LONGEST: usize = 13;

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

/// A value that is set or round, with its unit and without zeros that say nothing: `1 µs`.
pub fn round(unit: Unit, value: f64) -> String {
    let text = rounded(unit, value, DIGITS);
    let (number, symbol) = text.split_once(' ').unwrap_or((&text, ""));
    let number = match number.split_once('.') {
        Some((whole, fraction)) if !fraction.contains('e') => {
            let fraction = fraction.trim_end_matches('0');
            if fraction.is_empty() {
                whole.to_owned()
            } else {
                format!("{whole}.{fraction}")
            }
        }
        _ => number.to_owned(),
    };
    format!("{number} {symbol}").trim_end().into()
}

/// An interval around `centre`, in the unit in which that is read: `1.20 to 1.28 µs`, `256 to
/// 1024 KiB`; one value where both ends read the same.
pub fn range(unit: Unit, interval: Interval, centre: f64) -> String {
    let digits = digits(centre, Some(interval)).max(2);
    span(unit, [interval.low, interval.high], centre, digits)
}

/// Values from the smallest to the largest, in the unit of the largest.
pub fn extent(unit: Unit, smallest: f64, largest: f64) -> String {
    span(unit, [smallest, largest], largest, DIGITS)
}

/// Both ends in the unit in which `like` is read; where that does not fit both, each in its own.
fn span(unit: Unit, ends: [f64; 2], like: f64, digits: usize) -> String {
    let prefix = Prefix::fitting(unit, like);
    if !ends.iter().all(|end| prefix.is_readable(*end)) {
        let [low, high] = ends.map(|end| rounded(unit, end, digits));
        return format!("{low} to {high}");
    }
    let [low, high] = ends.map(|end| prefix.end(unit, end, digits));
    let numbers = if low == high {
        low
    } else {
        format!("{low} to {high}")
    };
    format!("{numbers} {}", prefix.symbol).trim_end().into()
}

/// `centre` with its unit, to as many digits as its interval supports.
pub fn value(unit: Unit, centre: f64, interval: Option<Interval>) -> String {
    rounded(unit, centre, digits(centre, interval))
}

/// How many significant digits of `centre` its interval supports: those down to the second digit of
/// half its width (JCGM 100:2008, Guide to the expression of uncertainty in measurement, 7.2.6).
pub fn digits(centre: f64, interval: Option<Interval>) -> usize {
    let Some(interval) = interval else {
        return DIGITS;
    };
    let place = |value: f64| value.abs().log10().floor();
    let supported = place(centre) - place(interval.half_width()) + 2.0;
    if supported.is_nan() {
        DIGITS
    } else {
        supported.clamp(1.0, DIGITS as f64) as usize
    }
}

fn rounded(unit: Unit, value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "no number".into();
    }
    let text = unit.show(value, digits);
    if text.chars().count() <= LONGEST {
        return text;
    }
    let prefix = Prefix::fitting(unit, value);
    format!("{:.1e} {}", value / prefix.factor, prefix.symbol)
        .trim_end()
        .into()
}

/// Half the width of the interval over the centre: `± 1.2 %`. `None` without an interval.
pub fn spread(estimate: &Estimate) -> Option<String> {
    let percent = estimate.relative_half_width()? * 100.0;
    Some(match percent {
        ..0.05 => "± <0.1 %".into(),
        ..9.95 => format!("± {percent:.1} %"),
        ..1000.0 => format!("± {percent:.0} %"),
        _ => "± >999 %".into(),
    })
}

/// An estimate in one line: `1.24 µs ± 1.2 %`, `below resolution`, `broken: why`.
pub fn estimate(unit: Unit, estimate: &Estimate) -> String {
    match &estimate.verdict {
        Verdict::BelowResolution => "below resolution".into(),
        Verdict::Broken(why) => format!("broken: {why}"),
        Verdict::Sound => {
            let centre = value(unit, estimate.centre, estimate.interval);
            match spread(estimate) {
                Some(spread) => format!("{centre} {spread}"),
                None => centre,
            }
        }
    }
}

/// A unit with a prefix, in which several values stand side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Prefix {
    /// As in `GiB/s`; empty for a bare number.
    pub symbol: String,
    /// How many base units it is.
    pub factor: f64,
}

impl Prefix {
    /// The one in which a person would say `value`.
    pub fn fitting(unit: Unit, value: f64) -> Self {
        let value = if value.is_finite() { value } else { 0.0 };
        let shown = unit.show(value, DIGITS);
        let symbol = shown
            .rsplit_once(' ')
            .map_or("", |(_, symbol)| symbol)
            .to_owned();
        let factor = match unit {
            Unit::BytesPerSecond => base_units::<BytesPerSecond>(&symbol, |rate| rate.0),
            Unit::OperationsPerSecond => base_units::<OperationsPerSecond>(&symbol, |rate| rate.0),
            Unit::Nanoseconds => base_units::<Nanoseconds>(&symbol, |time| time.0),
            Unit::Bytes => base_units::<Bytes>(&symbol, |bytes| bytes.0 as f64),
            Unit::Share => 0.01,
            Unit::Count | Unit::Ratio => 1.0,
        };
        Self { symbol, factor }
    }

    /// The one in which all of `values` can be read side by side; `None` where they lie so far
    /// apart that each needs its own.
    pub fn common(unit: Unit, values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let sizes = values
            .map(f64::abs)
            .filter(|size| size.is_finite() && *size > 0.0);
        let largest = sizes.clone().fold(0.0, f64::max);
        let prefix = Self::fitting(unit, largest);
        let smallest = sizes.fold(largest, f64::min);
        let readable =
            smallest >= largest.min(prefix.factor / 10.0) && largest < prefix.factor * 1e5;
        readable.then_some(prefix)
    }

    /// Whether `value` can be read in this unit beside one that fits it.
    fn is_readable(&self, value: f64) -> bool {
        let number = (value / self.factor).abs();
        number == 0.0 || (0.01..1e4).contains(&number)
    }

    /// The end of an interval in this unit; a round size as it is, as [`Unit::show`] does.
    fn end(&self, unit: Unit, value: f64, digits: usize) -> String {
        let exact = (value / self.factor).to_string();
        if unit == Unit::Bytes && exact.len() <= "999.5".len() {
            exact
        } else {
            self.number(value, digits)
        }
    }

    /// `value` in this unit, without the symbol.
    pub fn number(&self, value: f64, digits: usize) -> String {
        if !value.is_finite() {
            return "no number".into();
        }
        let text = significant(value / self.factor, digits);
        if text.len() <= LONGEST {
            text
        } else {
            format!("{:.1e}", value / self.factor)
        }
    }
}

/// How many base units one of `symbol` is.
fn base_units<Q: FromStr>(symbol: &str, base: impl Fn(Q) -> f64) -> f64 {
    format!("1 {symbol}").parse().map_or(1.0, base)
}

/// How sure a finding is, in words.
pub fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Certain => "certain",
        Grade::Likely => "likely",
        Grade::CannotBeTold => "cannot be told",
    }
}

/// Whether a claim holds, in words.
pub fn ruling(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Holds => "holds",
        Ruling::HoldsInPart => "holds in part",
        Ruling::DoesNotHold => "does not hold",
        Ruling::CannotBeTold => "cannot be told",
    }
}

/// Which way a metric is better, in words.
pub fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "neither way is better",
    }
}

/// Where a point lies, in words that can be told apart: `read cold, block size 4 KiB`.
pub fn point(definition: &Definition, point: &Point) -> String {
    let level = |(name, level): (&str, &Level)| match definition.axis(name) {
        Some(axis) => self::level(axis, level),
        None => level.to_string(),
    };
    point.levels().map(level).collect::<Vec<_>>().join(", ")
}

/// A level where its axis is not at hand: `block size 4 KiB`. A choice speaks for itself.
pub fn level(axis: &Axis, level: &Level) -> String {
    match axis.kind {
        AxisKind::Choice => axis.show(level),
        AxisKind::Bytes | AxisKind::Count => format!("{} {}", axis.title, axis.show(level)),
    }
}

/// A warning in words, its numbers in the unit of the metric they belong to.
pub fn warning(definition: &Definition, warning: &Warning) -> String {
    match warning {
        Warning::SeveralModes {
            metric: name,
            centres,
        } => match definition.metric(name) {
            Some(metric) => {
                let centres = centres
                    .iter()
                    .map(|centre| value(metric.unit, *centre, None));
                let centres = centres.collect::<Vec<_>>().join(" and ");
                format!("the processes gave several values of {name}: {centres}")
            }
            None => warning.to_string(),
        },
        _ => warning.to_string(),
    }
}

/// Where a mark of a figure comes from, in words.
pub fn origin(origin: MarkOrigin) -> &'static str {
    match origin {
        MarkOrigin::Found => "found",
        MarkOrigin::Documented => "documented",
    }
}

/// What the values of a unit are called where no value is at hand, as in a list of metrics.
pub fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSecond => "bytes per second",
        Unit::OperationsPerSecond => "operations per second",
        Unit::Nanoseconds => "time of one operation",
        Unit::Bytes => "bytes",
        Unit::Count => "a number",
        Unit::Share => "per cent",
        Unit::Ratio => "a ratio",
    }
}

/// A moment, to the minute: `2026-03-01 14:05 UTC`.
pub fn moment(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// A length of time of which the seconds matter to a person: `350 ms`, `12.3 s`, `4 min 5 s`,
/// `2 h 10 min`.
pub fn length(ns: f64) -> String {
    let seconds = (ns / 1e9).round();
    if seconds < 60.0 || !seconds.is_finite() {
        return rounded(Unit::Nanoseconds, ns, DIGITS);
    }
    let minutes = (seconds / 60.0).floor();
    if minutes < 60.0 {
        format!("{minutes} min {} s", seconds % 60.0)
    } else {
        format!("{} h {} min", (minutes / 60.0).floor(), minutes % 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate_of(centre: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            metric: "m".into(),
            centre,
            interval: Interval::new(low, high),
            raw: None,
            processes: 5,
            samples: 25,
            by_process: vec![centre; 5],
            cpu_share: None,
            system_share: None,
            percentiles: None,
            verdict: Verdict::Sound,
        }
    }

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
    fn the_ends_of_an_interval_and_its_centre_share_a_unit() {
        const KIB: f64 = 1024.0;
        let shown = |centre, low, high| {
            let interval = Interval::new(low, high).expect("in order");
            range(Unit::Bytes, interval, centre)
        };
        let round_in_kib = 16_383.0 * KIB;
        assert_eq!(shown(16.5e6, 16e6, round_in_kib), "15.3 to 16.0 MiB");
        assert_eq!(
            shown(round_in_kib, round_in_kib - 9.0, round_in_kib),
            "16.0 MiB"
        );
        assert_eq!(
            extent(Unit::Bytes, round_in_kib, 64.0 * KIB * KIB),
            "16.0 to 64 MiB"
        );
        assert_eq!(
            shown(KIB * KIB, 1000.0 * KIB, 1100.0 * KIB),
            "0.977 to 1.07 MiB"
        );
    }

    #[test]
    fn no_digit_is_shown_that_the_interval_does_not_support() {
        let shown =
            |centre, low, high| estimate(Unit::Nanoseconds, &estimate_of(centre, low, high));
        assert_eq!(shown(12.345, 12.3, 12.4), "12.3 ns ± 0.4 %");
        assert_eq!(shown(9.53, 9.0, 10.0), "9.53 ns ± 5.2 %");
        assert_eq!(shown(5.1, 3.0, 7.0), "5.1 ns ± 39 %");
        assert_eq!(shown(5.1, 5.1, 5.1), "5.10 ns ± <0.1 %");
        assert_eq!(shown(0.001, -5.0, 5.0), "0.001 ns ± >999 %");
    }

    #[test]
    fn what_is_no_usable_value_is_said_in_words() {
        let mut value = estimate_of(1.0, 0.0, 2.0);
        value.verdict = Verdict::BelowResolution;
        assert_eq!(estimate(Unit::Count, &value), "below resolution");
        value.verdict = Verdict::Broken("it cannot be".into());
        assert_eq!(estimate(Unit::Count, &value), "broken: it cannot be");
        assert_eq!(
            estimate(Unit::Count, &estimate_of(f64::NAN, 0.0, 1.0)),
            "no number"
        );
    }

    #[test]
    fn values_far_apart_share_no_unit() {
        let near = [0.5e9, 12e9];
        let prefix = Prefix::common(Unit::BytesPerSecond, near.into_iter()).unwrap();
        assert_eq!(prefix.symbol, "GiB/s");
        assert_eq!(prefix.number(near[0], 3), "0.466");
        assert_eq!(
            Prefix::common(Unit::Nanoseconds, [80.0, 5e5].into_iter()),
            None
        );
        assert!(Prefix::common(Unit::Nanoseconds, [0.0, f64::NAN].into_iter()).is_some());
    }

    #[test]
    fn numbers_stay_short() {
        for value in [
            1e300,
            -1e300,
            1e-300,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::NAN,
            0.0,
        ] {
            for unit in [
                Unit::Bytes,
                Unit::Count,
                Unit::Nanoseconds,
                Unit::BytesPerSecond,
            ] {
                assert!(
                    rounded(unit, value, 3).chars().count() <= 20,
                    "{unit:?} {value:e}"
                );
            }
        }
    }

    #[test]
    fn lengths_of_time_read_like_a_watch() {
        assert_eq!(length(350e6), "350 ms");
        assert_eq!(length(12.34e9), "12.3 s");
        assert_eq!(length(245.2e9), "4 min 5 s");
        assert_eq!(length(7800e9), "2 h 10 min");
    }
}
