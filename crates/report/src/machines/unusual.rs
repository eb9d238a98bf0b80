//! What is slow or fast on a machine compared with others of its kind.

use super::values::{Compared, compared, others};
use super::{Kind, ReferenceMachine, Value};
use crate::lists::joined;
use crate::{Analysis, show};
use instrument::experiment::Better;
use instrument::quantity::Unit;
use instrument::statistics::Interval;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Values of fewer other machines show nothing.
const FEWEST: usize = 3;
/// A value differs if its whole interval is beyond the intervals of all others by more than this factor.
const APART: f64 = 1.05;
/// The most values of each side that are shown: those that differ most.
const MOST: usize = 3;

/// The values that are slow or fast for machines of this kind, those that differ most first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Unusual {
    /// The kind, as in a sentence.
    kind: String,
    slow: Vec<Difference>,
    fast: Vec<Difference>,
}

/// A value that differs from those of all others.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct Difference {
    #[serde(flatten)]
    value: Value,
    /// The subject of a sentence on the value: `a system call`.
    what: String,
    /// The smallest and the largest value of the others.
    others: [f64; 2],
    /// Number of the others.
    machines: usize,
    /// The factor that is between its interval and those of the others.
    factor: f64,
}

impl Unusual {
    /// What is unusual in a run. Nothing, if fewer than three undisturbed references are of its kind, or if its own
    /// conditions may have moved all its values.
    pub(crate) fn of(analysis: &Analysis<'_>) -> Self {
        let run = analysis.run;
        let Some(kind) = Kind::of(run).filter(|_| !analysis.surroundings.are_disturbed()) else {
            return Self::default();
        };
        let others: Vec<_> = others(analysis).filter(|it| it.kind == kind).collect();
        Self::among(&others, compared(analysis), &kind)
    }

    fn among(others: &[&ReferenceMachine], own: Vec<Compared>, kind: &Kind) -> Self {
        // A machine counts once, with its newest run.
        let mut machines: BTreeMap<&str, &ReferenceMachine> = BTreeMap::new();
        for other in others {
            let known = machines.entry(&other.mark).or_insert(other);
            if known.started < other.started {
                *known = other;
            }
        }
        let mut unusual = Self {
            kind: kind.words(),
            ..Self::default()
        };
        for own in own.into_iter().filter(|own| !own.is_disturbed) {
            let values = machines.values().flat_map(|machine| &machine.values);
            let same: Vec<&Value> = values.filter(|it| it.key() == own.value.key()).collect();
            let Some((is_slow, factor)) = difference(&own, &same) else {
                continue;
            };
            let others = same.iter().map(|other| other.value);
            let difference = Difference {
                others: [
                    others.clone().fold(f64::INFINITY, f64::min),
                    others.fold(f64::NEG_INFINITY, f64::max),
                ],
                machines: same.len(),
                factor,
                value: own.value,
                what: own.what,
            };
            let side = if is_slow {
                &mut unusual.slow
            } else {
                &mut unusual.fast
            };
            side.push(difference);
        }
        for side in [&mut unusual.slow, &mut unusual.fast] {
            side.sort_by(|one, other| other.factor.total_cmp(&one.factor));
            side.truncate(MOST);
        }
        unusual
    }

    /// A sentence for each side that there is, what is slow first.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let sides = [("Slow", &self.slow), ("Fast", &self.fast)].into_iter();
        let sides = sides.filter(|(_, differences)| !differences.is_empty());
        let sentence = |(side, differences): (&str, &Vec<Difference>)| {
            let all = joined("; ", differences.iter().map(Difference::text));
            format!("{side} for {}: {all}.", self.kind)
        };
        sides.map(sentence).collect()
    }
}

impl Difference {
    /// `a system call takes 164 ns, others 110 to 150 ns`
    fn text(&self) -> String {
        let Value {
            unit,
            value,
            interval,
            ..
        } = self.value;
        let [smallest, largest] = self.others;
        let verb = match unit {
            Unit::Nanoseconds => "takes",
            _ => "reaches",
        };
        format!(
            "{} {verb} {}, others {}",
            self.what,
            show::value(unit, value, Some(interval)),
            show::extent(unit, smallest, largest)
        )
    }
}

/// True if a value is slower than all others, with the factor between their intervals; `None` if it is like one of
/// them, or if there are too few.
fn difference(own: &Compared, others: &[&Value]) -> Option<(bool, f64)> {
    if others.len() < FEWEST {
        return None;
    }
    let Interval { low, high } = own.value.interval;
    let ends = others.iter().map(|other| other.interval);
    let lowest = ends.clone().map(|it| it.low).fold(f64::INFINITY, f64::min);
    let highest = ends.map(|it| it.high).fold(0.0, f64::max);
    let (above, below) = (low / highest, lowest / high);
    let (is_slow, factor) = match own.better {
        Better::Lower if above > below => (true, above),
        Better::Lower => (false, below),
        Better::Higher if below > above => (true, below),
        Better::Higher => (false, above),
        Better::Neither => return None,
    };
    (factor > APART).then_some((is_slow, factor))
}

