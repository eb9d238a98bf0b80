//! The command line of `oscope reference`.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum Command {
    Add(Add),
    /// List the reference machines
    #[command(after_help = "\
Examples:
  oscope reference list
  oscope reference list --json")]
    List,
}

/// Make the machine of a run a reference
///
/// Writes the values of the run by which machines are compared, and its conditions, to a file next to the store. The
/// file names neither the machine nor its people, so it can be copied to other machines. What something disturbed is
/// left out.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope reference add
  oscope reference add theirs.oscope.json
  oscope reference add latest --force")]
pub struct Add {
    /// A run: `latest`, its number, its name, the beginning of its id, or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Replace the reference that an earlier run of the same machine gave
    #[arg(long)]
    pub force: bool,
}
