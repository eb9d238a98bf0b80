//! `oscope doctor`: checks if this machine is fit for measuring, and which work a run would
//! disturb.

use crate::arguments::{Common, Doctor};
use crate::exit::Exit;
use crate::{limits, output, style};
use anyhow::{Context, Result, ensure};
use instrument::fitness::{Watch, clock, examine, harms};
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use report::{json, view};
use std::time::Duration;

/// Long enough to notice programs that wake up occasionally.
const WATCH: Duration = Duration::from_secs(2);

pub fn execute(arguments: &Doctor, common: &Common) -> Result<Exit> {
    let dir = &arguments.dir;
    let directory =
        dunce::canonicalize(dir).with_context(|| format!("cannot use {}", dir.display()))?;
    ensure!(directory.is_dir(), "{} is no directory", dir.display());
    let seconds = WATCH.as_secs();
    output::note(common, &format!("watching the machine for {seconds} s …"));
    let (machine, environment) = (Machine::read(), Environment::read());
    let watch = Watch {
        clock: Some(clock(&machine)),
        ..Watch::over(WATCH)
    };
    let storage = Storage::behind(&directory).ok();
    let supplies = limits::supplies(
        &directory,
        common,
        &machine,
        &environment,
        limits::busy(&watch),
    );
    let mut checks = harms(&supplies);
    checks.extend(examine(&machine, &environment, storage.as_ref(), &watch));
    style::show(common, || json::entries(&checks), || view::checks(&checks))?;
    Ok(Exit::Done)
}
