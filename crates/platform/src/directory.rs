//! An open directory and the files directly in it. A file name from an untrusted source can never
//! lead outside the directory.

use std::ffi::OsStr;
use std::fs::File;

use crate::{Result, os};

pub use crate::os::directory::{
    Directory, in_memory, mode, name_from_bytes, spread_subdirectories, umask,
};

impl Directory {
    /// Renames `from` to `to` atomically. Without `replace`, an existing `to` stays and this call
    /// fails with [`std::io::ErrorKind::AlreadyExists`].
    ///
    /// # Errors
    /// If the name is taken, or the file system refuses.
    pub fn rename(&self, from: &OsStr, to: &OsStr, replace: bool) -> Result<()> {
        self.move_to(from, self, to, replace)
    }
}

/// Sets a file's permission bits. Only `0o777` of `mode` count, so that no program ever gains the
/// rights of another user.
pub fn set_mode(file: &File, mode: u32) -> Result<()> {
    os::directory::set_mode(file, mode & 0o777)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::ErrorKind;

    use super::*;
    use crate::block_io::write_at;

    #[test]
    fn a_taken_name_is_replaced_only_on_request() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let (new, old) = (OsStr::new("new"), OsStr::new("old"));
        fs::write(place.path().join(new), "new").unwrap();
        fs::write(place.path().join(old), "old").unwrap();
        let error = directory.rename(new, old, false).unwrap_err();
        assert_eq!(error.kind(), Some(ErrorKind::AlreadyExists));
        assert_eq!(fs::read(place.path().join(old)).unwrap(), b"old");
        directory.rename(new, old, true).unwrap();
        assert_eq!(fs::read(place.path().join(old)).unwrap(), b"new");
        assert!(directory.metadata(new).unwrap().is_none());
        assert!(directory.free_bytes().is_some());
    }

    #[test]
    fn a_name_holds_only_its_own_file() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let (one, other) = (OsStr::new("one"), OsStr::new("other"));
        let file = directory.open_own(one).unwrap();
        directory.open_own(other).unwrap();
        assert!(directory.metadata(one).unwrap().unwrap().is_file());
        assert!(directory.holds(one, &file).unwrap());
        assert!(!directory.holds(other, &file).unwrap());
        drop(file);
        directory.remove(one).unwrap();
        assert!(directory.metadata(one).unwrap().is_none());
        directory.sync().unwrap();
    }

    #[test]
    fn names_lead_nowhere_but_into_the_directory() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::write(place.path().join("secret"), "x").unwrap();
        let directory = Directory::open(&inside).unwrap();
        let absolute = place.path().join("secret");
        for name in [
            OsStr::new("../secret"),
            OsStr::new(".."),
            absolute.as_os_str(),
        ] {
            directory.open_own(name).unwrap_err();
        }
        fs::create_dir(inside.join("folder")).unwrap();
        directory.open_own(OsStr::new("folder")).unwrap_err();
        assert_eq!(fs::read(&absolute).unwrap(), b"x");
    }

    #[test]
    fn a_private_directory_opens_again_and_gives_its_files_away() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let (name, file) = (OsStr::new("private"), OsStr::new("file"));
        drop(directory.open_private(name).unwrap());
        let private = directory.open_private(name).unwrap();
        write_at(&private.open_own(file).unwrap(), b"x", 0).unwrap();
        fs::hard_link(private.path().join(file), place.path().join("second")).unwrap();
        let error = private.open_own(file).unwrap_err();
        assert!(matches!(error, crate::Error::Planted { .. }), "{error}");
        private
            .move_to(file, &directory, "published".as_ref(), false)
            .unwrap();
        assert_eq!(fs::read(place.path().join("published")).unwrap(), b"x");
        drop(private);
        directory.remove_directory(name).unwrap();
    }
}
