//! What programs should use that start others.

use super::calls::{AXIS, FORK_EXEC, RATE, SPAWN};
use crate::estimates::{WithEstimate, estimated, ratio};
use crate::judging::better;
use instrument::advice::{Advice, Rule};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::Estimate;

const CALLS: &str = "process.calls";

pub(crate) const ALL: &[Rule] = &[Rule {
    setting: "start_programs_by",
    title: "way to start another program",
    unit: None,
    experiments: &[CALLS],
    find: |evidence| {
        let rate = |call: &str| evidence.estimate(CALLS, RATE, &[(AXIS, call.into())]);
        advice(rate(SPAWN)?, rate(FORK_EXEC)?)
    },
}];

fn advice(spawn: &Estimate, fork: &Estimate) -> Option<Advice> {
    let (value, gain_over_usual) = better(&ratio(spawn, fork)?, "posix_spawn", "fork")?;
    let because = Finding::new(
        "because",
        "Programs are started at {spawn} by posix_spawn and at {fork} by fork and exec.",
    )
    .with("spawn", &estimated(spawn), Unit::OperationsPerSecond)
    .with("fork", &estimated(fork), Unit::OperationsPerSecond);
    Some(Advice {
        value: value.into(),
        usual: "fork".into(),
        gain: gain_over_usual,
        because,
    })
}
