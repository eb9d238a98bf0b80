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
use std::fs;
use std::time::Duration;

/// Long enough to notice programs that wake up occasionally.
const WATCH: Duration = Duration::from_secs(2);

pub fn execute(arguments: &Doctor, common: &Common) -> Result<Exit> {
    let dir = &arguments.dir;
    let directory =
        dunce::canonicalize(dir).with_context(|| format!("cannot use {}", dir.display()))?;
    let found =
        fs::metadata(&directory).with_context(|| format!("cannot use {}", dir.display()))?;
    ensure!(found.is_dir(), "{} is no directory", dir.display());
    if !common.quiet {
        output::say(&format!("watching the machine for {} s …", WATCH.as_secs()));
    }
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
