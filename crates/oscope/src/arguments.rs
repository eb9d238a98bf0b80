//! The command line: what can be said, before any of it is looked up in the world.

pub mod file;
pub mod transfer;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use instrument::plan::Profile;
use instrument::point::Level;
use instrument::quantity::{Bytes, Nanoseconds};
use std::num::NonZeroU8;
use std::path::PathBuf;

/// An instrument for operating systems: it measures what memory, files, processes and threads cost
/// on a machine, and says in words what the numbers mean.
///
/// Without a command, everything is measured in the quick profile.
#[derive(Debug, Parser)]
#[command(
    name = "oscope",
    version,
    after_help = "Exit codes:\n  0    done\n  1    something could not be measured or done\n  2    \
                  wrong use\n  3    a comparison found what `--fail-on` names\n  130  stopped by Ctrl-C (143: by SIGTERM, 129: by SIGHUP, 141: nobody read on)",
    after_long_help = EXIT_CODES
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: Common,
}

const EXIT_CODES: &str = "\
Examples:
  oscope                               measure everything, quickly
  oscope run memory                    measure one group
  oscope explain memory.bandwidth      what is measured, and how
  oscope show                          the newest run again
  oscope report --output page.html     the newest run as a page
  oscope compare 1,2,3 4,5,6           what differs between runs

Exit codes:
  0    done
  1    something could not be measured or done
  2    wrong use
  3    a comparison found what `--fail-on` names
  130  stopped by Ctrl-C (143: by SIGTERM, 129: by SIGHUP, 141: nobody read on)";

/// What every command understands.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// File that keeps the runs [default: oscope/oscope.db in your data directory]
    #[arg(long, global = true, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// Say nothing on standard error but errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Run),
    List(List),
    Explain(Explain),
    Show(Show),
    Claims(Claims),
    Advise(Advise),
    History(History),
    Report(Report),
    Plot(Plot),
    Export(Export),
    Import(Import),
    Compare(Compare),
    Doctor(Doctor),
    File(file::File),
    Cleanup(Cleanup),
    Send(transfer::Send),
    Receive(transfer::Receive),
    Completions(Completions),
    Man(Man),
    #[command(hide = true)]
    Worker(Worker),
}

impl Command {
    /// What is done where no command is named: `oscope run`, its defaults told by the command line
    /// alone.
    pub fn usual() -> Self {
        let usual = Arguments::parse_from(["oscope", "run"]);
        usual.command.expect("a command was named")
    }
}

/// Measure, then print a summary with findings and write a page
///
/// Everything measured is kept: each sample is in the store before the next is taken, so that a run
/// that is stopped or killed loses nothing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope run
  oscope run memory file.block_size
  oscope run --profile standard --dir /mnt/data --tag disk=nvme0
  oscope run file.remote --remote /mnt/nfs
  oscope run transfer --to backup:5735 --token-file ~/.oscope-token
  oscope run process --budget 30s --json
  oscope run memory --compare-with before-upgrade --sessions 3")]
