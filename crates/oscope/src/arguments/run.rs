//! The command line of `oscope run`.

use super::file::named;
use super::stored::parse_level;
use clap::builder::TypedValueParser;
use clap::{Args, Parser};
use instrument::limits::Limits;
use instrument::plan::Profile;
use instrument::point::Level;
use instrument::quantity::{Bytes, Nanoseconds};
use std::num::NonZeroU8;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope run
  oscope run memory file.block_size
  oscope run --profile standard --dir /mnt/data --tag disk=nvme0
  oscope run file.remote --remote /mnt/nfs
  oscope run transfer --to backup:5735 --token-file ~/.oscope-token
  oscope run process --budget 30s --json
  oscope run threads.lock --at threads=30 --at lock=SpinLock
  oscope run file.sum --file-size 4GiB
  oscope run --watch --open
  oscope run --gentle
  oscope run --gentle --limit processor=10%,written=256MiB file
  oscope run memory --compare-with before-upgrade --sessions 3
  oscope run --resume latest")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Run {
    /// Experiments or groups, as in `memory` or `file.block_size` [default: all]
    #[arg(value_name = "WHAT")]
    pub what: Vec<String>,
    /// Go on with this run, which was stopped, killed or cut off by its budget: with the same
    /// experiments and options, on the same machine in the same state; its measurements count.
    /// `--budget` gives it this much more time
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = [
            "what", "at", "file_size", "profile", "dir", "remote", "to", "token_file",
            "allow_swap_file", "gentle", "limit", "name", "tags", "seed", "sessions", "compare_with",
        ]
    )]
    pub resume: Option<String>,
    /// Measure only points with this level, on the planned grid or off it, in the experiments that
    /// have the axis; can be repeated
    #[arg(long, value_name = "AXIS=LEVEL", value_parser = parse_level)]
    pub at: Vec<(String, Level)>,
    /// Size of the file; short for `--at file_size=SIZE`
    #[arg(long, value_name = "SIZE")]
    pub file_size: Option<Bytes>,
    /// Duration and precision of the run
    #[arg(long, default_value_t = Profile::Quick, value_parser = profile())]
    pub profile: Profile,
    /// Directory for scratch files; file experiments measure its file system
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// A second directory for scratch files, on a remote mount (NFS, SMB, sshfs): measured against
    /// DIR by `file.remote`, which is left out without it
    #[arg(long, value_name = "DIR")]
    pub remote: Option<PathBuf>,
    /// Send the files of `transfer.file` to another machine, where `oscope receive --measure` listens
    #[arg(long, value_name = "HOST:PORT")]
    pub to: Option<String>,
    /// File with the token that the receiver has, too
    #[arg(long, value_name = "FILE", requires = "to")]
    pub token_file: Option<PathBuf>,
    /// Allow a temporary swap file in DIR, as root, to measure what swap costs
    #[arg(long)]
    pub allow_swap_file: bool,
    #[command(flatten)]
    pub restraint: Restraint,
    /// Name of the run, to refer to it later
    #[arg(long)]
    pub name: Option<String>,
    /// A note to store with the run; can be repeated
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = parse_tag)]
    pub tags: Vec<(String, String)>,
    /// Seed of the order in which points are visited [default: random]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Time for the whole run, such as `30s` or `5min` [default: by the profile]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Nanoseconds>,
    /// Measure this many times, as separate runs: the sessions of one side of a comparison
    #[arg(long, value_name = "COUNT")]
    pub sessions: Option<NonZeroU8>,
    /// Compare with this run, or with several runs separated by commas, at the end; measures three
    /// sessions unless `--sessions` gives another number
    #[arg(long, value_name = "RUNS")]
    pub compare_with: Option<String>,
    /// File for the page [default: `pages/run-NUMBER.html` next to the store, overwritten; next to a store that is not
    /// called `oscope.db`, `pages/STORE/run-NUMBER.html`]
    #[arg(long, value_name = "FILE", conflicts_with = "no_page")]
    pub page: Option<PathBuf>,
    /// Overwrite an existing file that `--page` names
    #[arg(long, requires = "page")]
    pub force: bool,
    /// Write no page
    #[arg(long)]
    pub no_page: bool,
    /// Open the page in a browser
    #[arg(long, conflicts_with = "no_page")]
    pub open: bool,
    /// Write the page after each pass as well: reload it to see what is known so far
    #[arg(long, conflicts_with = "no_page")]
    pub watch: bool,
    /// Let every loop do this many per cent more iterations than it counts
    #[cfg(feature = "extra-work")]
    #[arg(long, value_name = "PERCENT", default_value = "0")]
    pub extra_work: u64,
}

