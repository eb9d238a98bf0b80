//! The command lines of commands on stored runs: output formats and files.

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use instrument::point::Level;
use instrument::quantity::Bytes;
use report::reproduce::{Choice, Report};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope show
  oscope show --all
  oscope show memory
  oscope show 3 memory
  oscope show process.calls --cycles
  oscope show before-upgrade process.calls --json")]
pub struct Show {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file; an
    /// experiment or a group here means the newest run that has it
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Experiments or groups, in full detail
    #[arg(value_name = "WHAT")]
    pub what: Vec<String>,
    /// Every finding, table and chart, however long
    #[arg(long, conflicts_with = "what")]
    pub all: bool,
    /// Costs of the core in clock cycles as well, which do not depend on the clock
    /// rate; in full detail
    #[arg(long, conflicts_with = "all")]
    pub cycles: bool,
    #[command(flatten)]
    pub sharing: Sharing,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope claims
  oscope claims --all
  oscope claims before-upgrade --json")]
pub struct Claims {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Judge by all runs of this machine together, of each point the newest
    #[arg(long, conflicts_with = "run")]
    pub all: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope advise
  oscope advise --save
  oscope advise --try write_block_size
  sudo oscope advise --try transparent_huge_pages")]
pub struct Advise {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Store it where programs look for it: oscope/advice.json in your data directory
    #[arg(long)]
    pub save: bool,
    /// Measure the effect of a setting here: one that `oscope advise` names, or a kernel setting
    /// (`transparent_huge_pages`, `read_ahead`, `scheduler`), as root; it is restored at the end
    #[arg(long = "try", value_name = "SETTING", conflicts_with = "save")]
    pub attempt: Option<String>,
    /// Directory for the scratch files of `--try`
    #[arg(long, value_name = "DIR", default_value = ".", requires = "attempt")]
    pub dir: PathBuf,
    /// Time limit of `--try`
    #[arg(long, value_name = "TIME", requires = "attempt")]
    pub budget: Option<String>,
}

// A stored run, and the file that shows it.
#[derive(Args, Debug)]
pub struct Written {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    #[command(flatten)]
    pub sharing: Sharing,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope plot memory.bandwidth.read --output bandwidth.svg
  oscope plot process.calls.latency --run 3 --output latency.svg")]
pub struct Plot {
    /// An experiment, or one of its charts, such as `process.calls.latency`
    #[arg(value_name = "WHAT")]
    pub what: String,
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(long, value_name = "RUN", default_value = "latest")]
    pub run: String,
    #[command(flatten)]
    pub sharing: Sharing,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope export latest --output here.oscope.json
  oscope export latest --redact --output to-show.oscope.json
  oscope export 3 --format csv --output samples.csv
  oscope export 3 --format parquet --output samples.parquet")]
pub struct Export {
    /// A run: `latest`, its number, its name or the beginning of its id
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Format of the file
    #[arg(long, value_enum, default_value_t)]
    pub format: ExportFormat,
    #[command(flatten)]
    pub sharing: Sharing,
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
    /// A row for each sample in typed columns, if built with the feature `parquet`
    Parquet,
    /// Findings and tables
    Markdown,
    /// Estimates as text for the textfile collector of Prometheus
    Openmetrics,
    /// Times in the format of Google Benchmark, each process as a repetition
    GoogleBenchmark,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope import theirs.oscope.json")]
pub struct Import {
    /// Exported files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope verify
  oscope verify 3
  oscope verify theirs.oscope.json --json

Exit code 1: damage was found")]
pub struct Verify {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file [default:
    /// all runs of the store]
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope delete 3
  oscope delete 3 4 --force")]
pub struct Delete {
    /// A run: `latest`, its number, its name or the beginning of its id
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Remove the runs instead of listing them
    #[arg(long)]
    pub force: bool,
}

// The audience of the output.
#[derive(Args, Clone, Copy, Debug)]
pub struct Sharing {
    /// Replace all that identifies the machine or its users by marks: hosts, users, paths,
    /// addresses, serial numbers, names, tags, unknown words
    #[arg(long)]
    pub redact: bool,
}

// The output file.
#[derive(Args, Debug)]
pub struct Output {
    /// File to write; `-` is standard output [default: standard output, unless it is a terminal]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

impl Output {
    /// The file to write; `-` is standard output.
    pub fn path(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new("-"))
    }
}

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
    /// The side to compare with
    #[arg(value_name = "A")]
    pub first: String,
    /// The sides to judge
    #[arg(value_name = "B", required = true)]
    pub others: Vec<String>,
    /// Only these experiments or groups
    #[arg(long, value_name = "WHAT")]
    pub only: Vec<String>,
    /// Show every value, curve next to curve, and not only the largest differences
    #[arg(long)]
    pub all: bool,
    /// Ignore differences up to this
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = parse_percent)]
    pub margin: f64,
    /// Sessions of an unchanged machine, separated by commas: differences as large as theirs are
    /// ignored, too
    #[arg(long, value_name = "RUNS")]
    pub baseline: Option<String>,
    /// Print Markdown, for example for a pull request
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Also write the comparison as a page
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Overwrite an existing file that `--page` names
    #[arg(long, requires = "page")]
    pub force: bool,
    /// End with exit code 3 if any value has this verdict
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
}

/// The verdicts that make `oscope compare` fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Something is slower
    Slower,
    /// Something is slower or faster
    Different,
}

pub(super) fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a margin is a number of per cent, as in `2` or `0.5`".into()),
    }
}

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("what").args(["metric", "changes"])))]
#[command(after_help = "\
Examples:
  oscope history
  oscope history --changes
  oscope history --changes --last 30 --json
  oscope history process.calls
  oscope history process.calls.rate --at call=getpid
  oscope history memory.bandwidth.read --at block_size=1MiB --last 200 --json")]
