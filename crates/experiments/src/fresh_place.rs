//! A directory in which a new file is made as if none had been removed nearby.
//!
//! For one to five minutes ext4 does not reuse the inode of a removed file, unless in the same second. It looks
//! for a free inode from the start of the directory's block group and passes over these one by one
//! (`recently_deleted` in
//! [fs/ext4/ialloc.c](https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/tree/fs/ext4/ialloc.c)).
//! So a file costs 10 µs where nothing was removed, and hundreds where some thousand files were, whichever
//! program removed them.

use instrument::experiment::MeasureError;
use platform::directory::spread_subdirectories;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Directories that are tried. Each try removes a file, so more of them would wear the disk out.
const TRIES: u64 = 8;

/// A directory whose new files are cheap. Dropping it removes it with all that is in it.
pub(crate) struct FreshPlace {
    parent: PathBuf,
    path: PathBuf,
}

impl FreshPlace {
    /// Makes `parent`, without what a process that was stopped left in it, and in it several
    /// directories, as far from each other as the file system offers. It keeps the one in which a
    /// file takes the least time to make.
    ///
    /// `seed` is different in each process: ext4 chooses the place of a directory by its name.
    pub(crate) fn find(parent: PathBuf, seed: u64) -> Result<Self, MeasureError> {
        match fs::remove_dir_all(&parent) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(MeasureError::system("remove a directory")(error));
            }
            _ => {}
        }
        fs::create_dir(&parent).map_err(MeasureError::system("make a directory"))?;
        spread_subdirectories(&parent)?;
        let directories = (0..TRIES).map(|number| parent.join(format!("{seed:016x}-{number}")));
        let mut tried = directories
            .map(|path| Ok((time_of_a_file(&path)?, path)))
            .collect::<io::Result<Vec<(Duration, PathBuf)>>>()
            .map_err(MeasureError::system("try a directory"))?;
        tried.sort();
        let mut paths = tried.into_iter().map(|(_, path)| path);
        let path = paths.next().unwrap_or_else(|| parent.clone());
        let mut others = paths.map(fs::remove_dir);
        others
            .try_for_each(|removed| removed)
            .map_err(MeasureError::system("remove a directory"))?;
        Ok(Self { parent, path })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for FreshPlace {
    fn drop(&mut self) {
        // The run removes its scratch directory at its end, with all directories in it.
        drop(fs::remove_dir_all(&self.parent));
    }
}

/// Makes the directory, and returns the time to make a file in it.
fn time_of_a_file(directory: &Path) -> io::Result<Duration> {
    fs::create_dir(directory)?;
    let file = directory.join("file");
    let started = Instant::now();
    File::create_new(&file)?;
    let taken = started.elapsed();
    fs::remove_file(file)?;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::FreshPlace;
    use std::fs;

    #[test]
    fn one_of_the_directories_tried_remains_until_the_end() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let parent = scratch.path().join("places");
        // As a process that was killed may leave it.
        fs::create_dir_all(parent.join("old")).expect("a directory");
        let place = FreshPlace::find(parent.clone(), 7).expect("there is room");
        assert_eq!(fs::read_dir(&parent).expect("it is there").count(), 1);
        assert_eq!(fs::read_dir(place.path()).expect("it is there").count(), 0);
        fs::write(place.path().join("file"), "").expect("a file");
        drop(place);
        assert_eq!(fs::read_dir(scratch.path()).expect("there").count(), 0);
    }
}
