//! What programs should use whose threads share locks.

use super::lock::{self, ENTRY, LOCK, PTHREAD_MUTEX, PTHREAD_SPIN};
use crate::estimates::{WithEstimate, ratio};
use crate::judging::better;
use instrument::advice::{Advice, Rule};
use instrument::finding::Finding;
use instrument::quantity::Unit;

const LOCKS: &str = "threads.lock";
const SPIN: &str = "spin";
const BLOCK: &str = "block";

pub(crate) const ALL: &[Rule] = &[Rule {
    setting: "short_sections_by",
    title: "lock for short sections that several kernel threads want",
    unit: None,
    experiments: &[LOCKS],
    find: |evidence| {
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
    },
}];
