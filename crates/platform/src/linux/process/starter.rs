//! The small process that starts programs: `starter/main.rs` in this crate.

use std::env;
use std::ffi::{CString, OsString};
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};
use rustix::process::{Pid, getpid};

use crate::linux::parse;
use crate::program::Program;

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starter"));

/// The kernel's list of places if there is no `PATH`, as execvp(3) has it.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// Bytes of an answer: two numbers.
const ANSWER_BYTES: usize = 16;

#[derive(Debug)]
pub(super) struct Helper {
    process: Child,
    socket: UnixStream,
}

/// A process that was asked to become a program.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) pid: Pid,
    pub(super) start_ns: u64,
    /// The reason if it could not become the program, as far as it is known.
    pub(super) failure: Option<io::Error>,
}

impl Helper {
    /// Starts it. Fails where the system lets no program run that is in memory only, or if there is
    /// none for this architecture.
    pub(super) fn start() -> io::Result<Self> {
        if PROGRAM.is_empty() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // Since Linux 6.3 a setting may ask for the flag, which earlier ones do not know.
        let flags = MemfdFlags::CLOEXEC;
        let file = memfd_create("oscope-starter", flags | MemfdFlags::EXEC)
            .or_else(|_| memfd_create("oscope-starter", flags))?;
        let file = std::fs::File::from(file);
        (&file).write_all(PROGRAM)?;
        let (socket, its_end) = UnixStream::pair()?;
        let process = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .arg0("oscope-starter")
            .stdin(OwnedFd::from(its_end))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { process, socket })
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Its peak memory in bytes; `None` if the system does not report it.
    pub(super) fn peak_bytes(&self) -> Option<u64> {
        let status = parse::text(format!("/proc/{}/status", self.process.id()))?;
        parse::kibibytes(parse::colon_field(&status, "VmHWM")?)
    }

    /// Starts a program with these files as its standard streams, and the terminal, if there is one,
    /// for its group.
    pub(super) fn run(
        &self,
        program: &Program<'_>,
        files: [BorrowedFd<'_>; 3],
        terminal: Option<BorrowedFd<'_>>,
    ) -> io::Result<Started> {
        let Some(name) = program.words.first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let paths = paths(name);
        let words = program.words.iter().map(String::as_bytes);
        let variables = variables(program.environment);
        let directory = program.directory.map(|path| path.as_os_str().as_bytes());
        let all = (paths.iter().map(Vec::as_slice).chain(words))
            .chain(variables.iter().map(Vec::as_slice))
            .chain(directory);
        let mut text = Vec::new();
        for one in all {
            text.extend_from_slice(CString::new(one)?.as_bytes_with_nul());
        }
        let parent = getpid().as_raw_nonzero().get() as u64;
        let header = [
            text.len() as u64,
            paths.len() as u64,
            program.words.len() as u64,
            variables.len() as u64,
            u64::from(directory.is_some()),
            parent,
        ];
        let header = header.map(u64::to_ne_bytes);
        let files: Vec<_> = files.into_iter().chain(terminal).collect();
        self.send(header.as_flattened(), &text, &files)?;
        let mut failure = None;
        loop {
            match self.answer()? {
                (0, errno) => failure = Some(io::Error::from_raw_os_error(errno as i32)),
                (errno, _) if errno < 0 => return Err(io::Error::from_raw_os_error(-errno as i32)),
                (pid, start_ns) => {
                    return Ok(Started {
                        pid: Pid::from_raw(pid as i32).expect("it is not zero"),
                        start_ns: start_ns.cast_unsigned(),
                        failure,
                    });
                }
            }
        }
    }

    /// The reason if a process that has ended could not become the program.
    pub(super) fn failure(&self, started: Started) -> Option<io::Error> {
        let mut bytes = [0; ANSWER_BYTES];
        let is_there = recv(
            &self.socket,
            &mut bytes,
            RecvFlags::DONTWAIT | RecvFlags::PEEK,
        );
        let rest = match is_there {
            Ok((ANSWER_BYTES, _)) => self.answer().ok(),
            _ => None,
        };
        let rest = rest.map(|(_, errno)| io::Error::from_raw_os_error(errno as i32));
        started.failure.or(rest)
    }

    fn send(&self, header: &[u8], text: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(files));
        let mut pieces = &mut [IoSlice::new(header), IoSlice::new(text)][..];
        while !pieces.is_empty() {
            match sendmsg(&self.socket, pieces, &mut control, SendFlags::NOSIGNAL) {
                Ok(sent) => IoSlice::advance_slices(&mut pieces, sent),
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            }
            control.clear();
        }
        Ok(())
    }

    fn answer(&self) -> io::Result<(i64, i64)> {
        let mut halves = [[0; ANSWER_BYTES / 2]; 2];
        (&self.socket)
            .read_exact(halves.as_flattened_mut())
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    io::Error::other("the process that starts programs has ended")
                }
                _ => error,
            })?;
        Ok(halves.map(i64::from_ne_bytes).into())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It ends with its socket too. It has no state to lose.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The paths that a name may mean.
fn paths(name: &str) -> Vec<Vec<u8>> {
    if name.contains('/') {
        return vec![name.into()];
    }
    let places = env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    env::split_paths(&places)
        .map(|place| place.join(name).into_os_string().into_vec())
        .collect()
}

/// The whole environment with these variables, each as `NAME=value`; nothing if there are none, which means the
/// environment of the helper.
fn variables(added: &[(&str, String)]) -> Vec<Vec<u8>> {
    if added.is_empty() {
        return Vec::new();
    }
    let is_kept = |(name, _): &(OsString, OsString)| added.iter().all(|(other, _)| name != other);
    let own = env::vars_os().filter(is_kept);
    let added = added
        .iter()
        .map(|(name, value)| (name.into(), value.into()));
    own.chain(added)
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
        .collect()
}
