//! The results of a comparison: the files that the command line names, and the report.

use super::document::{Circumstances, Document};
use super::launch::Launcher;
use super::programs::Program;
use super::runs::Runs;
use super::summary::Summary;
use super::{export, places, told};
use crate::arguments::{Ab, Common};
use crate::exit::first_error;
use crate::output;
use crate::target::{Target, keep_apart};
use anyhow::Result;
use files::Watch;
use instrument::ab::{Outcome, Rules};
use instrument::statistics::summary::median;
use platform::signal::Interrupt;
use std::path::{Path, PathBuf};

/// Runs of a program that does nothing, to learn what the start of a process costs.
const EMPTY_RUNS: usize = 10;

/// A comparison with at least one finished block, or one that the user stopped.
pub struct Compared {
    pub outcome: Outcome,
    pub runs: Vec<Runs>,
    pub summaries: Vec<Summary>,
    pub rules: Rules,
    pub seed: u64,
    /// Number of the run in the store.
    pub number: u64,
    /// The error that ended it, in words.
    pub failure: Option<String>,
}

/// The files that the command line names for results.
pub struct Exports {
    json: Option<Target>,
    csv: Option<Target>,
    markdown: Option<Target>,
}

impl Exports {
    /// Checks that the files can be written, each apart from the others and from those of the programs.
    pub fn new(arguments: &Ab, common: &Common) -> Result<Self> {
        let results = &arguments.results;
        let named = [
            &results.export_json,
            &results.export_csv,
            &results.export_markdown,
        ];
        let of_programs = [
            places::input(&arguments.programs),
            places::output_file(&arguments.programs),
        ];
        let exports = named.into_iter().flatten().map(PathBuf::as_path);
        let all: Vec<&Path> = of_programs.into_iter().flatten().chain(exports).collect();
        keep_apart(&all, common)?;
        let target = |path: &Option<_>| Target::if_named(path.as_ref(), results.force, common);
        Ok(Self {
            json: target(&results.export_json)?,
            csv: target(&results.export_csv)?,
            markdown: target(&results.export_markdown)?,
        })
    }

    /// True if one of them goes to standard output.
    pub fn are_shown(&self) -> bool {
        let all = [&self.json, &self.csv, &self.markdown];
        all.into_iter().flatten().any(Target::is_standard_output)
    }

    /// Writes each file, also if another cannot be written.
    pub fn write(
        &self,
        programs: &[Program],
        compared: &Compared,
        interrupt: Interrupt,
    ) -> Result<()> {
        let (summaries, runs) = (&compared.summaries, &compared.runs);
        let write = |target: &Option<Target>, contents: &dyn Fn() -> Result<Vec<u8>>| {
            let Some(target) = target else { return Ok(()) };
            target.write(&contents()?, &Watch::stopped_by(interrupt.flag()))
        };
        first_error([
            write(&self.json, &|| export::json(programs, summaries, runs)),
            write(&self.csv, &|| export::csv(programs, summaries)),
            write(&self.markdown, &|| {
                Ok(export::markdown(programs, summaries, &compared.outcome))
            }),
        ])
    }
}

/// Prints the report.
pub fn present(
    compared: &Compared,
    programs: &[Program],
    launcher: &Launcher,
    common: &Common,
) -> Result<()> {
    let Compared {
        outcome,
        summaries,
        rules,
        ..
    } = compared;
    let shell = launcher.shell.as_deref();
    let start_ns = if summaries.iter().any(told::is_short) {
        start_ns(launcher)
    } else {
        None
    };
    let mut remarks = told::remarks(programs, summaries, shell, start_ns);
    remarks.extend(told::missing(outcome, summaries, rules));
    if common.json {
        let around = Circumstances {
            run: compared.number,
            shell,
            seed: compared.seed,
            rules,
            failure: compared.failure.as_deref(),
            remarks: &remarks,
        };
        let document = Document::new(programs, summaries, outcome, &around);
        return output::show(&(serde_json::to_string_pretty(&document)? + "\n"));
    }
    let text = told::all(programs, summaries, outcome, rules.margin);
    let notes = remarks.iter().map(|note| format!("Note: {note}.\n"));
    output::show_painted(&(text + &notes.collect::<String>()))
}

/// Median time of a command that does nothing, in ns; `None` if there is none.
fn start_ns(launcher: &Launcher) -> Option<f64> {
    let runs = (0..EMPTY_RUNS).map(|_| launcher.start_ns());
    median(&runs.collect::<Option<Vec<_>>>()?)
}
