//! Advice for programs whose threads share locks.

use super::lock::{self, Body, ENTRY, LockType, MIDDLE, PAIR, at};
use crate::estimates::ratio;
use crate::judging::{MARGIN, advice, better, exceeds};
use crate::prelude::*;
use instrument::advice::{Advice, Audience, Rule};
use instrument::claim::{Evidence, Ruling};

const LOCKS: &str = "threads.lock";
const SPIN: &str = "spin";
const BLOCK: &str = "block";
/// Digits of an advised length: it follows from sections ten times as long as one another.
const DIGITS: i32 = 2;

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "short_sections_by",
        title: "lock for short sections that several kernel threads want",
        audience: Audience::Programs,
        unit: None,
        experiments: &[LOCKS],
        find: short_sections,
    },
    Rule {
        setting: "spin_in_sections_up_to",
        title: "length of sections up to which kernel threads should spin for a lock",
        audience: Audience::Programs,
        unit: Some(Unit::Nanoseconds),
        experiments: &[LOCKS],
        find: spin_up_to,
    },
];

/// Spinning or blocking for the shortest section.
fn short_sections(evidence: &Evidence<'_>) -> Option<Advice> {
    let entry = |lock| evidence.estimate(LOCKS, ENTRY, &at(Body::Simple, lock, MIDDLE));
    let (mutex, spin) = (
        entry(LockType::PthreadMutex)?,
        entry(LockType::PthreadSpin)?,
    );
    let gain = ratio(mutex, spin)?;
    let (value, gain_over_usual) = better(&gain, SPIN, BLOCK)?;
    let said = sentence!(
        "With {threads} threads, an entry takes {gain} as long with a mutex as with a spin lock.",
        threads = MIDDLE,
    );
    Some(advice((value, BLOCK), gain_over_usual, said))
}

/// The longest section up to which spinning wins at every length; 0 where it loses in the shortest.
fn spin_up_to(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(LOCKS)?;
    let step_ns = lock::step_ns(results)?;
    let gains: Vec<(u64, Quantity)> = lock::spin_and_block(results)
        .filter_map(|(steps, spin, block)| Some((steps, ratio(block, spin)?)))
        .collect();
    let wins = |(_, gain): &&(u64, Quantity)| exceeds(gain, 1.0 + MARGIN) == Ruling::Holds;
    let (steps, gain) = *gains.iter().take_while(wins).last().or(gains.first())?;
    let section_ns = two_digits(steps as f64 * step_ns);
    let (value, gain_over_usual) = better(&gain, section_ns, 0)?;
    let said = sentence!(
        "With {threads} threads and sections of {section}, an entry takes {gain} as long with a \
         mutex as with a spin lock.",
        threads = PAIR,
        section = Quantity::nanoseconds(section_ns as f64),
    );
    Some(advice((value, 0), gain_over_usual, said))
}

/// Rounded to the digits that are known.
fn two_digits(ns: f64) -> u64 {
    let place = 10_f64.powi((ns.log10().floor() as i32 + 1 - DIGITS).max(0));
    ((ns / place).round() * place) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;
    use crate::made_up::{machine, measured, results, setting};
    use crate::threads::lock::{BODY, ENTRY, LOCK, LockType};

    /// A step takes 2 ns; a mutex costs 200 ns, and a spin lock `start` and 3 ns for each step.
    fn advised(start: f64) -> Option<Advice> {
        let locks = find(LOCKS).expect("it exists");
        let points = locks.points(&setting(Profile::Standard)).into_iter();
        let measured = points.map(|point| {
            let steps = point.level(BODY).expect("all have one").steps() as f64;
            let entry = match point.level(LOCK).expect("all have one") {
                LockType::PthreadSpin => start + 3.0 * steps,
                LockType::PthreadMutex => 200.0 + 2.0 * steps,
                _ => 20.0 + 2.0 * steps,
            };
            measured(point, &[(ENTRY, entry)])
        });
        let (definition, machine) = (locks.definition(), machine());
        let results = [results(&definition, &machine, measured.collect())];
        spin_up_to(&Evidence::new(&results))
    }

    #[test]
    fn sections_are_spun_for_up_to_the_longest_that_gains() {
        // 100 steps: 310 against 400; 1000 steps: 3010 against 2200.
        let advice = advised(10.0).expect("it is decided");
        assert_eq!((advice.value, advice.usual), (200.into(), 0.into()));
        assert!((advice.gain.expect("it gains").value - 400.0 / 310.0).abs() < 0.01);
        let blocking = advised(900.0).expect("it is decided");
        assert_eq!((blocking.value, blocking.gain), (0.into(), None));
    }

    #[test]
    fn a_length_has_two_digits() {
        assert_eq!([123.4, 9876.0, 7.6].map(two_digits), [120, 9900, 8]);
    }
}
