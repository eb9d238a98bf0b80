//! The command line of `oscope fleet`.

use super::run::{parse_budget, profile};
use super::stored::{parse_level, parse_percent};
use clap::{Args, Subcommand, ValueEnum};
use instrument::plan::Profile;
use instrument::point::Level;
use instrument::quantity::Nanoseconds;
use std::path::PathBuf;

/// The part of a node that a process measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Per {
    /// The whole node
    #[default]
    Node,
    /// A core with its hardware threads
    Core,
    /// A processor package
    Socket,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Fabric(Fabric),
    Judge(Judge),
    Network(Network),
    Run(Run),
}

/// Judge exported runs of many nodes against each other, without a baseline
///
/// Each node runs `oscope run` and `oscope export`; ssh, pssh, Ansible, Slurm or Kubernetes gather the
/// files. A node's name is the tag `host` of its run (`oscope run --tag host=$HOSTNAME`), else
/// that of its file.
/// Several runs of one node are its sessions. In a directory, each file is a node, and each
/// folder is a node with its files as sessions.
///
/// A node is named only if a component of it as a whole, such as its disk, differs from that of the other
/// nodes by more than the margin. Four nodes or more make a sound judgement; three are the least.
///
/// With `--since`, each node is compared with its earlier runs, and its change with the
/// changes of the other nodes: this shows which node got worse since last week,
/// whatever a new kernel changed on all of them.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope fleet judge node1.oscope.json node2.oscope.json node3.oscope.json node4.oscope.json
  oscope fleet judge runs/ --page fleet.html
  oscope fleet judge runs/ --only memory --margin 5
  oscope fleet judge this-week/ --since last-week/
  oscope fleet judge runs/ --json

Exit code 3: a node is slower than the others; 1: a file or a node could not be judged")]
pub struct Judge {
    /// Exported runs, or directories of them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only these experiments or groups
    #[arg(long, value_name = "WHAT")]
    pub only: Vec<String>,
    /// Report which node changed since these earlier runs, apart from what all nodes changed together; can be repeated
    #[arg(long, value_name = "FILE")]
    pub since: Vec<PathBuf>,
    #[command(flatten)]
    pub judging: Judging,
}

/// Links differ by more than the components of a node.
const MARGIN_OF_LINKS: &str = "10";

// Options of each judgement.
#[derive(Args, Debug)]
pub struct Judging {
    /// Ignore differences up to this
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = parse_percent)]
    pub margin: f64,
    /// Also write the judgement as a page: a table of the nodes, or heat maps of the links
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Overwrite an existing file that `--page` names
    #[arg(long, requires = "page")]
    pub force: bool,
}

/// Judge the network under MPI: the output of `osu_latency` and `osu_bw` between all pairs of nodes
///
/// oscope does not use MPI itself: the OSU benchmarks measure, and this distinguishes a slow port from a slow link, as
/// `oscope fleet network` does for TCP. A file holds the output of one of them or both, and is called after its nodes:
/// `FROM,TO.osu`, or `FROM,TO,1.osu` for the first of several runs. `osu_bw` sends one way only, so it takes each pair
/// in both orders. The latency of the smallest message and the throughput of the largest one are
/// judged.
///
/// It takes three or more runs of each pair to distinguish noise from a slow link.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mpirun -n 2 --host a,b osu_latency > fabric/a,b,1.osu
  mpirun -n 2 --host a,b osu_bw >> fabric/a,b,1.osu
  oscope fleet fabric fabric/ --page fabric.html

Exit code 3: a port or a link is slower than the others; 1: a file could not be read, or a link was not measured")]
#[command(mut_arg("margin", |margin| margin.default_value(MARGIN_OF_LINKS)))]
pub struct Fabric {
    /// Files of output, or directories of them
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub judging: Judging,
}

