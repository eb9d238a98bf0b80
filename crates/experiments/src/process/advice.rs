//! Advice for programs that start others.

use super::calls::{Call, DESIGN, rate};
use crate::estimates::ratio;
use crate::judging::{advice, better};
use crate::prelude::*;
use instrument::advice::{Audience, Rule};

pub(crate) const ALL: &[Rule] = &[Rule {
    setting: "start_programs_by",
    title: "way to start another program",
    audience: Audience::Programs,
    unit: None,
    experiments: &[DESIGN.id],
    find: |evidence| {
        let results = evidence.of(DESIGN.id)?;
        let (spawn, fork) = (rate(results, Call::Spawn)?, rate(results, Call::ForkExec)?);
        let (value, gain) = better(&ratio(spawn, fork)?, "posix_spawn", "fork")?;
        let said = sentence!("posix_spawn starts programs at {spawn}, fork and exec at {fork}.");
        Some(advice((value, "fork"), gain, said))
    },
}];
