//! An estimate as one line.

use super::value::value;
use super::words::verdict;
use instrument::quantity::{Unit, counted};
use instrument::results::{Estimate, Verdict};

/// An estimate as one line: `1.24 µs ± 1.2 %`, `below resolution`, `broken: why`.
pub fn estimate(unit: Unit, estimate: &Estimate) -> String {
    match &estimate.verdict {
        Verdict::TooFew => format!("{}: {}", seen(estimate), value(unit, estimate.centre, None)),
        Verdict::BelowResolution => verdict(&estimate.verdict).text.into(),
        Verdict::Broken(why) => format!("{}: {why}", verdict(&estimate.verdict).text),
        Verdict::Sound => {
            let centre = value(unit, estimate.centre, estimate.interval);
            match spread(estimate) {
                Some(spread) => format!("{centre} {spread}"),
                None => centre,
            }
        }
    }
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

/// Words for a value with too few processes for an estimate: `seen once`.
pub fn seen(estimate: &Estimate) -> String {
    match estimate.processes {
        1 => "seen once".into(),
        2 => "seen twice".into(),
        times => format!("seen {times} times"),
    }
}

/// Half the width of the interval divided by the centre: `± 1.2 %`. `None` without an interval.
pub fn spread(estimate: &Estimate) -> Option<String> {
    let percent = estimate.relative_half_width()? * 100.0;
    Some(match percent {
        ..0.05 => "± <0.1 %".into(),
        ..9.95 => format!("± {percent:.1} %"),
        ..1000.0 => format!("± {percent:.0} %"),
        _ => "± >999 %".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::{estimate, samples};
    use instrument::quantity::Unit;
    use instrument::results::{Estimate, Verdict};
    use instrument::statistics::Interval;

    fn estimate_of(centre: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            unit: Unit::Nanoseconds,
            metric: "m".into(),
            centre,
            interval: Interval::new(low, high),
            raw: None,
            as_met: None,
            processes: 5,
            passes: Some(5),
            samples: 25,
            impossible: 0,
            disturbed: Some(0.0),
            by_next_clock: 0.0,
            clock_slope: None,
            by_process: vec![centre; 5],
            pass_of: Vec::new(),
            cpu_share: None,
            system_share: None,
            percentiles: None,
            verdict: Verdict::Sound,
        }
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
        assert_eq!(shown(0.001, -5.0, 5.0), "0.001 ns ± >999 %");
    }

    #[test]
    fn what_is_no_usable_value_is_said_in_words() {
        let mut value = estimate_of(1.0, 0.0, 2.0);
        value.verdict = Verdict::BelowResolution;
        assert_eq!(estimate(Unit::Count, &value), "below resolution");
        value.verdict = Verdict::TooFew;
        value.processes = 1;
        assert_eq!(estimate(Unit::Count, &value), "seen once: 1.00");
        value.verdict = Verdict::Broken("it cannot be".into());
        assert_eq!(estimate(Unit::Count, &value), "broken: it cannot be");
        assert_eq!(
            estimate(Unit::Count, &estimate_of(f64::NAN, 0.0, 1.0)),
            "no number"
        );
    }
}