/// Measure the nodes of a job and judge them against each other: one process on each, started by
/// `mpirun` or `srun`
///
/// Each node measures as `oscope run` does and writes its exported run to `OUTPUT/HOST/` there; the first
/// process gathers the runs through the launcher (PMIx), so that no shared folder is needed, writes all of
/// them to its `OUTPUT`, and judges them. Of several processes on a node, one measures; with `--per core`
/// or `--per socket`, each measures its own core or socket. A node that fails or does not answer in
/// time is named, and the others are judged.
///
/// A node that differs measures again, together with two healthy ones and only the experiments in question. The
/// verdict names it only if the second measurement confirms the first; `--once` skips the second.
///
/// Leave each process all processors (`mpirun --bind-to none`, `srun --cpu-bind=none`), and let the job
/// survive a dead process (`mpirun --enable-recovery`, `srun --kill-on-bad-exit=0`).
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mpirun --map-by ppr:1:node --bind-to none --enable-recovery oscope fleet run memory process.calls
  srun --mpi=pmix --ntasks-per-node=1 --cpu-bind=none oscope fleet run --budget 2min --dir /tmp
  mpirun --host a,b,c,d --bind-to none oscope fleet run file.sync --in-turn --page fleet.html
  mpirun --map-by ppr:8:node --bind-to none oscope fleet run compute memory --per core --in-turn

Exit code 3: a node is slower than the others; 1: results of a node are missing. `mpirun --enable-recovery` ends
with 0 all the same: `--json` has the verdict as well")]
pub struct Run {
    /// Experiments or groups, as in `memory` or `file.block_size` [default: all]
    #[arg(value_name = "WHAT")]
    pub what: Vec<String>,
    /// Measure only points with this level, as in `oscope run`; can be repeated
    #[arg(long, value_name = "AXIS=LEVEL", value_parser = parse_level)]
    pub at: Vec<(String, Level)>,
    /// Duration and precision of each run
    #[arg(long, default_value_t = Profile::Quick, value_parser = profile())]
    pub profile: Profile,
    /// Time for the run of a node
    #[arg(long, value_name = "TIME", default_value = "4min", value_parser = parse_budget)]
    pub budget: Nanoseconds,
    /// Seed of the order in which points are visited, the same on all nodes, and of the choice of healthy
    /// nodes [default: random]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Directory on each node for scratch files; file experiments measure its file system
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Measure one node after the other, for nodes that share storage, a network or a host.
    /// Without this, all nodes begin each pass of the run together
    #[arg(long)]
    pub in_turn: bool,
    /// Measure and judge each node, each core or each socket: a process for each of them
    #[arg(long, value_enum, default_value_t)]
    pub per: Per,
    /// Wait this much longer than its budget for a node that does not answer
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = parse_budget)]
    pub wait: Nanoseconds,
    /// Name a node by its first measurement, without a second one
    #[arg(long)]
    pub once: bool,
    /// Directory for the exported runs, with a folder for each host
    #[arg(long, value_name = "DIR", default_value = "fleet-runs")]
    pub output: PathBuf,
    #[command(flatten)]
    pub judging: Judging,
}

/// Measure the network between the nodes of a job: one process on each, started by `mpirun` or `srun`
///
/// Each node measures its link to each other node, in rounds in which no node takes part in two measurements: round
/// trips by TCP and UDP, idle and next to a stream, and throughput in both directions. A node that is slow to all
/// others has a slow port; two nodes that are slow to each other have a slow link. The first process gathers the
/// measurements through the launcher (PMIx) and distinguishes both, if there are four nodes or more.
///
/// Nodes answer each other by TCP and UDP on ports that the system chooses, at all addresses but loopback, or at those
/// of `--interface`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mpirun --map-by ppr:1:node --bind-to none --enable-recovery oscope fleet network
  srun --mpi=pmix --ntasks-per-node=1 --cpu-bind=none oscope fleet network --interface ib0 --page network.html
  mpirun --host a,b,c,d --bind-to none oscope fleet network --in-turn --passes 9 --json

Exit code 3: a port or a link is slower than the others; 1: a link, or a part of one, could not be measured")]
#[command(mut_arg("margin", |margin| margin.default_value(MARGIN_OF_LINKS)))]
pub struct Network {
    /// Time for all measurements together; a link takes 0.3 to 3 s in each pass
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = parse_budget)]
    pub budget: Nanoseconds,
    /// Measurements of each link
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub passes: u16,
    /// Measure one link after the other, for nodes that share a host or a switch that all links fill
    #[arg(long)]
    pub in_turn: bool,
    /// Only the addresses of this interface: its name, or an address of it
    #[arg(long, value_name = "NAME")]
    pub interface: Option<String>,
    /// Wait this long for a node that does not answer
    #[arg(long, value_name = "TIME", default_value = "1min", value_parser = parse_budget)]
    pub wait: Nanoseconds,
    /// Seed of the order of the rounds [default: random]
    #[arg(long)]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub judging: Judging,
}
