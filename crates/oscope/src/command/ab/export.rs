//! The results in the formats of hyperfine (version 1.20), for its scripts and for documents.

use super::launch::{input, output_files};
use super::programs::{Program, on_one_line};
use super::results::Compared;
use super::runs::{self, Run, Runs, Summary};
use crate::arguments::{Ab, Common, TimeUnit};
use crate::exit::{code_of, first_error};
use crate::target::{Replaces, Target, keep_apart};
use anyhow::Result;
use files::Watch;
use instrument::ab::Pair;
use platform::signal::Interrupt;
use report::document::{Piece, Table};
use report::markdown;
use report::show::ratio_with_range;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const NS_PER_S: f64 = 1e9;

/// Writes the results in a format.
type Format = fn(&[Program], &Compared) -> Result<Vec<u8>>;

/// The files that the command line names for results.
pub struct Exports(Vec<(Format, Target)>);

impl Exports {
    /// Checks that the files can be written, each apart from the others and from those of the programs.
    pub fn new(arguments: &Ab, common: &Common) -> Result<Self> {
        let results = &arguments.results;
        let named: [(Format, &Option<PathBuf>); 5] = [
            (json, &results.export_json),
            (csv, &results.export_csv),
            (|all, it| Ok(markdown(all, it)), &results.export_markdown),
            (|all, it| Ok(asciidoc(all, it)), &results.export_asciidoc),
            (|all, it| Ok(orgmode(all, it)), &results.export_orgmode),
        ];
        let named = named.map(|(format, path)| Some((format, path.as_deref()?)));
        let named = || named.into_iter().flatten();
        let of_programs = output_files(&arguments.programs).chain(input(&arguments.programs));
        let all: Vec<&Path> = of_programs.chain(named().map(|(_, path)| path)).collect();
        keep_apart(&all, common)?;
        let replaces = Replaces::with(results.force);
        let target = |(format, path)| Ok((format, Target::new(path, replaces, common)?));
        named().map(target).collect::<Result<_>>().map(Self)
    }

    /// True if one of them goes to standard output.
    pub fn are_shown(&self) -> bool {
        self.0.iter().any(|(_, target)| target.is_standard_output())
    }

    /// Writes each file, also if another cannot be written.
    pub fn write(
        &self,
        programs: &[Program],
        compared: &Compared,
        interrupt: Interrupt,
    ) -> Result<()> {
        let write = |(format, target): &(Format, Target)| {
            let contents = format(programs, compared)?;
            target.write(&contents, &Watch::stopped_by(interrupt.flag()))
        };
        first_error(self.0.iter().map(write).collect::<Vec<_>>())
    }
}

type Time = fn(&Summary) -> Option<f64>;

/// The times of a program, by their names.
const TIMES: [(&str, Time); 7] = [
    ("mean", |summary| summary.mean_ns),
    ("stddev", |summary| summary.stddev_ns),
    ("median", |summary| summary.median_ns),
    ("user", |summary| summary.user_ns),
    ("system", |summary| summary.system_ns),
    ("min", |summary| summary.min_ns),
    ("max", |summary| summary.max_ns),
];

/// Each of [`TIMES`] with its value in seconds.
fn seconds(summary: &Summary) -> impl Iterator<Item = (&'static str, Option<f64>)> {
    TIMES
        .iter()
        .map(|(name, time)| (*name, time(summary).map(|ns| ns / NS_PER_S)))
}

/// `--export-json`: times in seconds, one for each run.
fn json(programs: &[Program], compared: &Compared) -> Result<Vec<u8>> {
    let results = programs.iter().zip(&compared.summaries);
    let results = results.zip(&compared.runs);
    let results: Vec<Value> = results
        .map(|((program, summary), runs)| {
            let mut result = json!({ "command": command(program) });
            for (name, time) in seconds(summary) {
                result[name] = time.into();
            }
            result["times"] = column(runs, |run| (run.wall_ns as f64 / NS_PER_S).into());
            result["memory_usage_byte"] = column(runs, |run| run.peak_bytes.into());
            result["exit_codes"] = column(runs, |run| code_of(run.exit).into());
            if !program.parameters.is_empty() {
                let parameters = program.parameters.iter();
                let parameters: Map<String, Value> = parameters
                    .map(|(name, value)| (name.clone(), value.as_str().into()))
                    .collect();
                result["parameters"] = parameters.into();
            }
            result
        })
        .collect();
    let mut text = serde_json::to_vec_pretty(&json!({ "results": results }))?;
    text.push(b'\n');
    Ok(text)
}

/// One number of each run.
fn column(runs: &Runs, read: fn(&Run) -> Value) -> Value {
    runs.each.iter().map(read).collect()
}

/// The name of a program. One without a name is called as its command, of which all lines are kept.
fn command(program: &Program) -> &str {
    if on_one_line(&program.command) == program.name {
        &program.command
    } else {
        &program.name
    }
}