pub struct Run {
    /// Experiments or groups, as in `memory` or `file.block_size` [default: all]
    #[arg(value_name = "WHAT")]
    pub what: Vec<String>,
    /// How long and how precise
    #[arg(long, value_enum, default_value_t)]
    pub profile: ProfileName,
    /// Directory for scratch files; what it lies on is what file experiments measure
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// A second directory for scratch files, on a remote mount (NFS, SMB, sshfs): measured against
    /// DIR by `file.remote`, which is left out without it
    #[arg(long, value_name = "DIR")]
    pub remote: Option<PathBuf>,
    /// Send the files of `transfer.file` to another machine, where `oscope receive --measure` listens
    #[arg(long, value_name = "HOST:PORT")]
    pub to: Option<String>,
    /// File with the token that the receiver knows too
    #[arg(long, value_name = "FILE", requires = "to")]
    pub token_file: Option<PathBuf>,
    /// Allow a temporary swap file in DIR, as root, to measure what swap costs
    #[arg(long)]
    pub allow_swap_file: bool,
    /// A name by which the run can be asked for later
    #[arg(long)]
    pub name: Option<String>,
    /// Something to remember of the run; may be given several times
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = parse_tag)]
    pub tags: Vec<(String, String)>,
    /// Decides the order in which points are visited [default: drawn]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Time for the whole run, as in `30s` or `5min` [default: by the profile]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Nanoseconds>,
    /// Measure so many times, each a run of its own: sessions of one side of a comparison
    #[arg(long, value_name = "COUNT")]
    pub sessions: Option<NonZeroU8>,
    /// Compare with this run, or runs joined by commas, when all is measured; three sessions are
    /// run unless `--sessions` says otherwise
    #[arg(long, value_name = "RUNS")]
    pub compare_with: Option<String>,
    /// File for the page [default: a file beside the store]
    #[arg(long, value_name = "FILE", conflicts_with = "no_page")]
    pub page: Option<PathBuf>,
    /// Write no page
    #[arg(long)]
    pub no_page: bool,
    /// Let every loop do so many per cent more iterations than it counts
    #[cfg(feature = "extra-work")]
    #[arg(long, value_name = "PERCENT", default_value = "0")]
    pub extra_work: u64,
}

impl Run {
    /// How many sessions are measured: enough for a comparison, if one is asked for.
    pub fn session_count(&self) -> u8 {
        const FOR_A_COMPARISON: u8 = 3;
        let usual = match self.compare_with {
            Some(_) => FOR_A_COMPARISON,
            None => 1,
        };
        self.sessions.map_or(usual, NonZeroU8::get)
    }
}

/// Takes one batch of samples for the program that started it
#[derive(Args, Debug)]
pub struct Worker {
    /// Iterations that every loop does beyond those that it counts, in per cent
    #[cfg(feature = "extra-work")]
    #[arg(long, default_value = "0")]
    pub extra_work: u64,
}

/// A profile by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// ±5 %, about five minutes for everything
    #[default]
    Quick,
    /// ±2 %, most of an hour for everything
    Standard,
    /// ±1 %, as long as it takes
    Thorough,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Quick => Self::Quick,
            ProfileName::Standard => Self::Standard,
            ProfileName::Thorough => Self::Thorough,
        }
    }
}

/// List what can be measured
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  oscope list\n  oscope list --references")]
pub struct List {
    /// List the numbers of published reports instead, with which runs can be compared
    #[arg(long)]
    pub references: bool,
}

/// Say what an experiment asks, how it measures and where it comes from
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope explain file.block_size")]
pub struct Explain {
    /// Experiments or groups
    #[arg(value_name = "WHAT", required = true)]
    pub what: Vec<String>,
}

/// Show a stored run again: the summary, or experiments in full detail
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope show
  oscope show 3 memory
  oscope show before-upgrade process.calls --json")]
pub struct Show {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Experiments or groups, in full detail
    #[arg(value_name = "WHAT")]
    pub what: Vec<String>,
}

/// Judge what reports and common belief say of systems by what a run measured here
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope claims
  oscope claims before-upgrade --json")]
pub struct Claims {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
}

/// Tell the settings that programs should use here: block sizes, pieces for loops, threads, pages, ways to read
///
/// Programs load what `--save` keeps when they start, with the library `oscope-advice` or as the JSON
/// file that it is.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope advise
  oscope advise --save
  oscope advise --header c > tuning.h
  env $(oscope advise --env) ./program")]
pub struct Advise {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Print a header for this language
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with_all = ["env", "save"])]
    pub header: Option<HeaderLanguage>,
    /// Print variables for a shell
    #[arg(long, conflicts_with = "save")]
    pub env: bool,
    /// Keep it where programs look for it: oscope/advice.json in your data directory
    #[arg(long)]
    pub save: bool,
}

/// A language that settings are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HeaderLanguage {
    /// C and C++
    C,
}