impl Run {
    /// The chosen levels.
    pub fn levels(&self) -> Vec<(String, Level)> {
        let size = self
            .file_size
            .map(|Bytes(size)| ("file_size".to_owned(), Level::Number(size)));
        self.at.iter().cloned().chain(size).collect()
    }

    /// Number of sessions; by default enough for a comparison, if one is requested.
    pub fn session_count(&self) -> u8 {
        const FOR_A_COMPARISON: u8 = 3;
        let usual = match self.compare_with {
            Some(_) => FOR_A_COMPARISON,
            None => 1,
        };
        self.sessions.map_or(usual, NonZeroU8::get)
    }
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope glance
  oscope glance --dir /mnt/data
  oscope glance --compare-with latest
  oscope glance --compare-with nearest
  oscope glance --svg here.svg
  oscope glance --json")]
pub struct Glance {
    /// Directory for scratch files; the file system that is measured
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Show the values of this run next to those of this machine: `latest`, its number, its name, the
    /// beginning of its id, or an exported file; or `nearest`, the nearest reference machine
    #[arg(long, value_name = "RUN")]
    pub compare_with: Option<String>,
    /// Write the picture of the machine to this file as well, as `oscope card` draws it
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Overwrite an existing file that `--svg` names
    #[arg(long, requires = "svg")]
    pub force: bool,
}

// Limits on the resources of a run, for machines with other work that matters.
#[derive(Args, Debug)]
pub struct Restraint {
    /// Spare other work on this machine: use one processor for a quarter of the time, in short
    /// bursts, little memory and little disk; a run takes four times as long
    #[arg(long, conflicts_with_all = ["allow_swap_file", "to", "remote"])]
    pub gentle: bool,
    /// Stay within these limits; those of `--gentle` are processor=25%, cpus=1, memory=512MiB,
    /// disk=512MiB, written=4GiB, rate=32MiB/s, io=idle
    #[arg(long, value_name = "KEY=VALUE,…", conflicts_with_all = ["allow_swap_file", "to", "remote"])]
    pub limit: Option<Limits>,
}

// A separate parser: workers start by the thousand, and to build the commands of the whole program
// takes a third of a millisecond.
/// Takes one batch of samples for the program that started it
#[derive(Parser, Debug)]
#[command(name = Worker::NAME)]
pub struct Worker {
    /// Leave the caches of the whole machine alone
    #[arg(long)]
    pub spare_caches: bool,
    /// Iterations that every loop does beyond those that it counts, in per cent
    #[cfg(feature = "extra-work")]
    #[arg(long, default_value = "0")]
    pub extra_work: u64,
}

impl Worker {
    /// The hidden command.
    pub const NAME: &str = "worker";

    /// The arguments of this process, if it was started as a worker.
    pub fn called() -> Option<Self> {
        let is_worker = std::env::args_os().nth(1)? == Self::NAME;
        is_worker.then(|| Self::parse_from(std::env::args_os().skip(1)))
    }
}

/// Accepts the names of profiles.
pub(super) fn profile() -> impl TypedValueParser<Value = Profile> {
    named(help_of_profile)
}

fn help_of_profile(profile: Profile) -> &'static str {
    match profile {
        Profile::Quick => "±5 %, about four minutes for everything",
        Profile::Standard => "±3 %, twenty minutes and more for everything",
        Profile::Thorough => "±2 %, hours for everything",
    }
}

fn parse_tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a tag is KEY=VALUE, as in disk=nvme0".into()),
    }
}

pub(super) fn parse_budget(text: &str) -> Result<Nanoseconds, String> {
    let budget: Nanoseconds = text.parse().map_err(|error| format!("{error}"))?;
    if budget.0 < 1e9 {
        return Err("less than 1 s is too short for any result".into());
    }
    Ok(budget)
}

#[cfg(test)]
mod tests {
    use super::help_of_profile;
    use instrument::plan::Profile;

    #[test]
    fn the_help_of_a_profile_names_its_precision() {
        for profile in Profile::ALL {
            let help = help_of_profile(profile);
            let percent = format!("±{} %,", 100.0 * profile.precision().target);
            assert!(help.starts_with(&percent), "{help}");
        }
    }
}