/// `--export-csv`: one line for each program, times in seconds.
fn csv(programs: &[Program], compared: &Compared) -> Result<Vec<u8>> {
    let mut table = ::csv::Writer::from_writer(Vec::new());
    let parameters = programs
        .first()
        .map_or(&[][..], |program| &program.parameters);
    let parameters = parameters
        .iter()
        .map(|(name, _)| format!("parameter_{name}"));
    let columns = std::iter::once("command").chain(TIMES.map(|(name, _)| name));
    table.write_record(columns.map(str::to_owned).chain(parameters))?;
    for (program, summary) in programs.iter().zip(&compared.summaries) {
        let times = seconds(summary)
            .map(|(_, time)| time.map_or_else(String::new, |time| time.to_string()));
        let values = program.parameters.iter().map(|(_, value)| value.clone());
        let row = std::iter::once(command(program).to_owned()).chain(times);
        table.write_record(row.chain(values))?;
    }
    Ok(table.into_inner()?)
}

/// `--export-markdown`: a table with the ratio of each program to the first.
fn markdown(programs: &[Program], compared: &Compared) -> Vec<u8> {
    type Row<'r> = (&'r Program, &'r Summary, Option<&'r Pair>);
    let pairs = &compared.outcome.pairs;
    let pair = |index: usize| pairs.iter().find(|pair| pair.rival == index);
    let rows = programs.iter().zip(&compared.summaries).enumerate();
    let rows: Vec<Row<'_>> = rows
        .map(|(index, (program, summary))| (program, summary, pair(index)))
        .collect();
    let time =
        |of: fn(&Summary) -> Option<f64>| move |row: &Row<'_>| runs::time(of(row.1), compared.unit);
    let ratio = |pair: &Pair| ratio_with_range(pair.ratio, pair.interval);
    let verdict = |pair: &Pair| format!("{:?}", pair.verdict).to_lowercase();
    let table = Table::of("The programs", &rows)
        .name("Command", |row| Piece::command(&row.0.name))
        .number("Median", time(|summary| summary.median_ns))
        .number("Mean", time(|summary| summary.mean_ns))
        .number("Min", time(|summary| summary.min_ns))
        .number("Max", time(|summary| summary.max_ns))
        .number("Time over the first", |row| row.2.map_or("1".into(), ratio))
        .words("Verdict", |row| row.2.map_or_else(String::new, verdict));
    markdown::table(&table.into()).into_bytes()
}

/// `--export-asciidoc`: the table of hyperfine.
fn asciidoc(programs: &[Program], compared: &Compared) -> Vec<u8> {
    let (unit, rows) = rows(programs, compared);
    let mut text = format!(
        "[cols=\"<,>,>,>,>\"]\n|===\n| Command | Mean [{unit}] | Min [{unit}] | Max [{unit}] | Relative\n"
    );
    for [name, cells @ ..] in rows {
        // Between plus signs, a backquote is a letter.
        let plus = if name.contains('`') { "+" } else { "" };
        let name = plus.to_owned() + &name.replace('|', "\\|") + plus;
        let _ = write!(text, "\n| `{name}`\n| {}\n", cells.join("\n| "));
    }
    (text + "|===\n").into_bytes()
}

/// `--export-orgmode`: the table of hyperfine.
fn orgmode(programs: &[Program], compared: &Compared) -> Vec<u8> {
    let (unit, rows) = rows(programs, compared);
    let mut text = format!(
        "| Command | Mean [{unit}] | Min [{unit}] | Max [{unit}] | Relative |\n|--+--+--+--+--|\n"
    );
    for [name, cells @ ..] in rows {
        let name = name.replace('|', "\\vert{}");
        let _ = writeln!(text, "| ={name}= | {} |", cells.join(" | "));
    }
    text.into_bytes()
}

/// The unit that was asked for or fits the first program, and for each program its name, mean with deviation, least and
/// largest time, and the mean over the least mean.
fn rows(programs: &[Program], compared: &Compared) -> (&'static str, Vec<[String; 5]>) {
    let summaries = &compared.summaries;
    let mut means = summaries.iter().filter_map(|summary| summary.mean_ns);
    let fitting = match means.clone().next() {
        Some(mean) if mean < NS_PER_S => TimeUnit::Millisecond,
        _ => TimeUnit::Second,
    };
    let (unit, ns) = compared.unit.unwrap_or(fitting).symbol_and_ns();
    let least = means.by_ref().reduce(f64::min);
    let time = |of: Option<f64>| of.map_or_else(String::new, |of| format!("{:.3}", of / ns));
    let row = |(program, summary): (&Program, &Summary)| {
        let spread = summary
            .stddev_ns
            .map(|spread| format!(" ± {}", time(Some(spread))));
        let relative = summary.mean_ns.zip(least).map(|(mean, least)| mean / least);
        [
            on_one_line(command(program)),
            time(summary.mean_ns) + &spread.unwrap_or_default(),
            time(summary.min_ns),
            time(summary.max_ns),
            relative.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        ]
    };
    (unit, programs.iter().zip(summaries).map(row).collect())
}