/// List the stored runs, or show a metric over them and where its level changed
///
/// Runs of one machine are taken: that of the newest run that has the metric, unless another is
/// named.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope history
  oscope history process.calls
  oscope history process.calls.rate --at call=getpid
  oscope history memory.bandwidth.read --at block_size=1MiB --last 200 --json")]
pub struct History {
    /// An experiment, or one of its metrics, as in `process.calls.rate`
    #[arg(value_name = "METRIC")]
    pub metric: Option<String>,
    /// Only points with this level; may be given several times
    #[arg(long, value_name = "AXIS=LEVEL", value_parser = parse_level, requires = "metric")]
    pub at: Vec<(String, Level)>,
    /// The machine, by the beginning of its fingerprint
    #[arg(long, value_name = "FINGERPRINT", requires = "metric")]
    pub machine: Option<String>,
    /// So many of the newest runs
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "1000",
        requires = "metric"
    )]
    pub last: usize,
}

/// Write the page of a stored run: one HTML file that needs no network
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope report latest --output page.html")]
pub struct Report {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    #[command(flatten)]
    pub output: Output,
}

/// Write one chart of a stored run as an SVG file, or as a PNG file by an oscope that was built with the
/// feature `png`
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope plot memory.bandwidth.read --output bandwidth.svg
  oscope plot process.calls.latency --run 3 --output latency.svg")]
pub struct Plot {
    /// An experiment, or one of its charts, as in `process.calls.latency`
    #[arg(value_name = "WHAT")]
    pub what: String,
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(long, value_name = "RUN", default_value = "latest")]
    pub run: String,
    #[command(flatten)]
    pub output: Output,
}

/// Write a run into one portable file
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope export latest --output here.oscope.json
  oscope export 3 --format csv --output samples.csv
  oscope export 3 --format parquet --output samples.parquet")]
pub struct Export {
    /// A run: `latest`, its number, its name or the beginning of its id
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    pub format: ExportFormat,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// The whole run, which can be imported again
    #[default]
    Json,
    /// A row for each sample
    Csv,
    /// A row for each sample in typed columns, by an oscope that was built with the feature `parquet`
    Parquet,
    /// Findings and tables
    Markdown,
    /// Estimates as text for the textfile collector of Prometheus
    Openmetrics,
    /// What is timed as Google Benchmark writes it, each process a repetition
    GoogleBenchmark,
}

/// Tell what is faster, slower or the same on other runs than on the first
///
/// Each side is a run, several runs joined by commas (the sessions of one side), an exported file,
/// or `reference:NAME`, the numbers of a published report. Three sessions a side make a sound
/// comparison; with one on each side ratios are shown, and nothing is called faster or slower.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope compare 4 7
  oscope compare 1,2,3 4,5,6 --fail-on slower
  oscope compare before.oscope.json latest --markdown
  oscope compare 1,2,3 4,5,6 --only memory --all --page comparison.html
  oscope compare reference:pentium4-2003-linux latest

Exit code 3: what --fail-on names was found")]
pub struct Compare {
    /// The side that the others are held against
    #[arg(value_name = "A")]
    pub first: String,
    /// The sides that are judged
    #[arg(value_name = "B", required = true)]
    pub others: Vec<String>,
    /// Only these experiments or groups
    #[arg(long, value_name = "WHAT")]
    pub only: Vec<String>,
    /// Show every value, curve beside curve, and not only the largest differences
    #[arg(long)]
    pub all: bool,
    /// Differences up to this do not count
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = parse_percent)]
    pub margin: f64,
    /// Sessions of an unchanged machine, joined by commas: what they differ by does not count either
    #[arg(long, value_name = "RUNS")]
    pub baseline: Option<String>,
    /// Print Markdown, as for a pull request
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Write the comparison as a page as well
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// End with exit code 3 if any value has this verdict
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
}

/// What makes `oscope compare` fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Something is slower
    Slower,
    /// Something is slower or faster
    Different,
}

/// Where a file is written.
#[derive(Args, Debug)]
pub struct Output {
    /// File to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,
}

