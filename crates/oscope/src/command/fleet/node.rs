//! The run of this node: measured, exported, and written to a file, with the experiments that it could not
//! measure, since its disk is full, for example.

use crate::arguments::fleet::Run as Arguments;
use crate::arguments::{Command, Common, Run};
use crate::output::harmless;
use crate::target::{Replaces, Target, make_directory};
use crate::{leftovers, sanitise, stored};
use anyhow::{Context, Result};
use files::Watch;
use instrument::quantity::counted;
use instrument::removal::REMOVAL;
use instrument::runner::{Ending, Observer};
use platform::scratch::Scratch;
use record::{ExperimentRecord, file};
use report::fleet::{self, HOST, Reading};
use std::collections::BTreeMap;
use std::env;
use std::path::Path;

/// Measures as `oscope run` does, with a separate store unless `--store` names one, and exports the run. `observer`
/// sees the events of the run.
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
    // A run that was cut off or has gaps is judged by what it has.
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
    pub gaps: Vec<Gap>,
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
    let run = sanitise::run(run)?;
    Ok(Saved {
        node: fleet::name(&run).unwrap_or_else(|| plain("")),
        gaps: gaps(run.measured()),
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

/// An experiment that a node could not measure, or not at all points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    experiment: String,
    reason: String,
}

/// The experiments that a node could not measure.
fn gaps<'r>(experiments: impl Iterator<Item = &'r ExperimentRecord>) -> Vec<Gap> {
    let gap = |record: &ExperimentRecord| {
        Some(Gap {
            experiment: record.definition.id.clone(),
            reason: record.skipped.clone().or_else(|| failure(record))?,
        })
    };
    experiments.filter_map(gap).collect()
}

/// The points that failed, with the reason of the first.
fn failure(record: &ExperimentRecord) -> Option<String> {
    let endings = record.points.iter().filter_map(|it| it.closing.as_ref());
    let reasons = endings.filter_map(|closing| match &closing.ending {
        Ending::Failed(reason) => Some(reason),
        _ => None,
    });
    let reasons: Vec<&String> = reasons.collect();
    let reason = reasons.first()?;
    let (failed, all) = (reasons.len(), record.points.len());
    let all = counted(all, "point");
    Some(format!("{failed} of {all} failed: {reason}"))
}

/// A sentence for each experiment that some of the nodes could not measure, with the reason of the first of
/// them. A gap of all nodes is no fault of a node.
pub fn sentences(nodes: &[(String, &[Gap])]) -> Vec<String> {
    let mut found: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (node, gaps) in nodes {
        for gap in *gaps {
            let of_experiment = found.entry(&gap.experiment).or_default();
            of_experiment.push((node, &gap.reason));
        }
    }
    let of_some = found.into_iter().filter(|(_, it)| it.len() < nodes.len());
    of_some
        .map(|(experiment, gaps)| {
            let (node, reason) = gaps[0];
            let more = match gaps.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{node}{more}: {experiment}: {reason}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Gap, gaps, plain, sentences};
    use instrument::definition::Definition;
    use instrument::point::Point;
    use instrument::runner::Ending;
    use record::{Closing, ExperimentRecord, PointRecord};

    #[test]
    fn a_host_cannot_lead_out_of_the_directory() {
        assert_eq!(plain("node1.cluster"), "node1.cluster");
        assert_eq!(plain(".."), "unnamed");
        assert!(!plain("../../etc/x").contains('/'));
    }

    fn record(skipped: Option<&str>, endings: &[Ending]) -> ExperimentRecord {
        let point = |ending: &Ending| PointRecord {
            point: Point::new(),
            batches: Vec::new(),
            closing: Some(Closing {
                ending: ending.clone(),
                warnings: Vec::new(),
            }),
        };
        ExperimentRecord {
            definition: Definition {
                id: "file.sync".into(),
                ..Definition::default()
            },
            skipped: skipped.map(Into::into),
            points: endings.iter().map(point).collect(),
        }
    }

    fn gap(reason: &str) -> Gap {
        Gap {
            experiment: "file.sync".into(),
            reason: reason.into(),
        }
    }

    #[test]
    fn a_skipped_experiment_and_failed_points_are_gaps() {
        assert_eq!(
            gaps([record(Some("no room"), &[])].iter()),
            [gap("no room")]
        );
        let some = [Ending::BudgetUsed, Ending::Failed("no room".into())];
        let expected = [gap("1 of 2 points failed: no room")];
        assert_eq!(gaps([record(None, &some)].iter()), expected);
        assert_eq!(gaps([record(None, &[Ending::TargetReached])].iter()), []);
    }

    #[test]
    fn a_gap_of_some_nodes_is_reported_and_one_of_all_is_not() {
        let full = [gap("it needs 32 MiB")];
        let found = |nodes: &[(&str, bool)]| {
            let nodes = nodes.iter().map(|(name, is_full)| {
                let gaps: &[Gap] = if *is_full { &full } else { &[] };
                ((*name).to_owned(), gaps)
            });
            sentences(&nodes.collect::<Vec<_>>())
        };
        assert_eq!(
            found(&[("a", false), ("b", true)]),
            ["b: file.sync: it needs 32 MiB"]
        );
        assert_eq!(
            found(&[("a", true), ("b", true), ("c", false)]),
            ["a and 1 more: file.sync: it needs 32 MiB"]
        );
        assert_eq!(found(&[("a", true), ("b", true)]), [""; 0]);
    }
}
