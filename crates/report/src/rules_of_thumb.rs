//! A machine against rules of thumb: its strong and its weak sides, for readers who do not know what is
//! usual.

use crate::Analysis;
use crate::first_screen::first_screen;
use crate::glance::{Glance, Rung};
use crate::show;
use instrument::quantity::Unit;

/// Rules of thumb are rounded. Only a value whose whole interval is beyond this factor differs from one.
const APART: f64 = 1.3;
/// The most deviations of each kind that are shown: the largest.
const MOST: usize = 3;

/// A time that differs from its rule of thumb.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Deviation {
    /// The things that take the time, in the plural.
    pub(crate) what: &'static str,
    pub(crate) time: String,
    pub(crate) rule: String,
    /// The ratio to the rule: times as fast, or times as slow.
    factor: f64,
}

/// The deviations of a machine, the largest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Deviations {
    pub(crate) good: Vec<Deviation>,
    pub(crate) bad: Vec<Deviation>,
}

impl Deviations {
    pub(crate) fn of(analysis: &Analysis<'_>) -> Self {
        Self::on(&Glance::of(analysis).ladder)
    }

    fn on(rungs: &[Rung]) -> Self {
        let mut deviations = Self::default();
        for rung in rungs {
            let rule = first_screen()
                .rules
                .iter()
                .find(|rule| rule.rung == rung.label);
            let (Some(rule), Some(interval)) = (rule, rung.time.interval) else {
                continue;
            };
            let deviation = |factor| Deviation {
                what: &rule.what,
                time: show::value(Unit::Nanoseconds, rung.time.value, Some(interval)),
                rule: show::round(Unit::Nanoseconds, rule.ns),
                factor,
            };
            if interval.high * APART < rule.ns {
                deviations.good.push(deviation(rule.ns / rung.time.value));
            } else if interval.low > rule.ns * APART {
                deviations.bad.push(deviation(rung.time.value / rule.ns));
            }
        }
        for deviations in [&mut deviations.good, &mut deviations.bad] {
            deviations.sort_by(|one, other| other.factor.total_cmp(&one.factor));
            deviations.truncate(MOST);
        }
        deviations
    }

    /// Each kind that there is, with its name.
    pub(crate) fn named(self) -> Vec<(&'static str, Vec<Deviation>)> {
        let kinds = [("Good at", self.good), ("Bad at", self.bad)];
        let known = kinds
            .into_iter()
            .filter(|(_, deviations)| !deviations.is_empty());
        known.collect()
    }

    /// Both kinds as sentences; empty if nothing differs.
    pub(crate) fn text(self) -> String {
        let mut words = "rule of thumb ";
        let mut sentence = |(kind, deviations): (&str, Vec<Deviation>)| {
            let one = |deviation: &Deviation| {
                let words = std::mem::take(&mut words);
                format!(
                    "{} {} ({words}{})",
                    deviation.what, deviation.time, deviation.rule
                )
            };
            let all: Vec<String> = deviations.iter().map(one).collect();
            format!("{kind} {}.", all.join(", "))
        };
        let sentences: Vec<String> = self.named().into_iter().map(&mut sentence).collect();
        sentences.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::Deviations;
    use crate::glance::Rung;
    use instrument::quantity::{Quantity, Unit};
    use instrument::statistics::Interval;

    fn rung(label: &'static str, ns: f64, times: f64) -> Rung {
        Rung {
            label,
            time: Quantity {
                value: ns,
                interval: Interval::new(ns / times, ns * times),
                unit: Unit::Nanoseconds,
            },
        }
    }

    #[test]
    fn the_three_that_surely_differ_most_from_their_rules_are_named() {
        let deviations = Deviations::on(&[
            rung("load, nearest cache", 1.2, 1.01),
            rung("load, memory", 167.0, 1.1),
            rung("lock, nobody waits", 51.0, 1.0),
            rung("system call", 164.0, 1.1),
            rung("process switch", 2.9e3, 1.5),
            rung("write and fsync", 3e3, 1.4),
            rung("pipe, there and back", 1e3, 1.01),
        ]);
        assert_eq!(
            deviations.text(),
            "Good at writes with fsync 3.0 µs (rule of thumb 300 µs), switches between processes 2.9 µs \
             (10 µs), system calls 164 ns (300 ns). Bad at locks that nobody waits for 51.0 ns (17 ns), \
             loads from memory 167 ns (100 ns)."
        );
    }

    #[test]
    fn a_value_that_may_be_as_usual_or_has_no_interval_is_not_named() {
        let without = Rung {
            label: "load, memory",
            time: Quantity::nanoseconds(900.0),
        };
        let deviations = Deviations::on(&[
            without,
            rung("load, memory", 167.0, 1.4),
            rung("system call", 200.0, 1.2),
            rung("load, memory", 129.0, 1.0),
        ]);
        assert_eq!(deviations, Deviations::default());
        assert_eq!(deviations.text(), "");
    }
}
