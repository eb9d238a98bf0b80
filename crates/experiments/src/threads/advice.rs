//! What programs should use whose threads share locks.

use super::lock::{self, ENTRY, LOCK, PTHREAD_MUTEX, PTHREAD_SPIN};
use crate::estimates::{WithEstimate, ratio};
use crate::judging::{MARGIN, better, exceeds};
use instrument::advice::{Advice, Rule};
use instrument::claim::{Evidence, Ruling};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::statistics::Estimated;

const LOCKS: &str = "threads.lock";
const SPIN: &str = "spin";
const BLOCK: &str = "block";
/// Digits of an advised length: it follows from sections ten times as long as one another.
const DIGITS: i32 = 2;

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "short_sections_by",
        title: "lock for short sections that several kernel threads want",
        unit: None,
        experiments: &[LOCKS],
        find: short_sections,
    },
    Rule {
        setting: "spin_in_sections_up_to",
        title: "length of sections up to which kernel threads should spin for a lock",
        unit: Some(Unit::Nanoseconds),
        experiments: &[LOCKS],
        find: spin_up_to,
    },
];

/// Where the section is as short as can be.
fn short_sections(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(LOCKS)?;
    let entry = |lock: &str| {
        let levels = [
            (lock::BODY, lock::SIMPLE.into()),
            (lock::THREADS, lock::MIDDLE.into()),
            (LOCK, lock.into()),
        ];
        let entry = results.at(&levels)?.estimate(ENTRY)?;
        entry.is_sound().then_some(entry)
    };
    let gain = ratio(entry(PTHREAD_MUTEX)?, entry(PTHREAD_SPIN)?)?;
    let (value, gain_over_usual) = better(&gain, SPIN, BLOCK)?;
    let because = Finding::new(
        "because",
        "With {threads} threads, an entry takes {gain} as long by a mutex as by a spin lock.",
    )
    .given("threads", lock::MIDDLE as f64, Unit::Count)
    .with("gain", &gain, Unit::Ratio);
    Some(Advice {
        value: value.into(),
        usual: BLOCK.into(),
        gain: gain_over_usual,
        because,
    })
}

/// The longest section up to which spinning wins at every length; 0 where it loses in the shortest.
fn spin_up_to(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(LOCKS)?;
    let step_ns = lock::step_ns(results)?;
    let gains: Vec<(u64, Estimated)> = lock::spin_and_block(results)
        .filter_map(|(steps, spin, block)| Some((steps, ratio(block, spin)?)))
        .collect();
    let wins = |(_, gain): &&(u64, Estimated)| exceeds(gain, 1.0 + MARGIN) == Ruling::Holds;
    let (steps, gain) = *gains.iter().take_while(wins).last().or(gains.first())?;
    let section_ns = two_digits(steps as f64 * step_ns);
    let (value, gain_over_usual) = better(&gain, section_ns, 0)?;
    let because = Finding::new(
        "because",
        "With {threads} threads and sections of {section}, an entry takes {gain} as long by a mutex \
         as by a spin lock.",
    )
    .given("threads", lock::PAIR as f64, Unit::Count)
    .given("section", section_ns as f64, Unit::Nanoseconds)
    .with("gain", &gain, Unit::Ratio);
    Some(Advice {
        value: value.into(),
        usual: 0.into(),
        gain: gain_over_usual,
        because,
    })
}

/// Rounded as far as it is known.
fn two_digits(ns: f64) -> u64 {
    let place = 10_f64.powi((ns.log10().floor() as i32 + 1 - DIGITS).max(0));
    ((ns / place).round() * place) as u64
}

#[cfg(test)]
mod tests {
    use super::{LOCKS, spin_up_to, two_digits};
    use crate::find;
    use crate::made_up::{costs, machine, results, setting};
    use instrument::advice::Advice;
    use instrument::claim::Evidence;
    use instrument::plan::Profile;

    /// A step takes 2 ns; who blocks pays 200 ns, and who spins `per_step` for each step.
    fn advised(per_step: f64, start: f64) -> Option<Advice> {
        let locks = find(LOCKS).expect("it exists");
        let points = locks.points(&setting(Profile::Standard)).into_iter();
        let measured = points.map(|point| {
            let body = point.choice("body").expect("all have one");
            let steps = super::lock::complex_steps(body).unwrap_or(0) as f64;
            let entry = match point.choice("lock") {
                Ok("pthread spin") => start + per_step * steps,
                Ok("pthread mutex") => 200.0 + 2.0 * steps,
                _ => 20.0 + 2.0 * steps,
            };
            costs(point, &[("entry", entry)])
        });
        let (definition, machine) = (locks.definition(), machine());
        let results = [results(&definition, &machine, measured.collect())];
        spin_up_to(&Evidence::new(&results))
    }

    #[test]
    fn sections_are_spun_for_up_to_the_longest_that_gains() {
        // 100 steps: 310 against 400; 1000 steps: 3010 against 2200.
        let advice = advised(3.0, 10.0).expect("told");
        assert_eq!((advice.value, advice.usual), (200.into(), 0.into()));
        assert!((advice.gain.expect("it gains").centre - 400.0 / 310.0).abs() < 0.01);
    }

    #[test]
    fn where_the_shortest_section_is_faster_blocked_nothing_is_spun_for() {
        let advice = advised(3.0, 900.0).expect("told");
        assert_eq!((advice.value, advice.gain), (0.into(), None));
    }

    #[test]
    fn a_length_is_told_in_two_digits() {
        assert_eq!([123.4, 9876.0, 7.6].map(two_digits), [120, 9900, 8]);
    }
}
