//! An input file, its type, and a check that it did not change.

use crate::{Error, Result};
use choice::Choice;
use platform::block_io::direct_alignment;
use platform::file::{
    OpenMode, believable_size, is_on_disk, is_socket, open_without_waiting, reopen_read,
    standard_input,
};
use platform::storage::Storage;
use std::cmp::Ordering;
use std::fs::{File, Metadata};
use std::io::Seek;
use std::path::{Path, PathBuf};

/// Alignment of direct transfers in bytes on almost all devices that do not report it.
const USUAL_SECTOR_BYTES: u64 = 4096;

const NAMES_OF_STANDARD_INPUT: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// A file open for reading.
#[derive(Debug)]
pub struct Source {
    file: File,
    path: PathBuf,
    /// What the system reported when it was opened; `None` for a device of Windows, which reports nothing.
    before: Option<Metadata>,
    is_regular: bool,
    size: Option<u64>,
}

impl Source {
    /// Opens `path`; `-` means standard input.
    ///
    /// # Errors
    /// If it cannot be opened, or is a directory or a socket.
    pub fn open(path: &Path) -> Result<Self> {
        let file = if path == Path::new("-") {
            standard_input()?
        } else {
            // The names of a standard input that was closed lead to `/dev/null`.
            if NAMES_OF_STANDARD_INPUT
                .iter()
                .any(|name| path == Path::new(name))
            {
                standard_input()?;
            }
            // Opening a socket fails with an unclear error.
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

    /// A source from a file that is open for reading, found at `path`.
    pub(crate) fn of(file: File, path: &Path) -> Result<Self> {
        let is_on_disk = is_on_disk(&file);
        let before = match file.metadata() {
            Ok(before) => Some(before),
            Err(_) if !is_on_disk => None,
            Err(error) => return Err(Error::io(path, "look at a file")(error)),
        };
        if before.as_ref().is_some_and(Metadata::is_dir) {
            return Err(Error::Directory(path.to_owned()));
        }
        let model = before.as_ref().filter(|_| is_on_disk);
        Ok(Self {
            is_regular: model.is_some_and(Metadata::is_file),
            size: model.and_then(|model| believable_size(&file, model)),
            file,
            path: path.to_owned(),
            before,
        })
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its path, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its size, if it supports reads at offsets up to that size. Pipes and devices have no size,
    /// nor have files whose contents appear when they are read, such as those of /proc and /sys.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// The offset at which its contents start: 0, or the position of standard input, of which another
    /// program may have read a part.
    pub(crate) fn origin(&self) -> Result<u64> {
        if self.path != Path::new("-") {
            return Ok(0);
        }
        let mut file = &self.file;
        file.stream_position()
            .map_err(Error::io(&self.path, "read a file"))
    }

    /// Its size, if its contents start at offset 0.
    pub(crate) fn size_from_start(&self) -> Option<u64> {
        self.size
            .filter(|_| self.origin().is_ok_and(|origin| origin == 0))
    }

    /// The size of a file with offsets.
    ///
    /// # Errors
    /// [`Error::NoOffsets`] if it has none.
    pub(crate) fn required_size(&self) -> Result<u64> {
        self.size.ok_or_else(|| Error::NoOffsets(self.path.clone()))
    }

    /// Opens the same file again, with its own position.
    pub(crate) fn reopen(&self, method: Method) -> Result<File> {
        let mode = if method.is_direct() {
            OpenMode::Direct
        } else {
            OpenMode::Plain
        };
        reopen_read(&self.file, &self.path, mode).map_err(Error::on(&self.path))
    }

    /// Checks that direct reads support this block size.
    pub(crate) fn ensure_aligned(&self, block_bytes: u64) -> Result<()> {
        let alignment = direct_alignment(&self.file).map_err(Error::on(&self.path))?;
        let sector = match alignment {
            Some(alignment) => u64::from(alignment.offset_bytes),
            None => Storage::behind(&self.path)
                .ok()
                .and_then(|storage| storage.logical_block_bytes)
                .unwrap_or(USUAL_SECTOR_BYTES),
        };
        Error::ensure_aligned(&self.path, block_bytes, sector)
    }

    /// Checks that the file has not changed since it was opened.
    ///
    /// # Errors
    /// [`Error::Changed`] if its size or its modification time differs.
    pub fn ensure_unchanged(&self) -> Result<()> {
        let Some(before) = self.model() else {
            return Ok(());
        };
        let now = self.file.metadata();
        let now = now.map_err(Error::io(&self.path, "look at a file"))?;
        let how = match now.len().cmp(&before.len()) {
            Ordering::Less => "cut short",
            Ordering::Greater => "added to",
            // Files that the kernel generates on read have no modification time.
            Ordering::Equal
                if self.size().is_some() && now.modified().ok() != before.modified().ok() =>
            {
                "changed"
            }
            Ordering::Equal => return Ok(()),
        };
        Err(self.changed(how))
    }

    pub(crate) fn is_regular(&self) -> bool {
        self.is_regular
    }

    /// The metadata that a copy should get; `None` for a pipe or a device.
    pub(crate) fn model(&self) -> Option<&Metadata> {
        self.before.as_ref().filter(|_| self.is_regular)
    }

    pub(crate) fn changed(&self, how: &'static str) -> Error {
        Error::Changed {
            path: self.path.clone(),
            how,
        }
    }
}

/// A method of reading a file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `read` at the file's current position.
    Read,
    /// `pread`, at an offset.
    Pread,
    /// `fread` of the C library, through the stream's own buffer.
    Stdio,
    /// The file is mapped, block by block.
    Mmap,
    /// `io_uring`, on Windows overlapped reads: several blocks concurrently.
    Uring,
    /// `pread` that bypasses the page cache (`O_DIRECT`).
    Direct,
    /// As [`Uring`](Self::Uring), bypassing the page cache (`O_DIRECT`).
    #[choice("direct-uring")]
    DirectUring,
}

impl Method {
    /// True if it bypasses the page cache.
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::DirectUring)
    }
}
