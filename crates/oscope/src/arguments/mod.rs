//! The command line, parsed without access to files or the store.

pub mod ab;
mod compare;
pub mod file;
pub mod fleet;
mod history;
pub mod lab;
mod method;
mod reproduce;
mod run;
mod stored;
pub mod transfer;
mod vary;

use clap::{Args, ColorChoice, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

pub use ab::Ab;
pub use compare::{Compare, FailOn};
pub use history::History;
pub use reproduce::Reproduce;
pub use run::{Run, Worker};
pub use stored::{
    Advise, Card, Claims, Delete, Export, ExportFormat, HeaderLanguage, Import, Output, Plot,
    Report, Sharing, Show, Verify,
};
pub use vary::{Varied, Vary};

/// An instrument for operating systems: it measures what memory, files, processes and threads cost
/// on a machine, and says in words what the numbers mean.
///
/// Without a command, everything is measured in the quick profile.
#[derive(Debug, Parser)]
#[command(
    name = "oscope",
    version,
    after_help = EXIT_CODES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}")
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "\
Examples:
  oscope                               measure everything, quickly
  oscope run memory                    measure one group
  oscope explain memory.bandwidth      what is measured, and how
  oscope show                          the newest run again
  oscope report --output page.html     the newest run as a page
  oscope compare 1,2,3 4,5,6           what differs between runs
  oscope fleet judge runs/             the odd node of many";

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    something could not be measured or done
  2    wrong use
  3    a comparison found what `--fail-on` names, or a node is slower than its fleet
  130  stopped by Ctrl-C (143: by SIGTERM, 129: by SIGHUP, 141: its output had no reader)";

/// The options of every command.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// File in which runs are stored [default: oscope/oscope.db in your data directory]
    #[arg(long, global = true, value_name = "PATH")]
    pub store: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but errors on standard error
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Use colours; `auto` uses them on a terminal, unless `NO_COLOR` is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true
    )]
    pub color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Box<Run>),
    List(List),
    Explain(Explain),
    Show(Show),
    Claims(Claims),
    Reproduce(Reproduce),
    Lab(lab::Lab),
    Advise(Advise),
    History(History),
    Report(Report),
    Card(Card),
    Plot(Plot),
    Export(Export),
    Import(Import),
    Verify(Verify),
    Delete(Delete),
    Compare(Compare),
    Fleet(fleet::Fleet),
    Ab(Box<Ab>),
    Doctor(Doctor),
    File(file::File),
    Cleanup(Cleanup),
    Send(transfer::Send),
    Receive(transfer::Receive),
    Token(transfer::Token),
    Completions(Completions),
    Man(Man),
}

impl Command {
    /// The default command: `oscope run`, with the defaults that the command line defines.
    pub fn usual() -> Self {
        let usual = Arguments::parse_from(["oscope", "run"]);
        usual.command.expect("a command was named")
    }
}

/// List what can be measured
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  oscope list\n  oscope list --references")]
pub struct List {
    /// List the references instead: numbers of published reports to compare runs with
    #[arg(long)]
    pub references: bool,
}

/// Explain an experiment: its question, its method and its source
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope explain file.block_size")]
pub struct Explain {
    /// Experiments or groups
    #[arg(value_name = "WHAT", required = true)]
    pub what: Vec<String>,
}

/// Check whether this machine is fit to be measured, what disturbs it, and how to quiet it
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope doctor --dir /mnt/data")]
pub struct Doctor {
    /// Directory for scratch files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

/// Undo what killed runs left behind: scratch files, control groups, swap
///
/// Searches DIR, the directories of all runs that never ended, and those that they had on other
/// machines (`oscope run --remote`). Every `oscope run` does the same before it measures.
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

/// Print the manual page, or write all manual pages to a directory
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  oscope man | man -l -\n  oscope man --dir ~/.local/share/man/man1"
)]
pub struct Man {
    /// Directory for the manual pages of oscope and of each of its commands
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Overwrite existing manual pages
    #[arg(long, requires = "dir")]
    pub force: bool,
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// Collects the example command lines from the help of `command` and its subcommands.
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
            // The rest of the line belongs to the shell, or is an explanation.
            let ends = [" | ", " > ", "  ", ")"].map(|end| example.find(end));
            let end = ends.into_iter().flatten().min().unwrap_or(example.len());
            let words = example[..end].split_whitespace();
            if let Err(error) = Arguments::try_parse_from(words) {
                panic!("{example}: {error}");
            }
        }
    }
}
