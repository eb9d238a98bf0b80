use std::fs::{File, Metadata, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::{fs, io};

use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OPEN_REPARSE_POINT;

use super::private;

pub(crate) fn is_own(path: &Path, _metadata: &Metadata) -> bool {
    private::is_own_at(path).unwrap_or(false)
}

/// Also opened for writing, which a lock takes. A link is opened itself, and is no file.
pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)
}

pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_own() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let metadata = file.path().metadata().unwrap();
        assert!(is_own(file.path(), &metadata));
        assert!(!is_own(Path::new("C:\\no such file"), &metadata));
    }
}
