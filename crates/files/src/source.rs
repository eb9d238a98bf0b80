//! A file that is read, what kind of file it is, and whether it stayed as it was.

use crate::{Error, Method, Result};
use instrument::quantity::Bytes;
use platform::block_io::{direct_alignment, read_at};
use platform::file::{
    OpenMode, allocated_bytes, is_socket, open_without_waiting, reopen_read, standard_input,
};
use platform::storage::Storage;
use std::cmp::Ordering;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

/// What is told of the pages of a file at the smallest.
const PAGE_BYTES: u64 = 4096;
/// Direct transfers work in multiples of this on nearly all devices that do not tell.
const USUAL_SECTOR_BYTES: u64 = 4096;

/// A file that is open for reading.
#[derive(Debug)]
pub struct Source {
    file: File,
    path: PathBuf,
    before: Metadata,
}

impl Source {
    /// Opens `path`; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be opened, or is a directory or a socket.
    pub fn open(path: &Path) -> Result<Self> {
        let file = if path == Path::new("-") {
            standard_input()?
        } else {
            // Opening a socket fails with an error that explains nothing.
            if std::fs::metadata(path).is_ok_and(|metadata| is_socket(&metadata)) {
                return Err(Error::Socket(path.to_owned()));
            }
            let (file, _) = open_without_waiting(path).map_err(|source| {
                Error::Platform(platform::Error::Path {
                    action: "open",
                    path: path.to_owned(),
                    source,
                })
            })?;
            file
        };
        Self::of(file, path)
    }

    /// What is open for reading already, as the file at `path`.
    pub(crate) fn of(file: File, path: &Path) -> Result<Self> {
        let before = file.metadata().map_err(Error::io(path, "look at a file"))?;
        if before.is_dir() {
            return Err(Error::Directory(path.to_owned()));
        }
        Ok(Self {
            file,
            path: path.to_owned(),
            before,
        })
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size, if it can be read at offsets up to there. Pipes and devices have none; nor have the
    /// files of /proc and /sys, which say 0 or a page, whatever is in them.
    pub fn size(&self) -> Option<u64> {
        let len = self.before.len();
        let says_little =
            len == 0 || (len <= PAGE_BYTES && allocated_bytes(&self.before) == Some(0));
        (self.before.is_file() && !says_little).then_some(len)
    }

    /// The length of what can be read at offsets.
    ///
    /// # Errors
    /// [`Error::NoOffsets`] if there is none.
    pub(crate) fn required_size(&self) -> Result<u64> {
        match self.size() {
            Some(size) => Ok(size),
            None if self.is_empty()? => Ok(0),
            None => Err(Error::NoOffsets(self.path.clone())),
        }
    }

    /// Whether this is a regular file in which nothing is, which its length alone does not tell: see
    /// [`Source::size`].
    fn is_empty(&self) -> Result<bool> {
        if !self.before.is_file() || self.before.len() > 0 {
            return Ok(false);
        }
        let read = read_at(&self.file, &mut [0], 0).map_err(Error::on(&self.path))?;
        Ok(read == 0)
    }

    /// Another way to the same file, with a position of its own.
    pub(crate) fn reopen(&self, method: Method) -> Result<File> {
        let mode = if method.is_direct() {
            OpenMode::Direct
        } else {
            OpenMode::Plain
        };
        reopen_read(&self.file, &self.path, mode).map_err(Error::on(&self.path))
    }

    /// Makes sure that blocks of this size can be read directly.
    pub(crate) fn ensure_aligned(&self, block_bytes: u64) -> Result<()> {
        let told = direct_alignment(&self.file).map_err(Error::on(&self.path))?;
        let sector = match told {
            Some(alignment) => u64::from(alignment.offset_bytes),
            None => Storage::behind(&self.path)
                .ok()
                .and_then(|storage| storage.logical_block_bytes)
                .unwrap_or(USUAL_SECTOR_BYTES),
        };
        if block_bytes.is_multiple_of(sector) {
            return Ok(());
        }
        Err(Error::Misaligned {
            path: self.path.clone(),
            block: Bytes(block_bytes),
            sector: Bytes(sector),
            suggested: Bytes(block_bytes.next_multiple_of(sector)),
        })
    }

    /// Makes sure that the file is as it was when it was opened.
    ///
    /// # Errors
    /// [`Error::Changed`] if its size or its time of change is another.
    pub fn ensure_unchanged(&self) -> Result<()> {
        if !self.before.is_file() {
            return Ok(());
        }
        let now = self.file.metadata();
        let now = now.map_err(Error::io(&self.path, "look at a file"))?;
        let how = match now.len().cmp(&self.before.len()) {
            Ordering::Less => "cut short",
            Ordering::Greater => "added to",
            // Files that are made as they are read have no time of change.
            Ordering::Equal
                if self.size().is_some() && now.modified().ok() != self.before.modified().ok() =>
            {
                "changed"
            }
            Ordering::Equal => return Ok(()),
        };
        Err(self.changed(how))
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.before.is_file()
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        &self.before
    }

    /// What a copy of this is to be like; a pipe or a device is no model for a file.
    pub(crate) fn model(&self) -> Option<&Metadata> {
        self.is_regular().then_some(&self.before)
    }

    pub(crate) fn changed(&self, how: &'static str) -> Error {
        Error::Changed {
            path: self.path.clone(),
            how,
        }
    }
}
