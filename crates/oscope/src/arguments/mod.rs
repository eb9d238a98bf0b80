//! The command line, parsed without access to files or the store.

pub mod ab;
pub mod file;
pub mod fleet;
pub mod lab;
pub mod reference;
mod run;
mod stored;
pub mod transfer;

use clap::{Args, ColorChoice, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

pub use ab::{Ab, TimeUnit, Varied, Vary};
pub use run::{Glance, Run, Worker};
pub use stored::{
    Advise, AuthorProgram, Claims, Compare, Delete, Export, ExportFormat, FailOn, History, Import,
    Output, Plot, Programs, Reproduce, Sharing, Show, Verify, Written, parse_level,
};

/// An instrument for operating systems: it measures what memory, files, processes and threads cost
/// on a machine, and explains in words what the numbers mean.
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
  oscope glance                        this machine on one screen, in twenty seconds
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
  130  stopped by Ctrl-C (131: by Ctrl-\\, 143: by SIGTERM, 129: by SIGHUP, 141: its output had no reader)

The first signal to stop ends the program in good order.
The same signal a second or more later ends it at once.";

/// The options of every command.
#[derive(Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Common {
    /// File in which runs are stored [default: oscope/oscope.db in your data directory]
    #[arg(long, global = true, value_name = "PATH", display_order = 900)]
    pub store: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long, global = true, display_order = 901)]
    pub json: bool,
    /// Print nothing but errors and warnings on standard error
    #[arg(long, short, global = true, display_order = 902)]
    pub quiet: bool,
    /// True in a process whose errors another process reports.
    #[arg(skip)]
    pub is_led: bool,
    /// True if no line is drawn again.
    #[arg(skip)]
    pub is_still: bool,
    /// Use colours; `auto` uses them on a terminal, unless `NO_COLOR` is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        display_order = 903
    )]
    pub color: ColorChoice,
}

// The options of a command are built only when it is called, so that none pays for the others.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Measure, then print a summary with findings and write a page
    ///
    /// Each sample is stored before the next is taken, so a run that is stopped or killed loses
    /// nothing.
    Run(Box<Run>),
    /// Show what this machine is, in twenty seconds: latencies, memory and files on one screen
    ///
    /// Some forty values, each from at least five processes. They are stored as a run.
    Glance(Glance),
    /// List what can be measured
    List(List),
    /// Explain an experiment: its question, its method and its source
    Explain(Explain),
    /// Show a stored run: its most important results, or experiments in full detail
    Show(Show),
    /// Check claims of published reports and common beliefs against a run
    Claims(Claims),
    /// Compare every printed figure of the five published reports with this machine
    ///
    /// Judges each figure by its number, and each table also by its shape: ratios, order, growth,
    /// crossover and plateau. Uses the stored runs of this machine, the newest for each point, and
    /// prints the command that measures what is missing.
    ///
    /// `--output` writes a page with graphs to a name that ends in .html, and Markdown to any other.
    Reproduce(Reproduce),
    /// Labs for teachers and students: predict, measure, explain
    ///
    /// A lab asks for predictions, measures, compares each prediction with the measurement and with the
    /// finding of a published report, and asks why. It writes a hand-in.
    #[command(subcommand)]
    Lab(lab::Command),
    /// Recommend settings for programs on this machine: block sizes, loop pieces, threads, pages,
    /// methods of reading
    ///
    /// Programs can load what `--save` stores when they start, with the library `oscope-advice` or as
    /// JSON.
    Advise(Advise),
    /// List the stored runs, or show where metrics changed over them
    ///
    /// `--changes` looks at all metrics at once: values that changed at the same runs are one
    /// change, shown with what else changed there.
    /// A metric and `--changes` use the runs of one machine: that of the newest run,
    /// unless `--machine` names another.
    History(History),
    /// Write the page of a stored run: one HTML file that needs no network
    #[command(after_help = "\
Examples:
  oscope report latest --output page.html
  oscope report latest --redact --output to-show.html")]
    Report(Written),
    /// Write a stored run as one picture: machine, verdict, memory, latencies, files and the settings
    /// that gain most; as SVG or PNG
    #[command(after_help = "\
