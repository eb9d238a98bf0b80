//! An estimate as one line.

use super::value::{NOT_KNOWN, range, value};
use super::words::verdict;
use instrument::estimate::{FEWEST_PASSES, FEWEST_PROCESSES};
use instrument::quantity::{Known, Unit, counted};
use instrument::results::{Estimate, Verdict};

/// An estimate as one line: `1.24 µs ± 1.2 %`, `not measured well enough (3 of 5 processes)`, `below resolution`,
/// `broken: why`.
pub fn estimate(unit: Unit, estimate: &Estimate) -> String {
    let known = estimate.quantity().known();
    match &estimate.verdict {
        Verdict::BelowResolution => verdict(&estimate.verdict).text.into(),
        Verdict::Broken(why) => format!("{}: {why}", verdict(&estimate.verdict).text),
        Verdict::Sound if !matches!(known, Known::Between(_) | Known::Nothing) => {
            let centre = value(unit, estimate.centre, estimate.interval);
            match spread(estimate) {
                Some(spread) => format!("{centre} {spread}"),
                None => centre,
            }
        }
        Verdict::Sound | Verdict::TooFew => format!("{NOT_KNOWN} ({})", seen(estimate)),
    }
}

/// The value of an estimate without its spread, or the text in its place.
pub fn centre(unit: Unit, of: &Estimate) -> String {
    match of.verdict {
        Verdict::Sound => value(unit, of.centre, of.interval),
        Verdict::TooFew => seen(of),
        Verdict::BelowResolution | Verdict::Broken(_) => estimate(unit, of),
    }
}

/// The interval of an estimate; empty without one that may be used.
pub fn ends(unit: Unit, of: &Estimate) -> String {
    let interval = of.interval.filter(|_| of.is_sound() && !is_vague(of));
    interval.map_or_else(String::new, |interval| range(unit, interval, of.centre))
}

/// True for a sound estimate that is not known to within half of it: what is known is shown in its place.
pub fn is_vague(estimate: &Estimate) -> bool {
    estimate.is_sound() && estimate.quantity().is_vague()
}

/// The clock cycles of one operation at `clock_hz`, for work of the core: the same in each run, where the time
/// depends on the clock. `None` for other values, and for those that are not sound.
pub fn cycles(estimate: &Estimate, clock_hz: f64) -> Option<String> {
    /// Work with less CPU time over wall time waits.
    const LEAST_CPU_SHARE: f64 = 0.9;
    /// Work whose cost grows less with the duration of a cycle is bound by memory or a device.
    const LEAST_SLOPE: f64 = 0.5;
    let computes = estimate
        .cpu_share
        .is_some_and(|share| share >= LEAST_CPU_SHARE);
    let follows = estimate
        .clock_slope
        .is_none_or(|slope| slope >= LEAST_SLOPE);
    let cycles = |value: f64| match estimate.unit {
        Unit::Nanoseconds => value * clock_hz / 1e9,
        Unit::OperationsPerSecond => clock_hz / value,
        _ => f64::NAN,
    };
    let is_of_core = estimate.is_sound() && computes && follows;
    let centre = Some(cycles(estimate.centre)).filter(|it| is_of_core && it.is_finite())?;
    let ends = estimate.interval.and_then(|ends| ends.map(cycles));
    Some(value(Unit::Count, centre, ends))
}

/// The number of samples, with what was left out of them: `50`, `50, 3 timings left out`.
pub fn samples(estimate: &Estimate) -> String {
    match estimate.impossible {
        0 => estimate.samples.to_string(),
        left_out => {
            let left_out = counted(left_out, "timing");
            format!("{}, {left_out} left out", estimate.samples)
        }
    }
}

