//! The command line of `oscope reproduce`.

use super::Output;
use clap::{Args, ValueEnum};
use report::reproduce::{Choice, Report};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope reproduce
  oscope reproduce E Figure 26
  oscope reproduce D 'Table 1' --run
  oscope reproduce A --of latest --json
  oscope reproduce --all --output reports.html
  oscope reproduce --all --output reports.md
  oscope reproduce --list")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub struct Reproduce {
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

/// A report by its letter.
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
        let report = self.report.map(|letter| match letter {
            Letter::A => Report::A,
            Letter::B => Report::B,
            Letter::C => Report::C,
            Letter::D => Report::D,
            Letter::E => Report::E,
        });
        let place = (!self.figure.is_empty()).then(|| self.figure.join(" "));
        Choice { report, place }
    }
}
