//! The command lines of `oscope send` and `oscope receive`.

use super::file::{AUTO, MethodOrAuto, method_or_auto};
use ::transfer::method::{ReceiveMethod, SendMethod};
use clap::Args;
use clap::builder::TypedValueParser;
use instrument::quantity::{Bytes, Nanoseconds};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a command line has many switches"
)]
#[command(after_help = "\
Examples:
  oscope send big.iso --to 127.0.0.1:5735
  oscope token --output ~/.oscope-token               once; copy it to both machines
  oscope send project --to 127.0.0.1:5735             a directory and all that lies in it
  oscope send *.log --to backup:5735 --token-file ~/.oscope-token --keep
  tar c project | oscope send - --name project.tar --to 127.0.0.1:5735
  oscope send --zeros 4GiB --to 127.0.0.1:5735        the network alone, no file read")]
pub struct Send {
    /// Files and directories; `-` is standard input. Of a directory, files, directories and links are
    /// sent, and nothing else
    #[arg(value_name = "FILE", required_unless_present = "zeros")]
    pub files: Vec<PathBuf>,
    /// Address on which `oscope receive` listens
    #[arg(long, value_name = "HOST:PORT")]
    pub to: String,
    /// Method of reading and sending
    #[arg(long, default_value = AUTO, value_parser = send_method())]
    pub method: MethodOrAuto<SendMethod>,
    /// Number of connections; large files are divided among them [default: 1, or 2 for 100 files
    /// and more, and for zeros]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub streams: Option<u16>,
    /// File with the token that the receiver has, too; without one, files go only to a receiver of
    /// yours, or of root, on this machine
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Send to anyone who answers, without a token: others may read and change the files
    #[arg(long, conflicts_with = "token_file")]
    pub insecure: bool,
    /// Name at the receiver [default: the file's own]
    #[arg(long)]
    pub name: Option<String>,
    /// Resume where an earlier attempt broke off, if the receiver's part is the same. Files that are
    /// there already and equal count as sent
    #[arg(long, conflicts_with_all = ["zeros", "no_checksum"])]
    pub resume: bool,
    /// Preserve permissions and modification times, but no owners and no extended attributes
    #[arg(long)]
    pub keep: bool,
    /// Send without checksums, to measure what they cost
    #[arg(long)]
    pub no_checksum: bool,
    /// Do not encrypt contents in spite of a token; names and sizes stay protected. The receiver
    /// must allow it
    #[arg(long, requires = "token_file")]
    pub unsealed: bool,
    /// Send this many zeros from memory instead of files
    #[arg(long, value_name = "SIZE", conflicts_with = "files")]
    pub zeros: Option<Bytes>,
    /// Longest silence of the receiver
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_patience)]
    pub timeout: Duration,
}

#[derive(Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a command line has many switches"
)]
#[command(after_help = "\
Examples:
  oscope receive
  oscope receive /srv/incoming --once --fsync
  oscope receive --listen 0.0.0.0:5735 --token-file ~/.oscope-token
  oscope receive /srv/scratch --measure --listen 0.0.0.0:5735 --token-file ~/.oscope-token
  oscope receive --discard        verifies and throws away: the network alone")]
pub struct Receive {
    /// Directory for the files [default: this one]
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The same as DIR. If a directory is named either way, files whose names begin with a dot are
    /// accepted
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    pub into: Option<PathBuf>,
    /// Address to listen on; one that others can reach needs a token, port 0 is any free port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:5735")]
    pub listen: String,
    /// Method of receiving and writing
    #[arg(long, default_value = AUTO, value_parser = receive_method())]
    pub method: MethodOrAuto<ReceiveMethod>,
    /// End after the first transfer
    #[arg(long)]
    pub once: bool,
    /// File with the token that senders must have; without one, only your own senders on this
    /// machine are served
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Serve everyone who reaches the address, without a token
    #[arg(long, conflicts_with = "token_file")]
    pub insecure: bool,
    /// Accept contents that are not encrypted in spite of a token
    #[arg(long, requires = "token_file")]
    pub unsealed: bool,
    /// Accept files and directories whose names begin with a dot although no directory is named
    #[arg(long)]
    pub allow_hidden: bool,
    /// Largest file to accept
    #[arg(long, value_name = "SIZE", default_value = "1TiB")]
    pub max_size: Bytes,
    /// Largest number of files in one connection
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub max_files: u64,
    /// Most room for files that were interrupted; beyond it they are not kept
    #[arg(long, value_name = "SIZE", default_value = "1TiB")]
    pub max_partial: Bytes,
    /// Most connections at a time
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub max_connections: usize,
    /// Wait until a file is on the device before it counts as stored
    #[arg(long)]
    pub fsync: bool,
    /// Replace files that are there
    #[arg(long)]
    pub force: bool,
    /// Verify what comes, and throw it away
    #[arg(long, conflicts_with_all = ["dir", "into", "force", "fsync"])]
    pub discard: bool,
    /// Serve `oscope run transfer --to` on another machine, and keep nothing: each file goes to a
    /// scratch directory in DIR, by the method that the sender asks for, and is thrown away
    #[arg(long, conflicts_with_all = ["method", "once", "force", "fsync", "discard"])]
    pub measure: bool,
    /// Longest silence of a sender
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse_patience)]
    pub timeout: Duration,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope token --output ~/.oscope-token      readable for you alone
  oscope token | ssh backup 'umask 077; cat > .oscope-token'")]
pub struct Token {
    /// File to write it to, readable by you alone; an existing file is kept [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

fn send_method() -> impl TypedValueParser<Value = MethodOrAuto<SendMethod>> {
    let auto = "`file`, or `sendfile` where contents are neither sealed nor summed";
    method_or_auto(auto, |method| match method {
        SendMethod::File => "Read into a buffer, and send that",
        SendMethod::Mmap => "Map into memory, and send that",
        SendMethod::SendFile => "Let the kernel send the file",
        SendMethod::Splice => "Let the kernel move it through a pipe",
        SendMethod::ZeroCopy => "Read into buffers that the kernel sends without a copy",
        SendMethod::Uring => {
            "Read and send through a ring (`io_uring`): the next blocks are read while one is on \
             its way"
        }
    })
}

fn receive_method() -> impl TypedValueParser<Value = MethodOrAuto<ReceiveMethod>> {
    let auto = "`file`, or `splice` where contents are neither sealed nor summed; `uring` where that \
                receives the first 32 MiB of large files faster";
    method_or_auto(auto, |method| match method {
        ReceiveMethod::File => "Receive into a buffer, and write that",
        ReceiveMethod::Mmap => "Grow and map the file, and receive into that",
        ReceiveMethod::Splice => "Let the kernel move what arrives through a pipe",
        ReceiveMethod::Uring => {
            "Receive and write through a ring (`io_uring`): blocks are written while the next \
             arrives"
        }
    })
}

fn parse_patience(text: &str) -> Result<Duration, String> {
    let patience: Nanoseconds = text.parse().map_err(|error| format!("{error}"))?;
    if !(1e9..=86_400e9).contains(&patience.0) {
        return Err("it has to be between 1 s and a day".into());
    }
    Ok(Duration::from_nanos(patience.0 as u64))
}
