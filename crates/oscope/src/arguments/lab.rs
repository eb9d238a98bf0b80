//! The command line of `oscope lab`.

use super::Output;
use super::run::parse_budget;
use clap::{Args, Subcommand};
use instrument::quantity::Nanoseconds;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the labs
    #[command(after_help = "Example:\n  oscope lab list")]
    List,
    Start(Box<Start>),
    Collect(Collect),
}

/// Do a lab: answer its questions, measure, and write a hand-in
///
/// Asks on the terminal, or takes all answers from `--answers` and `--answer`. Writes
/// `lab-NAME-STUDENT.md`, a page (.html), its graphs (.svg) and a document for `oscope lab collect` (.json).
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope lab start caches
  oscope lab start locks --questions > answers.txt
  oscope lab start locks --student Anna --answers answers.txt --output hand-ins
  oscope lab start locks --student Anna --answer short=Lock --answer yields=Lock --answer factor=100
  oscope lab start caches --answers answers.txt --of latest
  oscope lab start systems --answers answers.txt --of laptop --of server")]
pub struct Start {
    /// The lab, as `oscope lab list` names it
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print the questions as a file of answers to fill in, and do nothing else
    #[arg(long, conflicts_with_all = ["student", "answers", "answer", "of", "budget"])]
    pub questions: bool,
    /// Your name, for the hand-in
    #[arg(long, value_name = "NAME")]
    pub student: Option<String>,
    /// File with answers, a line `key = value` for each, as `--questions` prints it
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// One answer; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub answer: Vec<String>,
    /// Use this run instead of measuring: `latest`, its number, its name, the beginning of its id, or an
    /// exported file; can be repeated. The lab `systems` compares two: the second with the first
    #[arg(long, value_name = "RUN")]
    pub of: Vec<String>,
    /// Time for all measurements, such as `30s` or `2min` [default: by the lab]
    #[arg(long, value_name = "TIME", value_parser = parse_budget, conflicts_with = "of")]
    pub budget: Option<Nanoseconds>,
    /// Directory for scratch files; file experiments measure its file system
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Directory for the hand-in
    #[arg(long, short, value_name = "DIR", default_value = ".")]
    pub output: PathBuf,
    /// Overwrite an existing hand-in
    #[arg(long)]
    pub force: bool,
}

/// Set the hand-ins of a class side by side
///
/// `--output` writes a page to a name that ends in .html, JSON to one that ends in .json, and Markdown
/// to any other.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope lab collect lab-locks-anna.json lab-locks-berta.json
  oscope lab collect hand-ins/lab-locks-anna.json --output class.html")]
pub struct Collect {
    /// Documents that `oscope lab start` wrote
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub output: Output,
}