/// The processes and the passes in which a value was seen, of those that an estimate needs: `3 of 5 processes`.
pub fn seen(estimate: &Estimate) -> String {
    let Estimate {
        processes, passes, ..
    } = *estimate;
    if processes < FEWEST_PROCESSES {
        format!("{processes} of {FEWEST_PROCESSES} processes")
    } else if passes < FEWEST_PASSES {
        format!("{passes} of {FEWEST_PASSES} passes")
    } else {
        format!("{processes} processes differ")
    }
}

/// Half the width of the interval divided by the centre: `± 1.2 %`. `None` without an interval, and for a value
/// that is not shown.
pub fn spread(estimate: &Estimate) -> Option<String> {
    let half_width = estimate.relative_half_width();
    let percent = half_width.filter(|_| !estimate.quantity().is_vague())? * 100.0;
    Some(match percent {
        ..0.05 => "± <0.1 %".into(),
        ..9.95 => format!("± {percent:.1} %"),
        _ => format!("± {percent:.0} %"),
    })
}

#[cfg(test)]
mod tests {
    use super::{cycles, estimate, samples};
    use instrument::quantity::Unit;
    use instrument::results::{Estimate, Verdict};
    use instrument::statistics::Interval;

    fn estimate_of(centre: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            centre,
            interval: Interval::new(low, high),
            samples: 25,
            ..crate::made_up::estimate(centre)
        }
    }

    #[test]
    fn cycles_are_those_of_work_of_the_core() {
        let mut estimate = estimate_of(1.25, 1.24, 1.26);
        assert_eq!(cycles(&estimate, 4e9), None);
        estimate.cpu_share = Some(1.0);
        for (slope, expected) in [
            (None, Some("5.00")),
            (Some(0.97), Some("5.00")),
            (Some(0.1), None),
        ] {
            estimate.clock_slope = slope;
            assert_eq!(cycles(&estimate, 4e9).as_deref(), expected);
        }
        estimate.clock_slope = None;
        estimate.unit = Unit::OperationsPerSecond;
        estimate.centre = 1e6;
        estimate.interval = None;
        assert_eq!(cycles(&estimate, 4e9).as_deref(), Some("4000"));
        estimate.unit = Unit::BytesPerSecond;
        assert_eq!(cycles(&estimate, 4e9), None);
    }

    #[test]
    fn timings_that_were_left_out_are_shown_with_the_samples() {
        let mut estimate = estimate_of(12.0, 11.0, 13.0);
        assert_eq!(samples(&estimate), "25");
        estimate.impossible = 3;
        assert_eq!(samples(&estimate), "25, 3 timings left out");
    }

    #[test]
    fn no_digit_is_shown_that_the_interval_does_not_support() {
        let shown =
            |centre, low, high| estimate(Unit::Nanoseconds, &estimate_of(centre, low, high));
        assert_eq!(shown(12.345, 12.3, 12.4), "12.3 ns ± 0.4 %");
        assert_eq!(shown(9.53, 9.0, 10.0), "9.53 ns ± 5.2 %");
        assert_eq!(shown(5.1, 3.0, 7.0), "5.1 ns ± 39 %");
        assert_eq!(shown(5.1, 5.1, 5.1), "5.10 ns ± <0.1 %");
        let wide = shown(0.001, 0.0005, 5.0);
        assert_eq!(wide, "not measured well enough (5 processes differ)");
    }

    #[test]
    fn what_is_no_usable_value_is_said_in_words() {
        let mut value = estimate_of(1.0, 0.0, 2.0);
        value.verdict = Verdict::BelowResolution;
        assert_eq!(estimate(Unit::Count, &value), "below resolution");
        value.verdict = Verdict::TooFew;
        value.processes = 3;
        let few = "not measured well enough (3 of 5 processes)";
        assert_eq!(estimate(Unit::Count, &value), few);
        value.verdict = Verdict::Broken("it cannot be".into());
        assert_eq!(estimate(Unit::Count, &value), "broken: it cannot be");
        let no_number = estimate_of(f64::NAN, 0.0, 1.0);
        assert_eq!(estimate(Unit::Count, &no_number), "no number");
    }
}
