//! Files to send, and the way to send them.

use crate::Timing;
use crate::error::Result;
use platform::directory::Directory;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A file to send, and its name at the receiver.
#[derive(Clone, Debug)]
pub struct Job {
    /// The name at the receiver, with `/` behind each directory that the file lies in.
    pub name: Vec<u8>,
    /// Source of the bytes.
    pub source: Source,
}

/// The source of a file to send.
#[derive(Clone, Debug)]
pub enum Source {
    /// The file at a path.
    Path {
        /// The path.
        path: PathBuf,
        /// Its size in bytes when the files were listed; `None` for anything but a regular file.
        size: Option<u64>,
    },
    /// A file below a directory. No component of its path is followed if it is a link.
    Beneath {
        /// The directory.
        root: Arc<Directory>,
        /// The path from there.
        path: PathBuf,
        /// Its size in bytes when the directory was read.
        size: Option<u64>,
    },
    /// A directory, with these permissions and times.
    Directory(Box<Metadata>),
    /// A symbolic link with this target.
    Link(Vec<u8>),
    /// Something in a directory that cannot be sent, for this reason.
    Skipped(String),
    /// Standard input.
    StandardInput,
    /// This number of zero bytes from memory.
    Zeros(u64),
}

/// Connections to use and attributes to keep.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of connections, at least 1; fewer if the receiver has no room for all of them.
    pub streams: u16,
    /// True to keep what the receiver already has of a file, where it agrees.
    pub resume: bool,
    /// True to keep permission bits and modification times.
    pub keep: bool,
}

/// The outcome of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of files that arrived.
    pub files: u64,
    /// Number of files that failed.
    pub failed: u64,
    /// Total size in bytes of the files that arrived.
    pub bytes: u64,
    /// From the start until the last byte was received and until it was stored.
    pub timing: Timing,
    /// CPU time of the sender's threads.
    pub sender_cpu: Duration,
    /// CPU time of the receiver's threads.
    pub receiver_cpu: Duration,
}

impl Source {
    /// True if the bytes can be read a second time.
    pub(super) fn can_be_read_again(&self) -> bool {
        match self {
            Self::Path { path, .. } => path.metadata().is_ok_and(|metadata| metadata.is_file()),
            Self::Beneath { .. } | Self::Zeros(_) => true,
            _ => false,
        }
    }
}

/// Everything in the directory at `path`, and the directory itself, with names that begin with `name`.
/// A directory comes before what lies in it. Links are not followed, except `path` itself. Anything
/// that cannot be sent becomes a [`Source::Skipped`].
pub fn tree(path: &Path, name: &[u8]) -> Result<Vec<Job>> {
    let root = Arc::new(Directory::open(path)?);
    let mut jobs = Vec::new();
    // Not a recursion: a tree may be deeper than a stack.
    let mut directories = vec![(PathBuf::new(), name.to_vec())];
    while let Some((relative, name)) = directories.pop() {
        let job = |source| Job {
            name: name.clone(),
            source,
        };
        let at = path.join(&relative);
        match fs::metadata(&at) {
            Ok(metadata) => jobs.push(job(Source::Directory(Box::new(metadata)))),
            Err(error) => {
                jobs.push(job(Source::Skipped(error.to_string())));
                continue;
            }
        }
        let mut entries = match fs::read_dir(&at).and_then(Iterator::collect::<io::Result<Vec<_>>>)
        {
            Ok(entries) => entries,
            Err(error) => {
                jobs.push(job(Source::Skipped(error.to_string())));
                continue;
            }
        };
        entries.sort_by_key(DirEntry::file_name);
        let below = directories.len();
        for entry in entries {
            let own = entry.file_name();
            let (relative, name) = (
                relative.join(&own),
                [&name, &b"/"[..], own.as_encoded_bytes()].concat(),
            );
            match source(&root, &relative, &entry) {
                Some(source) => jobs.push(Job { name, source }),
                None => directories.push((relative, name)),
            }
        }
        // The first is taken next.
        directories[below..].reverse();
    }
    Ok(jobs)
}

/// The source of an entry; `None` for a directory.
fn source(root: &Arc<Directory>, relative: &Path, entry: &DirEntry) -> Option<Source> {
    let found = entry.metadata().and_then(|metadata| {
        let kind = metadata.file_type();
        Ok(if kind.is_dir() {
            None
        } else if kind.is_file() {
            Some(Source::Beneath {
                root: Arc::clone(root),
                path: relative.to_owned(),
                size: Some(metadata.len()),
            })
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path())?;
            Some(Source::Link(target.into_os_string().into_encoded_bytes()))
        } else {
            let reason = "it is a pipe, a socket or a device: only files, directories and links of a \
                          directory are sent";
            Some(Source::Skipped(reason.into()))
        })
    });
    found.unwrap_or_else(|error| Some(Source::Skipped(error.to_string())))
}