#[cfg(test)]
mod tests {
    use super::{Compared, Kind, ReferenceMachine, Unusual, Value};
    use crate::machines::made_up::{machine, own, time};
    use crate::machines::shipped;
    use instrument::experiment::Better;
    use instrument::quantity::Unit;

    fn kind() -> Kind {
        shipped()[0].kind.clone()
    }

    /// Machines with one time each.
    fn with_times(ns: &[f64]) -> Vec<ReferenceMachine> {
        let machines = ns.iter().enumerate();
        let machine =
            |(index, ns): (usize, &f64)| machine(&index.to_string(), vec![time("getpid", *ns)]);
        machines.map(machine).collect()
    }

    fn said(own: Compared, machines: &[ReferenceMachine]) -> Vec<String> {
        let machines: Vec<&ReferenceMachine> = machines.iter().collect();
        Unusual::among(&machines, vec![own], &kind()).sentences()
    }

    #[test]
    fn a_value_more_than_five_per_cent_beyond_those_of_three_others_is_slow_or_fast() {
        let three: &[f64] = &[110.0, 130.0, 150.0];
        for (ns, others, expected) in [
            (
                164.0,
                three,
                "Slow for this processor under KVM: getpid takes 164 ns",
            ),
            (
                100.0,
                three,
                "Fast for this processor under KVM: getpid takes 100 ns",
            ),
            // The end of the slowest is 151.5 ns, the beginning of the fastest 108.9 ns.
            (160.0, three, ""),
            (161.5, three, "Slow "),
            (102.9, three, ""),
            (102.4, three, "Fast "),
            (1e6, &[], ""),
            (1e6, &[110.0], ""),
            (1e6, &[110.0, 150.0], ""),
        ] {
            let said = said(own(time("getpid", ns)), &with_times(others)).concat();
            assert!(said.starts_with(expected), "{ns}: {said}");
            let end = said.split_once(", ").map(|(_, end)| end);
            let others = (!expected.is_empty()).then_some("others 110 to 150 ns.");
            assert_eq!(end, others, "{ns}");
        }
    }

    #[test]
    fn values_that_are_disturbed_or_of_another_version_unit_or_point_do_not_count() {
        let others = with_times(&[110.0, 130.0, 150.0]);
        let disturbed = Compared {
            is_disturbed: true,
            ..own(time("getpid", 1e6))
        };
        let newer = Value {
            version: 2,
            ..time("getpid", 1e6)
        };
        let rate = Value {
            unit: Unit::OperationsPerSecond,
            ..time("getpid", 1e6)
        };
        for own in [disturbed, own(newer), own(rate), own(time("fork", 1e6))] {
            assert_eq!(said(own, &others), [""; 0]);
        }
    }

    #[test]
    fn a_machine_counts_once_with_its_newest_run() {
        let mut others = with_times(&[110.0, 130.0, 150.0]);
        let newer = ReferenceMachine {
            started: "2026-01-01T00:00:00Z".parse().expect("a time"),
            ..machine("0", vec![time("getpid", 120.0)])
        };
        others.insert(0, newer);
        let slow = said(own(time("getpid", 200.0)), &others);
        assert!(slow[0].ends_with("others 120 to 150 ns."), "{slow:?}");
        let two = with_times(&[110.0, 150.0]);
        let runs_of_two = [two.clone(), two].concat();
        assert_eq!(said(own(time("getpid", 1e6)), &runs_of_two), [""; 0]);
    }

    #[test]
    fn of_rates_the_larger_is_fast() {
        let rate = |value| Value {
            unit: Unit::BytesPerSecond,
            ..time("read", value)
        };
        let machines = [1e9, 2e9, 3e9].map(|value| machine(&value.to_string(), vec![rate(value)]));
        for (value, expected) in [
            (
                9e9,
                "Fast for this processor under KVM: read reaches 8.38 GiB/s, others ",
            ),
            (5e8, "Slow for "),
            (2e9, ""),
        ] {
            let own = Compared {
                better: Better::Higher,
                ..own(rate(value))
            };
            let said = said(own, &machines).concat();
            assert!(said.starts_with(expected), "{said}");
            assert_eq!(said.is_empty(), expected.is_empty(), "{said}");
        }
    }

    #[test]
    fn the_three_that_differ_most_are_named_and_slow_ones_first() {
        let calls = ["a", "b", "c", "d", "e"];
        let values = || calls.iter().map(|call| time(call, 100.0)).collect();
        let machines = ["1", "2", "3"].map(|mark| machine(mark, values()));
        let machines: Vec<&ReferenceMachine> = machines.iter().collect();
        let times = [
            ("a", 120.0),
            ("b", 200.0),
            ("c", 130.0),
            ("d", 300.0),
            ("e", 50.0),
        ];
        let own = times.map(|(call, ns)| own(time(call, ns))).to_vec();
        let bare = Kind {
            hypervisor: None,
            ..kind()
        };
        assert_eq!(
            Unusual::among(&machines, own, &bare).sentences(),
            [
                "Slow for this processor: d takes 300 ns, others 100 ns; b takes 200 ns, others 100 ns; \
                 c takes 130 ns, others 100 ns.",
                "Fast for this processor: e takes 50.0 ns, others 100 ns."
            ]
        );
    }
}
