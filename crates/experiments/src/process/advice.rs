//! What programs should use that start others.

use super::calls::{AXIS, FORK_EXEC, RATE, SPAWN};
use crate::estimates::{WithEstimate, ratio};
use crate::judging::better;
use instrument::advice::{Advice, Rule};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::statistics::Estimated;

const CALLS: &str = "process.calls";

pub(crate) const ALL: &[Rule] = &[Rule {
    setting: "start_programs_by",
    title: "way to start another program",
    unit: None,
    experiments: &[CALLS],
    find: |evidence| {
        let rate = |call: &str| evidence.estimate(CALLS, RATE, &[(AXIS, call.into())]);
        let gain = ratio(rate(SPAWN)?, rate(FORK_EXEC)?)?;
        advice(&gain)
    },
}];

fn advice(gain: &Estimated) -> Option<Advice> {
    let (value, gain_over_usual) = better(gain, "posix_spawn", "fork")?;
    let because = Finding::new(
        "because",
        "By posix_spawn, {gain} as many programs are started as by fork and exec.",
    );
    Some(Advice {
        value: value.into(),
        usual: "fork".into(),
        gain: gain_over_usual,
        because: because.with("gain", gain, Unit::Ratio),
    })
}