/// Take exported runs into the store
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope import theirs.oscope.json")]
pub struct Import {
    /// Exported files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// Tell whether this machine is fit to be measured, what disturbs, and how to quiet it
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope doctor --dir /mnt/data")]
pub struct Doctor {
    /// Directory for scratch files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

/// Undo what killed runs left behind: scratch files, control groups, swap
///
/// The directories of the runs that never ended are looked through, those that they had on other
/// machines (`oscope run --remote`), and DIR. Every `oscope run` does the same before it measures.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope cleanup --dir /mnt/data")]
pub struct Cleanup {
    /// Directory for scratch files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

/// Print the completions of a shell
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  oscope completions bash > ~/.local/share/bash-completion/completions/oscope"
)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Print the manual page, or write all of them into a directory
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  oscope man | man -l -\n  oscope man --dir ~/.local/share/man/man1"
)]
pub struct Man {
    /// Directory for the manual pages of oscope and of each of its commands
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

fn parse_tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a tag is KEY=VALUE, as in disk=nvme0".into()),
    }
}

fn parse_level(text: &str) -> Result<(String, Level), String> {
    let (axis, level) = text
        .split_once('=')
        .ok_or("a level is AXIS=LEVEL, as in block_size=4KiB")?;
    let number = level.parse().ok();
    let bytes = || level.parse::<Bytes>().ok().map(|bytes| bytes.0);
    let level = match number.or_else(bytes) {
        Some(number) => Level::Number(number),
        None => Level::Choice(level.to_owned()),
    };
    Ok((axis.to_owned(), level))
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a margin is a number of per cent, as in `2` or `0.5`".into()),
    }
}

fn parse_budget(text: &str) -> Result<Nanoseconds, String> {
    let budget: Nanoseconds = text.parse().map_err(|error| format!("{error}"))?;
    if budget.0 < 1e9 {
        return Err("nothing can be told in less than 1 s".into());
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::{Arguments, parse_budget, parse_level, parse_percent, parse_tag};
    use clap::{CommandFactory, Parser};
    use instrument::point::Level;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// The command lines in the help of `command` and of those below it.
    fn examples(command: &clap::Command, found: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string);
        let lines: Vec<String> = help
            .iter()
            .flat_map(|help| help.lines())
            .filter_map(|line| Some(line.trim().split_at(line.trim().find("oscope ")?).1.into()))
            .collect();
        let is_leaf = !command.has_subcommands();
        assert!(!is_leaf || !lines.is_empty(), "{command} has no example");
        found.extend(lines);
        let below = command.get_subcommands().filter(|it| !it.is_hide_set());
        below.for_each(|command| examples(command, found));
    }

    #[test]
    fn every_command_has_examples_and_they_are_understood() {
        let mut found = Vec::new();
        examples(&Arguments::command(), &mut found);
        for example in found {
            // What follows is the shell's, or an explanation.
            let ends = [" | ", " > ", "  ", ")"].map(|end| example.find(end));
            let end = ends.into_iter().flatten().min().unwrap_or(example.len());
            let words = example[..end].split_whitespace();
            if let Err(error) = Arguments::try_parse_from(words) {
                panic!("{example}: {error}");
            }
        }
    }

    #[test]
    fn tags_and_budgets_are_checked() {
        assert_eq!(parse_tag("a=b=c"), Ok(("a".into(), "b=c".into())));
        assert!(parse_tag("=b").is_err());
        assert!(parse_tag("a").is_err());
        let level = |text: &str| parse_level(text).map(|(_, level)| level);
        assert_eq!(level("block_size=4KiB"), Ok(Level::Number(4096)));
        assert_eq!(level("call=getpid"), Ok(Level::Choice("getpid".into())));
        assert!(level("getpid").is_err());
        assert_eq!(parse_percent("5%"), Ok(0.05));
        assert!(parse_percent("-1").is_err() && parse_percent("much").is_err());
        assert!(parse_budget("30s").is_ok());
        assert!(parse_budget("30").is_err());
        assert!(parse_budget("1ms").is_err());
    }
}
