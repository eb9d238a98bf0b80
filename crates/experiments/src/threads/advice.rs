//! Advice for programs whose threads share locks.

use super::lock::{self, PAIR};
use crate::advising::{Ways, as_usual};
use crate::judging::{MARGIN, exceeds};
use crate::prelude::*;
use instrument::advice::{Action, Advice, Audience, Rule};

const LOCKS: &str = "threads.lock";
/// Digits of an advised length: it follows from sections ten times as long as one another.
const DIGITS: i32 = 2;

pub(crate) const ALL: &[Rule] = &[Rule {
    setting: "spin_in_sections_up_to",
    title: "length of sections up to which kernel threads should spin for a lock",
    audience: Audience::Programs,
    unit: Some(Unit::Nanoseconds),
    basis: Basis::One(LOCKS, spin_up_to),
    act: |value, _| {
        let length = Quantity::nanoseconds(value.number().unwrap_or_default() as f64);
        Action::Code(sentence!(
            "Let threads spin for locks whose sections last up to {length}, and block for others."
        ))
    },
}];

/// The longest section up to which spinning wins at every measured length; 0 where it wins at none.
/// Undecided where it wins again in longer sections, or where the shortest is not decided.
fn spin_up_to(results: &Results<'_>) -> Option<Advice> {
    let step_ns = lock::step_ns(results)?;
    let section = |steps: u64| Quantity::nanoseconds(two_digits(steps as f64 * step_ns) as f64);
    let lengths = lock::spin_and_block(results).map(|(steps, other, usual)| {
        let ways = Ways::new(results, usual, other);
        Some((steps, exceeds(&ways.gain()?, 1.0 + MARGIN), ways))
    });
    let lengths = lengths.collect::<Option<Vec<_>>>()?;
    let (shortest, ruling, at_shortest) = lengths.first()?;
    let wins = lengths.iter();
    let wins: Vec<_> = wins
        .take_while(|(_, ruling, _)| *ruling == Ruling::Holds)
        .collect();
    let beyond = &lengths[wins.len()..];
    let wins_again = beyond.iter().any(|(_, ruling, _)| *ruling == Ruling::Holds);
    let is_open = wins.is_empty() && *ruling != Ruling::DoesNotHold;
    if wins_again || is_open {
        return None;
    }
    let processors = if results.machine.topology.threads == Some(1) {
        "one processor"
    } else {
        "two processors"
    };
    let Some((steps, _, ways)) = wins.last() else {
        let (spin, block) = (at_shortest.other, at_shortest.usual);
        let said = sentence!(
            "With {threads} threads on {processors}, an entry takes {spin} with a spin lock and {block} with \
             a mutex in the shortest sections measured, of {shortest}.",
            threads = PAIR,
            shortest = section(*shortest),
        );
        return Some(as_usual(0, said));
    };
    let (spin, block) = (ways.other, ways.usual);
    let beyond = if let Some((steps, ..)) = beyond.first() {
        let next = section(*steps);
        sentence!("In sections of {next} it is not shown to be faster.")
    } else {
        sentence!("Longer ones were not measured.")
    };
    let longest = section(*steps);
    let said = sentence!(
        "With {threads} threads on {processors}, spinning is faster in all sections measured up to {longest}, \
         where an entry takes {spin} with a spin lock and {block} with a mutex. {beyond}",
        threads = PAIR,
    );
    ways.advised(longest.value as u64, 0, said)
}

/// Rounded to the digits that are known.
fn two_digits(ns: f64) -> u64 {
    let place = 10_f64.powi((ns.log10().floor() as i32 + 1 - DIGITS).max(0));
    ((ns / place).round() * place) as u64
}

#[cfg(test)]
mod tests {
    use super::two_digits;

    #[test]
    fn a_length_has_two_digits() {
        assert_eq!([123.4, 9876.0, 7.6].map(two_digits), [120, 9900, 8]);
    }
}
