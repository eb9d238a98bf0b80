//! The command lines of commands on stored runs: output formats and files.

use clap::{Args, ValueEnum};
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
    /// Costs of the core in clock cycles as well, which no change of the clock moves; in full detail
    #[arg(long, conflicts_with = "all")]
    pub cycles: bool,
    #[command(flatten)]
    pub sharing: Sharing,
}

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

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope advise
  oscope advise --save
  oscope advise --try write_block_size
  sudo oscope advise --try transparent_huge_pages
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
    /// Store it where programs look for it: oscope/advice.json in your data directory
    #[arg(long)]
    pub save: bool,
    /// Measure the effect of a setting here: one that `oscope advise` names, or a kernel setting
    /// (`transparent_huge_pages`, `read_ahead`, `scheduler`), as root; it is restored at the end
    #[arg(long = "try", value_name = "SETTING", conflicts_with_all = ["header", "env", "save"])]
    pub attempt: Option<String>,
    /// Directory for the scratch files of `--try`
    #[arg(long, value_name = "DIR", default_value = ".", requires = "attempt")]
    pub dir: PathBuf,
    /// Time limit of `--try`
    #[arg(long, value_name = "TIME", requires = "attempt")]
    pub budget: Option<String>,
}

/// Languages for settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HeaderLanguage {
    /// C and C++
    C,
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
  oscope report latest --output page.html
  oscope report latest --redact --output to-show.html")]
pub struct Report {
    #[command(flatten)]
    pub written: Written,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope card --output card.svg
  oscope card latest --redact --output to-show.svg")]
pub struct Card {
    #[command(flatten)]
    pub written: Written,
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
    /// File to write; `-` is standard output [default: standard output, if it is no terminal]
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
