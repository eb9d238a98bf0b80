//! A machine against rules of thumb: its strong and its weak sides, for readers who do not know what is
//! usual.

use crate::Analysis;
use crate::first_screen::first_screen;
use crate::glance::{Glance, Rung};
use crate::show;
use instrument::quantity::Unit;

/// Rules of thumb are rounded. Only a value whose whole interval is beyond this factor differs from one.
const APART: f64 = 1.3;
/// The most sides of each kind that are shown: those that differ most.
const MOST: usize = 3;

/// A time that differs from its rule of thumb.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Side {
    /// The things that take the time, in the plural.
    pub(crate) what: &'static str,
    pub(crate) time: String,
    pub(crate) rule: String,
    /// The ratio to the rule: times as fast, or times as slow.
    factor: f64,
}

/// The sides of a machine, those first that differ most.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sides {
    pub(crate) good: Vec<Side>,
    pub(crate) bad: Vec<Side>,
}

impl Sides {
    pub(crate) fn of(analysis: &Analysis<'_>) -> Self {
        Self::on(&Glance::of(analysis).ladder)
    }

    fn on(rungs: &[Rung]) -> Self {
        let mut sides = Self::default();
        for rung in rungs {
            let rule = first_screen()
                .rules
                .iter()
                .find(|rule| rule.rung == rung.label);
            let (Some(rule), Some(interval)) = (rule, rung.time.interval) else {
                continue;
            };
            let side = |factor| Side {
                what: &rule.what,
                time: show::value(Unit::Nanoseconds, rung.time.value, Some(interval)),
                rule: show::round(Unit::Nanoseconds, rule.ns),
                factor,
            };
            if interval.high * APART < rule.ns {
                sides.good.push(side(rule.ns / rung.time.value));
            } else if interval.low > rule.ns * APART {
                sides.bad.push(side(rung.time.value / rule.ns));
            }
        }
        for sides in [&mut sides.good, &mut sides.bad] {
            sides.sort_by(|one, other| other.factor.total_cmp(&one.factor));
            sides.truncate(MOST);
        }
        sides
    }

    /// Each kind that there is, with its name.
    pub(crate) fn named(self) -> Vec<(&'static str, Vec<Side>)> {
        let kinds = [("Good at", self.good), ("Bad at", self.bad)];
        let known = kinds.into_iter().filter(|(_, sides)| !sides.is_empty());
        known.collect()
    }

    /// Both kinds as sentences; empty if nothing differs.
    pub(crate) fn text(self) -> String {
        let mut words = "rule of thumb ";
        let mut sentence = |(kind, sides): (&str, Vec<Side>)| {
            let one = |side: &Side| {
                let words = std::mem::take(&mut words);
                format!("{} {} ({words}{})", side.what, side.time, side.rule)
            };
            let all: Vec<String> = sides.iter().map(one).collect();
            format!("{kind} {}.", all.join(", "))
        };
        let sentences: Vec<String> = self.named().into_iter().map(&mut sentence).collect();
        sentences.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::{Side, Sides};
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
    fn what_differs_from_its_rule_for_sure_is_told() {
        let sides = Sides::on(&[
            rung("load, nearest cache", 1.2, 1.01),
            rung("load, memory", 167.0, 1.1),
            rung("system call", 164.0, 1.1),
            rung("process switch", 2.9e3, 1.5),
            rung("write and fsync", 3e3, 4.0),
            rung("pipe, there and back", 6e3, 1.01),
        ]);
        assert_eq!(
            sides.text(),
            "Good at writes with fsync 3.0 µs (rule of thumb 300 µs), switches between processes 2.9 µs \
             (10 µs), system calls 164 ns (300 ns). Bad at loads from memory 167 ns (100 ns)."
        );
    }

    #[test]
    fn a_value_that_may_be_as_usual_or_has_no_interval_is_not_told() {
        let without = Rung {
            label: "load, memory",
            time: Quantity::nanoseconds(900.0),
        };
        let ladders = [
            vec![],
            vec![without],
            vec![rung("load, memory", 167.0, 1.4)],
            vec![
                rung("system call", 200.0, 1.2),
                rung("load, memory", 129.0, 1.0),
            ],
        ];
        for ladder in ladders {
            assert_eq!(Sides::on(&ladder), Sides::default(), "{ladder:?}");
        }
        assert_eq!(Sides::default().text(), "");
    }

    #[test]
    fn the_three_that_differ_most_are_told() {
        let slow = |label, ns| rung(label, ns, 1.0);
        let sides = Sides::on(&[
            slow("load, nearest cache", 4.0),
            slow("lock, nobody waits", 51.0),
            slow("load, memory", 200.0),
            slow("system call", 3e3),
        ]);
        let what: Vec<&str> = sides.bad.iter().map(|Side { what, .. }| *what).collect();
        assert_eq!(
            what,
            [
                "system calls",
                "loads from the nearest cache",
                "locks that nobody waits for"
            ]
        );
    }
}
