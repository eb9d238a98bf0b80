//! The command line of `oscope file`, and the methods of a library on the command line.

use choice::Choice;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use files::Method;
use files::copy::CopyMethod;
use instrument::quantity::{Bytes, Nanoseconds};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Write a file of pseudo-random bytes
    ///
    /// An existing file is kept, unless `--force` is given. If the command fails or is stopped, nothing
    /// of the new file is left.
    Write(Write),
    /// Read and sum a file: wall and CPU time, speed, and the exclusive or of its 32-bit words
    Read(Read),
    /// Find the size of a file that takes a given time to read
    ///
    /// Reads longer and longer prefixes of the file, each twice as long as the one before, until one
    /// takes the time wanted. With `--grow`, PATH is a scratch file that is made, grown and removed.
    Size(Size),
    /// Sum files as fast as the machine allows: the exclusive or of their 32-bit words
    ///
    /// Prints the sum, the size and the name of each file. It tries on the file itself which method is
    /// the fastest, and prints its choice on standard error. A file that changes during that gives an
    /// error and no sum.
    Sum(Sum),
    /// Copy files by the method of your choice
    ///
    /// A copy keeps the holes of its source. The speed is that of the data alone. Several files go into a
    /// directory, which costs the start of one program instead of many.
    ///
    /// An existing target is kept, unless `--force` is given: then the complete copy takes its place,
    /// with the owner and the permissions of the target. A new file gets those of the source, less the
    /// umask. If the command fails or is stopped, nothing of the new file is left.
    Copy(Copy),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope file write scratch --size 1GiB
  oscope file write scratch --block-size 512KiB --count 2000
  oscope file write scratch --block-size 4KiB --count 1000 --sync --force")]
pub struct Write {
    /// The file; `-` is standard output
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Bytes in all
    #[arg(long, required_unless_present = "count", conflicts_with = "count")]
    pub size: Option<Bytes>,
    /// Bytes in a call, such as `4096` or `512KiB` [default: 128KiB]
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<Bytes>,
    /// Number of blocks, in place of `--size`
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Each write waits until its bytes are on the device (`O_SYNC`)
    #[arg(long, conflicts_with = "direct")]
    pub sync: bool,
    /// Write past the page cache (`O_DIRECT`)
    #[arg(long)]
    pub direct: bool,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope file read big
  oscope file read big --block-size 4KiB --count 10000 --cold
  oscope file read big --block-size 1MiB --method direct")]
pub struct Read {
    /// The file; `-` is standard input
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Bytes in a call, such as `4096` or `512KiB` [default: by the method]
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<Bytes>,
    /// Number of blocks [default: the whole file]
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Method of reading blocks
    #[arg(long, default_value_t = Method::Read, value_parser = read_method())]
    pub method: Method,
    /// Take the file out of the page cache first
    #[arg(long, conflicts_with = "warm")]
    pub cold: bool,
    /// Read the file into the page cache first
    #[arg(long)]
    pub warm: bool,
}

#[derive(Args, Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "that is what the option is called"
)]
#[command(after_help = "\
Examples:
  oscope file size big --block-size 128
  oscope file size scratch --grow --block-size 4KiB --time 1s..2s")]
pub struct Size {
    /// The file
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Bytes in a call, such as `128` or `512KiB`
    #[arg(long, value_name = "SIZE")]
    pub block_size: Bytes,
    /// The time wanted
    #[arg(long, value_name = "FROM..TO", value_parser = parse_times, default_value = "5s..15s")]
    pub time: Times,
    /// Make a growing file instead of reading an existing one
    #[arg(long)]
    pub grow: bool,
}

/// A range from the shortest to the longest acceptable time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub from: Nanoseconds,
    pub to: Nanoseconds,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope file sum big
  oscope file sum *.iso --json
  zcat big.gz | oscope file sum -")]
pub struct Sum {
    /// Files; `-` is standard input
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Threads that take blocks in turn [default: tried]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Bytes in a block [default: by the method]
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<Bytes>,
    /// Method of reading blocks [default: tried]
    #[arg(long, value_parser = read_method())]
    pub method: Option<Method>,
    /// Take each file out of the page cache first
    #[arg(long)]
    pub cold: bool,
}