pub struct History {
    /// An experiment, or one of its metrics, such as `process.calls.rate`
    #[arg(value_name = "METRIC")]
    pub metric: Option<String>,
    /// Look for changes in all metrics at once
    #[arg(long)]
    pub changes: bool,
    /// Only points with this level; can be repeated
    #[arg(long, value_name = "AXIS=LEVEL", value_parser = parse_level, requires = "metric")]
    pub at: Vec<(String, Level)>,
    /// The machine, by the beginning of its fingerprint
    #[arg(long, value_name = "FINGERPRINT", requires = "what")]
    pub machine: Option<String>,
    /// Number of runs to use, from the newest [default: 1000 for a metric, 100 for `--changes`]
    #[arg(long, value_name = "COUNT", requires = "what")]
    pub last: Option<usize>,
}

/// An axis and a [`level`] on the command line.
pub fn parse_level(text: &str) -> Result<(String, Level), String> {
    let (axis, text) = text
        .split_once('=')
        .ok_or("a level is AXIS=LEVEL, as in block_size=4KiB")?;
    Ok((axis.to_owned(), level(text)))
}

/// A level on the command line: a number, a size, a time (in µs, as the axes have it) or a name.
pub fn level(text: &str) -> Level {
    let number = text.parse().ok();
    let bytes = || text.parse::<Bytes>().ok().map(|bytes| bytes.0);
    match number.or_else(bytes).or_else(|| microseconds(text)) {
        Some(number) => Level::Number(number),
        None => Level::Choice(text.to_owned()),
    }
}

/// A time like `16ms`, in µs.
fn microseconds(text: &str) -> Option<u64> {
    let units = [("ms", 1000), ("us", 1), ("µs", 1), ("s", 1_000_000)];
    units.into_iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(factor)
    })
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope reproduce
  oscope reproduce E Figure 26
  oscope reproduce D 'Table 1' --run
  oscope reproduce A --of latest --json
  oscope reproduce --all --output reports.html
  oscope reproduce --all --output reports.md
  oscope reproduce --list
  oscope reproduce program A run big.iso -r 524288 10000")]
#[command(args_conflicts_with_subcommands = true)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub struct Reproduce {
    #[command(subcommand)]
    pub program: Option<Programs>,
    /// A report by its letter [default: all five]
    #[arg(value_name = "REPORT", value_enum, ignore_case = true)]
    pub report: Option<Letter>,
    /// A place in it: the report's own section, table or figure, such as `Figure 26` or `5`
    #[arg(value_name = "FIGURE")]
    pub figure: Vec<String>,
    /// All five reports, the default
    #[arg(long, conflicts_with_all = ["report", "figure"])]
    pub all: bool,
    /// List the places and how many figures each has, without judging
    #[arg(long, conflicts_with_all = ["of", "run", "markdown", "json"])]
    pub list: bool,
    /// Judge this run instead: `latest`, its number, its name, the beginning of its id, or an
    /// exported file; can be repeated, the first one takes precedence
    #[arg(long, value_name = "RUN", conflicts_with = "run")]
    pub of: Vec<String>,
    /// First measure what is missing; what a quick run leaves out, in the standard profile
    #[arg(long)]
    pub run: bool,
    /// Directory for the scratch files of `--run`
    #[arg(long, value_name = "DIR", default_value = ".", requires = "run")]
    pub dir: PathBuf,
    /// Allow `--run` a temporary swap file in DIR, as root, to measure what swap costs
    #[arg(long, requires = "run")]
    pub allow_swap_file: bool,
    /// A second directory for `--run`, on a remote mount (NFS, SMB, sshfs)
    #[arg(long, value_name = "DIR", requires = "run")]
    pub remote: Option<PathBuf>,
    /// Print Markdown instead of tables
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Subcommand)]
pub enum Programs {
    /// Do what a program of a report does, with its authors' arguments, and print what it printed
    ///
    /// Nothing of the reports is executed: a command of oscope does the work, and is printed first.
    Program(AuthorProgram),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope reproduce program A run big.iso -r 524288 10000
  oscope reproduce program A run new -w 4096 20
  oscope reproduce program B fast big.iso
  oscope reproduce program D lock-vs-spinlock 30")]
pub struct AuthorProgram {
    /// The report's letter
    #[arg(value_name = "REPORT", value_enum, ignore_case = true)]
    pub report: Letter,
    /// The program and its arguments
    #[arg(
        value_name = "CALL",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub call: Vec<OsString>,
    /// Overwrite an existing file; the option goes before REPORT
    #[arg(long, visible_alias = "overwrite")]
    pub force: bool,
}

/// A report by its letter, in the order of [`Report::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Letter {
    /// Reading and writing files, on macOS
    A,
    /// The same task on Linux
    B,
    /// Files between two programs
    C,
    /// User-level threads
    D,
    /// Linux against Windows
    E,
}

impl Reproduce {
    /// The figures to judge.
    pub fn choice(&self) -> Choice {
        let report = self.report.map(|letter| Report::ALL[letter as usize]);
        let place = (!self.figure.is_empty()).then(|| self.figure.join(" "));
        Choice { report, place }
    }
}
