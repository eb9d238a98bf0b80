//! The files of a directory and of all directories below it.

use super::job::{Job, Source};
use crate::error::Result;
use platform::directory::Directory;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything in the directory at `path`, and the directory itself, with names that begin with `name`.
/// A directory comes before what lies in it. Links are not followed, except `path` itself. Anything
/// that cannot be sent becomes a [`Source::Skipped`].
///
/// # Errors
/// If there is no such directory, or it cannot be opened.
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
