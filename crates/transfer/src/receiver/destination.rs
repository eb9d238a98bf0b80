//! The directory that files arrive in, and the incomplete ones in it.

use super::Failure;
use crate::protocol::{FileName, Kind, PARTIAL_NAME, Part};
use platform::directory::{Directory, name_from_bytes, umask};
use platform::file::{Access, LockedFile};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The directory that files arrive in.
pub(super) struct Destination {
    pub(super) directory: Arc<Directory>,
    /// The permission bits that this process gives to no new file; `None` if the system has none.
    pub(super) umask: Option<u32>,
    /// False while this receiver has found and made no incomplete file that has a name. Looking for
    /// one takes the directory's lock in the kernel, which costs a small file a tenth of its time.
    has_partials: AtomicBool,
}

/// A file that is complete under its name.
pub(super) struct Complete {
    pub(super) file: File,
    /// Its size in bytes.
    pub(super) len: u64,
}

impl Destination {
    pub(super) fn new(directory: Directory) -> Self {
        let of_before = directory.metadata(PARTIAL_NAME.as_ref());
        Self {
            directory: Arc::new(directory),
            umask: umask(),
            has_partials: AtomicBool::new(!matches!(of_before, Ok(None))),
        }
    }

    /// Opens or creates the directory of incomplete files, and one file in it. If other users can
    /// write to that directory, they may have planted something, so it is refused.
    pub(super) fn open_partial(&self, name: &OsStr) -> platform::Result<(Directory, File)> {
        self.has_partials.store(true, Ordering::SeqCst);
        let partials = self.directory.open_private(PARTIAL_NAME.as_ref())?;
        match partials.open_own(name) {
            Ok(file) => Ok((partials, file)),
            Err(error) => {
                // Windows removes no directory that is open.
                drop(partials);
                self.remove_empty_partials();
                Err(error)
            }
        }
    }

    /// The directory that a file of this name lies in, and its name there. No component may be a link:
    /// each is opened without following one, and what is done in the directory then goes through its
    /// descriptor.
    pub(super) fn parent(&self, name: &FileName) -> Result<(Arc<Directory>, OsString), Failure> {
        let mut components = name.components().peekable();
        let mut parent = Arc::clone(&self.directory);
        loop {
            let component = components.next().and_then(name_from_bytes);
            let component = component.ok_or("this system has no such names")?;
            if components.peek().is_none() {
                return Ok((parent, component));
            }
            parent = Arc::new(parent.open_directory(&component)?);
        }
    }

    /// The file that is there already under the name of an announced one, if the sender asks for it and the size is the same.
    pub(super) fn complete(&self, part: &Part) -> Option<Complete> {
        if !part.resume || part.kind != Kind::File {
            return None;
        }
        let (parent, name) = self.parent(&part.name).ok()?;
        let (file, metadata) = parent.open_beneath(Path::new(&name)).ok()?;
        let len = metadata.len();
        (part.size == Some(len)).then_some(Complete { file, len })
    }

    /// Deletes what another attempt left of a file that is now published, unless a connection is
    /// still receiving it. That connection calls this too when it ends.
    pub(super) fn sweep(&self, partial: &OsStr) {
        if !self.has_partials.load(Ordering::SeqCst) {
            return;
        }
        let path = Path::new(PARTIAL_NAME).join(partial);
        if !matches!(self.directory.metadata(path.as_os_str()), Ok(Some(_))) {
            return;
        }
        // A leftover that cannot be removed does no harm.
        let _ = self.open_partial(partial).and_then(|(partials, file)| {
            let file = LockedFile::lock(file, Access::Write)?;
            remove_unless_replaced(&partials, partial, file.file())
        });
        self.remove_empty_partials();
    }

    /// Removes the directory of incomplete files. Fails, as intended, while files are in it.
    pub(super) fn remove_empty_partials(&self) {
        let _ = self.directory.remove_directory(PARTIAL_NAME.as_ref());
    }
}

/// Removes a locked file unless the name now belongs to another one.
pub(super) fn remove_unless_replaced(
    partials: &Directory,
    name: &OsStr,
    file: &File,
) -> platform::Result<()> {
    if partials.holds(name, file)? {
        partials.remove(name)?;
    }
    Ok(())
}
