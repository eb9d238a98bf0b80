//! Advice for programs that start others.

use super::calls::{Call, DESIGN, rate};
use crate::advising::Ways;
use crate::prelude::*;
use instrument::advice::{Action, Audience, Rule};

pub(crate) const ALL: &[Rule] = &[Rule {
    setting: "start_programs_by",
    title: "way to start another program",
    audience: Audience::Programs,
    unit: None,
    basis: Basis::One(DESIGN.id, |results| {
        let (spawn, fork) = (rate(results, Call::Spawn)?, rate(results, Call::ForkExec)?);
        let said = sentence!("posix_spawn starts programs at {spawn}, fork and exec at {fork}.");
        Ways::new(results, fork, spawn).advised("posix_spawn", "fork", said)
    }),
    act: |_, _| {
        Action::Code(sentence!(
            "Start programs by posix_spawn, not by fork and exec."
        ))
    },
}];
