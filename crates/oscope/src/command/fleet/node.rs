//! The run of this node: measured, exported, and written to a file.

use super::lack::{self, Lack};
use crate::arguments::fleet::Run as Arguments;
use crate::arguments::{Command, Common, Run};
use crate::output::harmless;
use crate::target::{Replaces, Target, make_directory};
use crate::{leftovers, legible, stored};
use anyhow::{Context, Result};
use files::Watch;
use instrument::removal::REMOVAL;
use instrument::runner::Observer;
use platform::scratch::Scratch;
use record::file;
use report::fleet::{self, HOST, Reading};
use std::env;
use std::path::Path;

/// Measures as `oscope run` does, with a store of its own unless `--store` names one, and exports the run. The
/// run tells its events to `observer`.
pub fn measure(run: &Run, common: &Common, observer: &mut dyn Observer) -> Result<String> {
    let mut common = common.clone();
    let mut own = None;
    if common.store.is_none() {
        // The default store may be in a home directory that all nodes share.
        let place = env::temp_dir();
        leftovers::clear(None, &place)?;
        let scratch = Scratch::create(&place, &REMOVAL)?;
        common.store = Some(scratch.file("oscope.db"));
        own = Some(scratch);
    }
    // A run that was cut off or lacks something is judged by what it has.
    crate::command::run::measure_only(run, &common, &mut [observer])?;
    let mut exported = Vec::new();
    stored::export(&common, "latest", &mut exported)?;
    drop(own);
    String::from_utf8(exported).context("an export that is no text")
}

/// The same as the command line of `oscope run` with the experiments `what`.
pub fn run(arguments: &Arguments, what: &[String], tags: Vec<(String, String)>) -> Run {
    let Command::Run(usual) = Command::usual() else {
        unreachable!("the usual command is `oscope run`");
    };
    Run {
        what: what.to_vec(),
        at: arguments.at.clone(),
        profile: arguments.profile,
        budget: Some(arguments.budget),
        seed: arguments.seed,
        dir: arguments.dir.clone(),
        tags,
        no_page: true,
        ..*usual
    }
}

/// A run that is in a file.
pub struct Saved {
    /// The name of its node.
    pub node: String,
    pub reading: Reading,
    /// The experiments that it could not measure.
    pub lacks: Vec<Lack>,
}

/// Writes an exported run to `directory`, in the folder of its host, unless it is there already.
pub fn save(exported: &str, directory: &Path, common: &Common) -> Result<Saved> {
    let run = file::parse(exported.as_bytes()).context("the run of a node cannot be read")?;
    let host = run.header.tags.get(HOST).map_or("", String::as_str);
    let folder = directory.join(plain(host));
    make_directory(&folder)?;
    let path = folder.join(format!("{}.oscope.json", plain(&run.header.id)));
    if !path.exists() {
        let target = Target::new(&path, Replaces::Nothing, common)?;
        target.write(exported.as_bytes(), &Watch::default())?;
    }
    let run = legible::run(run)?;
    Ok(Saved {
        node: fleet::name(&run).unwrap_or_else(|| plain("")),
        lacks: lack::of(&run.experiments),
        reading: Reading::of(run),
    })
}

/// A name that is one part of a path.
fn plain(name: &str) -> String {
    let name = harmless(name).replace(['/', '\\', '\n'], "\u{fffd}");
    match name.as_str() {
        "" | "." | ".." => "unnamed".into(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_host_cannot_lead_out_of_the_directory() {
        assert_eq!(plain("node1.cluster"), "node1.cluster");
        assert_eq!(plain(".."), "unnamed");
        assert!(!plain("../../etc/x").contains('/'));
    }
}
