//! The conditions under which the sides ran: what disturbed one side and not the other.

use super::Side;
use super::circumstances::Circumstance;
use crate::Surroundings;
use crate::surroundings::{CLOCK, CONDITIONS, Condition, STATES};
use instrument::statistics::summary::median;

/// The differences in conditions between two sides.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    /// The disturbances by which the sides differ notably.
    pub differences: Vec<Circumstance>,
    /// The differences that are so large that they may explain any difference of values; with none, the
    /// sides are comparable.
    pub reasons: Vec<String>,
}

impl Conditions {
    pub fn of(a: &Side, b: &Side) -> Self {
        if a.is_reported() || b.is_reported() {
            return Self::default();
        }
        let (around_a, around_b) = (around(a), around(b));
        Self {
            reasons: reasons(&around_a, &around_b, ["in A", "in B"]),
            differences: differences(&around_a, &around_b),
        }
    }
}

/// The differences between two groups of sessions that may explain any difference of their values. The
/// groups are called by `names`: `in A`.
pub(crate) fn reasons(a: &[Surroundings], b: &[Surroundings], names: [&str; 2]) -> Vec<String> {
    let measured = CONDITIONS.iter().filter_map(|condition| {
        let [a, b] = condition
            .medians(a, b, condition.most?)?
            .map(condition.show);
        let (_, name) = condition.name.split_once(": ")?;
        Some(format!("{name} ({a} {}, {b} {})", names[0], names[1]))
    });
    let states = STATES.iter().filter_map(|(of, description)| {
        let all = |sessions: &[Surroundings], expected| {
            sessions.iter().all(|session| of(session) == Some(expected))
        };
        let only = |one, other, name| {
            (all(one, true) && all(other, false)).then(|| format!("{description} {name} only"))
        };
        only(a, b, names[0]).or_else(|| only(b, a, names[1]))
    });
    measured.chain(states).collect()
}

/// The time of work of the core at the clock of the second group over that at the clock of the first:
/// 1.14 for 14 % longer. `None` if the clocks are alike or not known.
pub(crate) fn longer_by_clock(a: &[Surroundings], b: &[Surroundings]) -> Option<f64> {
    let [a, b] = CLOCK.medians(a, b, CLOCK.notable)?;
    Some(a / b)
}

impl Condition {
    /// The medians of the two sides, if they differ by more than `least` and no session of the one is
    /// like one of the other.
    fn medians(&self, a: &[Surroundings], b: &[Surroundings], least: f64) -> Option<[f64; 2]> {
        let known = |sessions: &[Surroundings]| -> Vec<f64> {
            sessions.iter().filter_map(self.of).collect()
        };
        let (a, b) = (known(a), known(b));
        let is_below = |low: &[f64], high: &[f64]| {
            let least_high = high.iter().copied().fold(f64::INFINITY, f64::min);
            low.iter().all(|value| *value < least_high)
        };
        let medians = [median(&a)?, median(&b)?];
        let is_apart = is_below(&a, &b) || is_below(&b, &a);
        (is_apart && (medians[0] - medians[1]).abs() > least).then_some(medians)
    }
}

fn around(side: &Side) -> Vec<Surroundings> {
    side.runs.iter().map(Surroundings::of).collect()
}

/// The disturbances by which two groups of sessions differ notably, each by the median of the sessions.
pub(crate) fn differences(a: &[Surroundings], b: &[Surroundings]) -> Vec<Circumstance> {
    let difference = |condition: &Condition| {
        let [a, b] = condition
            .medians(a, b, condition.notable)?
            .map(condition.show);
        let name = condition.name.into();
        Some(Circumstance { name, a, b })
    };
    CONDITIONS.iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::{Conditions, differences};
    use crate::Surroundings;
    use crate::comparison::Side;
    use crate::reference;

    fn with_load(others: f64) -> Surroundings {
        Surroundings {
            others: Some(others),
            ..Surroundings::default()
        }
    }

    #[test]
    fn load_on_one_side_alone_is_named() {
        let found = differences(&[with_load(0.02)], &[with_load(1.2)]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].a.as_str(), found[0].b.as_str()), ("0.020", "1.2"));
    }

    #[test]
    fn load_on_both_sides_is_no_difference() {
        let alike = [
            (vec![with_load(1.15)], vec![with_load(1.2)]),
            (vec![Surroundings::default()], vec![with_load(1.2)]),
            // One session of the first side ran next to as much load as the second side.
            (
                vec![with_load(0.0), with_load(0.0), with_load(1.3)],
                vec![with_load(1.2)],
            ),
        ];
        for (a, b) in alike {
            assert_eq!(differences(&a, &b), []);
        }
    }

    #[test]
    fn a_traced_side_and_one_on_battery_are_not_comparable_with_one_that_is_not() {
        let side = |is_traced, is_on_battery| {
            let mut run = reference::ALL[0].run();
            run.header.version = "0.1.0".into();
            run.environment.is_traced = is_traced;
            run.environment.is_on_battery = is_on_battery;
            Side {
                label: String::new(),
                runs: vec![run],
            }
        };
        let reasons = |a: &Side, b: &Side| Conditions::of(a, b).reasons;
        let plain = side(Some(false), Some(false));
        assert_eq!(
            reasons(&plain, &side(Some(true), Some(false))),
            ["another program traced oscope in B only"]
        );
        assert_eq!(
            reasons(&side(Some(false), Some(true)), &plain),
            ["the machine ran on its battery in A only"]
        );
        for alike in [&plain, &side(None, None)] {
            assert_eq!(reasons(&plain, alike), [""; 0]);
        }
    }
}