#[derive(Args, Debug)]
#[command(
    override_usage = "oscope file copy [OPTIONS] <SOURCE>... <TARGET>",
    after_help = "\
Examples:
  oscope file copy big copy
  oscope file copy big copy --method reflink
  oscope file copy one two three directory
  oscope file copy big copy --block-size 1MiB --against dd"
)]
pub struct Copy {
    /// The file to copy, or several, and then the new file, or a directory for it or them; `-` is standard
    /// input or output
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Method of copying
    #[arg(long, default_value = AUTO, value_parser = copy_method())]
    pub method: MethodOrAuto<CopyMethod>,
    /// Bytes in a call [default: 8MiB within the kernel, else 128KiB]
    #[arg(long, value_name = "SIZE")]
    pub block_size: Option<Bytes>,
    /// Also copy it with this program, taking turns, and compare
    #[arg(long, value_enum)]
    pub against: Option<Peer>,
    /// Overwrite an existing target
    #[arg(long)]
    pub force: bool,
}

/// A program to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// `dd`, with the same block size
    Dd,
}

fn read_method() -> impl TypedValueParser<Value = Method> {
    named(|method| match method {
        Method::Read => "`read`, one call after the other",
        Method::Pread => "`pread`, at an offset",
        Method::Stdio => "`fread` of the C library, through its buffer",
        Method::Mmap => "The file as memory, mapped block by block",
        Method::Uring => "`io_uring`, on Windows overlapped reads: several blocks at a time",
        Method::Direct => "`pread` past the page cache (`O_DIRECT`)",
        Method::DirectUring => "The same past the page cache (`O_DIRECT`)",
    })
}

fn copy_method() -> impl TypedValueParser<Value = MethodOrAuto<CopyMethod>> {
    let auto = "The first of `reflink`, `copy-file-range` and `read-write` that both files allow";
    method_or_auto(auto, |method| match method {
        CopyMethod::ReadWrite => "`read` and `write`, a block each",
        CopyMethod::CopyFileRange => "`copy_file_range`: within the kernel",
        CopyMethod::Mmap => "The source as memory, written block by block",
        CopyMethod::Uring => {
            "`io_uring`, on Windows overlapped reads: several blocks at a time are read"
        }
        CopyMethod::Reflink => {
            "Share the blocks until one is changed (`FICLONE`): nothing is copied"
        }
    })
}

fn parse_times(text: &str) -> Result<Times, String> {
    let (from, to) = text
        .split_once("..")
        .ok_or("a time is FROM..TO, as in 5s..15s")?;
    let time = |text: &str| text.parse().map_err(|error| format!("{error}"));
    let times = Times {
        from: time(from)?,
        to: time(to)?,
    };
    if times.from.0 < 0.0 || times.from >= times.to {
        return Err("the second time must be the longer one".into());
    }
    Ok(times)
}

/// A method; `None` if the program chooses it. The alias keeps clap from making the value optional.
pub type MethodOrAuto<M> = Option<M>;

/// The name by which the program chooses the method.
pub const AUTO: &str = "auto";

/// Accepts the names of all choices.
pub fn named<M: Choice + Send + Sync>(
    help: fn(M) -> &'static str,
) -> impl TypedValueParser<Value = M> {
    PossibleValuesParser::new(values(help)).try_map(|name| M::named(&name))
}

/// As [`named`], and accepts [`AUTO`].
pub fn method_or_auto<M: Choice + Send + Sync>(
    auto: &'static str,
    help: fn(M) -> &'static str,
) -> impl TypedValueParser<Value = MethodOrAuto<M>> {
    let auto = PossibleValue::new(AUTO).help(auto);
    PossibleValuesParser::new(std::iter::once(auto).chain(values(help)))
        .map(|name| M::named(&name).ok())
}

fn values<M: Choice>(help: fn(M) -> &'static str) -> impl Iterator<Item = PossibleValue> {
    let methods = M::ALL.iter();
    methods.map(move |&method| PossibleValue::new(method.name()).help(help(method)))
}
