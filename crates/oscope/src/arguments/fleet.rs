//! The command line of `oscope fleet`.

use super::compare::parse_percent;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Many machines that should be alike: find the odd one, and the component that is slow in it
#[derive(Args, Debug)]
pub struct Fleet {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Judge(Judge),
}

/// Judge exported runs of many nodes against each other, without a baseline
///
/// Each node runs `oscope run` and `oscope export`; ssh, pssh, Ansible, Slurm or Kubernetes gather the
/// files. A node is called what the tag `host` of its run says (`oscope run --tag host=$HOSTNAME`), else
/// as its file. Several runs of one node are its sessions. In a directory, each file is a node, and each
/// folder is a node with its files as sessions.
///
/// A node is named only if a component of it as a whole, such as its disk, differs from that of the other
/// nodes by more than the margin. Four nodes or more make a sound judgement; three are the least.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope fleet judge node1.oscope.json node2.oscope.json node3.oscope.json node4.oscope.json
  oscope fleet judge runs/ --page fleet.html
  oscope fleet judge runs/ --only memory --margin 5
  oscope fleet judge runs/ --json

Exit code 3: a node is slower than the others; 1: a file could not be read")]
pub struct Judge {
    /// Exported runs, or directories of them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only these experiments or groups
    #[arg(long, value_name = "WHAT")]
    pub only: Vec<String>,
    /// Ignore differences up to this
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = parse_percent)]
    pub margin: f64,
    /// Also write a page: a row for each node, a column for each component
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Overwrite an existing file that `--page` names
    #[arg(long, requires = "page")]
    pub force: bool,
}