Examples:
  oscope card --output card.svg
  oscope card latest --redact --output to-show.svg")]
    Card(Written),
    /// Write one chart of a stored run as SVG or PNG
    Plot(Plot),
    /// Write a run to one portable file
    Export(Export),
    /// Add exported runs to the store
    Import(Import),
    /// Check that stored runs and exported files are unchanged since they were measured
    ///
    /// Every batch, point, experiment and run has a checksum, in the store and in exported files. This
    /// command lists all parts that do not match theirs, and the faults that SQLite finds in the
    /// structure of the store. A run from a file without checksums is called unproven.
    Verify(Verify),
    /// Remove runs from the store permanently
    ///
    /// Without `--force`, it only lists what it would remove. A damaged run that cannot be read can be
    /// removed as well. Pages and exported files stay. The number of a removed run is never used again.
    Delete(Delete),
    /// Show what is faster, slower or equal in other runs, compared with the first
    ///
    /// Each side is a run, several runs joined by commas (the sessions of one side), an exported file,
    /// or `reference:NAME`, the numbers of a published report. Three sessions a side make a sound
    /// comparison; with one on each side ratios are shown, and nothing is called faster or slower.
    Compare(Compare),
    /// Many machines that should be alike: find the odd one, and the component that is slow in it
    #[command(subcommand)]
    Fleet(fleet::Command),
    /// Time a command, or compare commands or settings of an experiment, interleaved in one go
    ///
    /// A single command runs at least ten times and for three seconds.
    ///
    /// The commands take turns, as ABBA or BAAB at random, so that drift and neighbours affect all
    /// alike. On a quiet machine, a difference of 1 % between short commands is found in seconds. The
    /// comparison stops as soon as every command is judged against the first: faster, slower, or
    /// equivalent within the margin. At most one of 200 equal pairs is called different.
    #[command(visible_alias = "time")]
    Ab(Box<Ab>),
    /// Machines to compare runs with: what is slow or fast for this processor, hypervisor and system
    ///
    /// `oscope show`, `card` and the page report it once three other machines of the same kind are known.
    #[command(subcommand)]
    Reference(reference::Command),
    /// Check whether this machine is fit to be measured, what disturbs it, and how to quiet it
    Doctor(Doctor),
    /// Read, write, sum and copy files, and report the speed
    #[command(subcommand)]
    File(file::Command),
    /// Undo what killed runs left behind: scratch files, control groups, swap
    ///
    /// Searches DIR, the directories of all runs that never ended, and those that they had on other
    /// machines (`oscope run --remote`). Every `oscope run` does the same before it measures.
    Cleanup(Cleanup),
    /// Send files to an `oscope receive` on this machine or another
    ///
    /// A file appears at the receiver under its name once all of it has arrived unchanged. With a token
    /// everything is encrypted and authenticated, names as well as contents. Without one, a receiver on
    /// this machine accepts files from its own user, and checksums detect accidental changes.
    Send(transfer::Send),
    /// Receive files from `oscope send`
    ///
    /// Listens on this machine only, and to the same user only, unless a token is given. Existing files
    /// are kept, unless --force is given. Interrupted transfers are kept in the hidden directory
    /// .oscope-partial, which only you can open, and can be resumed.
    Receive(transfer::Receive),
    /// Make a token, with which two machines exchange files that nobody else can read
    ///
    /// 32 random bytes as text. Copy the file to both machines over a channel that you trust: everybody
    /// who has it can send, receive and read.
    Token(transfer::Token),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page, or write all manual pages to a directory
    Man(Man),
}

impl Command {
    /// The default command: `oscope run`, with the defaults that the command line defines.
    pub fn usual() -> Self {
        let usual = Arguments::parse_from(["oscope", "run"]);
        usual.command.expect("a command was named")
    }
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  oscope list\n  oscope list memory\n  oscope list --references"
)]
pub struct List {
    /// Experiments or groups [default: all]
    #[arg(value_name = "WHAT")]
    pub what: Vec<String>,
    /// List the references instead: numbers of published reports to compare runs with
    #[arg(long, conflicts_with = "what")]
    pub references: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope explain file.block_size")]
pub struct Explain {
    /// Experiments or groups
    #[arg(value_name = "WHAT", required = true)]
    pub what: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope doctor --dir /mnt/data")]
pub struct Doctor {
    /// Directory for scratch files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  oscope cleanup --dir /mnt/data")]
pub struct Cleanup {
    /// Directory for scratch files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  oscope completions bash > ~/.local/share/bash-completion/completions/oscope"
)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

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

    /// Commands are described where they are listed. A group of options with its own
    /// description would replace a command's description when the command is built.
    #[test]
    fn a_command_is_described_as_it_is_listed() {
        let listed = Arguments::command();
        let mut built = Arguments::command();
        built.build();
        for command in listed.get_subcommands() {
            let name = command.get_name();
            let found = built.find_subcommand(name).expect("it is the same command");
            assert!(command.get_about().is_some(), "{name}");
            let texts = [command, found].map(|it| (it.get_about(), it.get_long_about()));
            assert_eq!(texts[0], texts[1], "{name}");
        }
    }

    #[test]
    fn options_of_every_command_come_after_its_own() {
        let help = Arguments::try_parse_from(["oscope", "ab", "--help"]).expect_err("help");
        let help = help.to_string();
        let is_option = |line: &&str| line.trim_start().starts_with('-');
        let names: Vec<&str> = (help.lines().filter(is_option))
            .filter_map(|line| line.split("--").nth(1)?.split(' ').next())
            .collect();
        assert!(
            names.ends_with(&["store", "json", "quiet", "color", "help"]),
            "{names:?}"
        );
    }

    #[test]
    fn every_command_has_examples_and_they_are_understood() {
        let mut found = Vec::new();
        let mut whole = Arguments::command().disable_help_subcommand(true);
        whole.build();
        examples(&whole, &mut found);
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
