use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::process::{Pid, Signal, kill_process};

use super::unless_missing;
use crate::error::{Error, Result};
use crate::linux::cgroup::{Hierarchy, Version};
use crate::linux::parse::{number, text};

/// The record's name in a scratch directory.
pub(super) const RECORD: &str = "memory-group";
const PREFIX: &str = "oscope-";
/// Pause between two checks of a group that is in use.
const PAUSE: Duration = Duration::from_millis(10);

/// A control group that limits the total memory of its processes
/// ([cgroups(7)](https://man7.org/linux/man-pages/man7/cgroups.7.html), version 1 or 2). A worker
/// enters it before its program starts ([`crate::process::WorkerOptions`]). Dropping it kills all
/// processes in it and removes it.
#[derive(Debug)]
pub struct MemoryGroup {
    scratch: PathBuf,
    exit_wait: Duration,
    recorded: Recorded,
    version: Version,
    processes: File,
}

/// Contents of a group's record: a line with its path, and a second line if its parent had to
/// enable the memory controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    path: PathBuf,
    controller_was_off: bool,
}

impl MemoryGroup {
    /// Creates a group. Each scratch directory can have one at a time. Its removal kills its
    /// processes, and gives up if they have not left the group after `exit_wait`. The limit
    /// reserves no memory, and may exceed the available memory.
    ///
    /// # Errors
    /// [`crate::Error::NotPermitted`] without the right; [`crate::Error::NotSupported`] if no
    /// memory controller is accessible.
    pub fn create(limit_bytes: u64, scratch: &Path, exit_wait: Duration) -> Result<Self> {
        let parent = Parent::find()?;
        // The system seeds a new `RandomState`.
        let random = RandomState::new().hash_one(std::process::id());
        let recorded = Recorded {
            path: parent.path.join(format!("{PREFIX}{random:016x}")),
            controller_was_off: parent.controller_is_off,
        };
        recorded.write(scratch)?;
        let made = recorded.make(parent.version, limit_bytes);
        match made {
            Ok(processes) => Ok(Self {
                scratch: scratch.to_owned(),
                exit_wait,
                recorded,
                version: parent.version,
                processes,
            }),
            Err(error) => {
                // The first error is the one to report.
                let _ = recorded.remove(scratch, exit_wait);
                Err(error)
            }
        }
    }

    /// Forbids swap for the group: if its memory does not fit within the limit, one of its
    /// processes is killed.
    pub fn forbid_swap(&self) -> Result<()> {
        // A kernel without swap has no such file.
        self.recorded.set_if_there(
            match self.version {
                Version::One => "memory.swappiness",
                Version::Two => "memory.swap.max",
            },
            "0",
        )
    }

    /// The group's peak memory so far, in bytes, page cache included; `None` if the kernel does not
    /// report it (version 2 before Linux 5.19).
    pub fn peak_bytes(&self) -> Option<u64> {
        number(self.recorded.path.join(self.version.memory_peak_file()))
    }

    /// The file to which a process writes `0` to enter the group.
    pub(crate) fn entrance(&self) -> io::Result<OwnedFd> {
        self.processes.try_clone().map(OwnedFd::from)
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        // The removal of the scratch directory undoes the rest.
        let _ = self.recorded.empty(self.exit_wait);
        let _ = self.recorded.remove(&self.scratch, self.exit_wait);
    }
}

/// True if [`MemoryGroup::create`] will probably work here.
pub fn can_limit_memory() -> bool {
    Parent::find().is_ok()
}

/// The group recorded in a scratch directory.
pub(super) fn recorded(scratch: &Path) -> Result<Option<Recorded>> {
    let path = scratch.join(RECORD);
    match fs::read(&path) {
        Ok(record) => Ok(Recorded::parse(&record)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::path("read", &path)(error)),
    }
}

impl Recorded {
    /// `None` if this program did not write it.
    fn parse(record: &[u8]) -> Option<Self> {
        let mut lines = record.split(|byte| *byte == b'\n');
        let path = Path::new(OsStr::from_bytes(lines.next()?));
        let name = path.file_name()?.as_bytes();
        (path.is_absolute() && name.starts_with(PREFIX.as_bytes())).then(|| Self {
            controller_was_off: lines.next().is_some_and(|line| !line.is_empty()),
            path: path.to_owned(),
        })
    }

    /// Writes the record atomically: it is complete or absent, even if this process is killed.
    fn write(&self, scratch: &Path) -> Result<()> {
        let path = scratch.join(RECORD);
        let unfinished = scratch.join("memory-group.new");
        let mut record = self.path.as_os_str().as_bytes().to_vec();
        if self.controller_was_off {
            record.extend(b"\ncontroller was off");
        }
        fs::write(&unfinished, record)
            .and_then(|()| fs::rename(&unfinished, &path))
            .map_err(Error::path("write", &path))
    }

    fn make(&self, version: Version, limit_bytes: u64) -> Result<File> {
        if self.controller_was_off {
            self.set_controller("+memory")?;
        }
        fs::create_dir(&self.path).map_err(Error::path("make the control group", &self.path))?;
        let limit = self.path.join(version.memory_limit_file());
        fs::write(&limit, limit_bytes.to_string()).map_err(Error::path("set", &limit))?;
        let processes = self.path.join("cgroup.procs");
        OpenOptions::new()
            .write(true)
            .open(&processes)
            .map_err(Error::path("open", &processes))
    }

    /// Kills all processes in it, waits until they are gone, and raises the limit, so that their
    /// swapped pages can be read back.
    pub(super) fn empty(&self, exit_wait: Duration) -> Result<()> {
        retry(exit_wait, || {
            let processes = text(self.path.join("cgroup.procs")).unwrap_or_default();
            let pids = processes.lines().filter_map(|line| line.parse().ok());
            let mut is_empty = true;
            for pid in pids.filter_map(Pid::from_raw) {
                is_empty = false;
                // The process may have exited in the meantime.
                let _ = kill_process(pid, Signal::KILL);
            }
            if is_empty {
                Ok(())
            } else {
                Err(ErrorKind::ResourceBusy.into())
            }
        })
        .map_err(Error::path("empty the control group", &self.path))?;
        for (version, unlimited) in [(Version::One, "-1"), (Version::Two, "max")] {
            self.set_if_there(version.memory_limit_file(), unlimited)?;
        }
        Ok(())
    }

    fn set_if_there(&self, name: &str, value: &str) -> Result<()> {
        let path = self.path.join(name);
        let file = OpenOptions::new().write(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(value.as_bytes()));
        unless_missing(written).map_err(Error::path("set", &path))
    }

    /// Removes the group, then its record.
    pub(super) fn remove(&self, scratch: &Path, exit_wait: Duration) -> Result<()> {
        // After a reboot neither exists, and another program may use the controller.
        let found = self.path.try_exists();
        if found.map_err(Error::path("look at", &self.path))? {
            retry(exit_wait, || unless_missing(fs::remove_dir(&self.path)))
                .map_err(Error::path("remove the control group", &self.path))?;
            if self.controller_was_off {
                self.set_controller("-memory")?;
            }
        }
        let record = scratch.join(RECORD);
        unless_missing(fs::remove_file(&record)).map_err(Error::path("remove", &record))
    }

    /// Enables or disables the memory controller for the groups of the parent.
    fn set_controller(&self, change: &str) -> Result<()> {
        let control = self.path.with_file_name(SUBTREE_CONTROL);
        fs::write(&control, change).map_err(Error::path("change", &control))
    }
}

/// The version 2 file with the controllers that a group enables for its child groups.
const SUBTREE_CONTROL: &str = "cgroup.subtree_control";

/// The parent for a new group.
struct Parent {
    version: Version,
    path: PathBuf,
    controller_is_off: bool,
}

impl Parent {
    fn find() -> Result<Self> {
        let hierarchy =
            Hierarchy::of("memory").ok_or(Error::NotSupported("limiting the memory of a group"))?;
        let parent = Self::within(&hierarchy).ok_or(Error::NotSupported(
            "a memory controller for groups of this process's own",
        ))?;
        let rights = Access::WRITE_OK | Access::EXEC_OK;
        accessat(CWD, &parent.path, rights, AtFlags::EACCESS).map_err(|_| Error::NotPermitted {
            what: "limiting the memory of a worker",
            needs: "root, or a control group that this user may write to",
        })?;
        Ok(parent)
    }

    /// In version 1: this process's own group. In version 2: the nearest parent group that enables
    /// the memory controller for its children, since a group with processes in it cannot do so,
    /// except for the root.
    fn within(hierarchy: &Hierarchy) -> Option<Self> {
        let Hierarchy { version, groups } = hierarchy;
        let names_memory = |group: &Path, file: &str| {
            text(group.join(file)).is_some_and(|names| names.split(' ').any(|n| n == "memory"))
        };
        let giving = match version {
            Version::One => groups.first(),
            Version::Two => groups
                .iter()
                .find(|group| names_memory(group, SUBTREE_CONTROL)),
        };
        // Only the root group has no type.
        let is_root = |group: &Path| !group.join("cgroup.type").exists();
        let could_give =
            |group: &&PathBuf| is_root(group) && names_memory(group, "cgroup.controllers");
        let path = giving.or_else(|| groups.last().filter(could_give))?;
        Some(Self {
            version: *version,
            path: path.clone(),
            controller_is_off: giving.is_none(),
        })
    }
}

/// Repeats an action for up to `wait` while the group is in use.
fn retry(wait: Duration, mut action: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let end = Instant::now() + wait;
    loop {
        match action() {
            Err(error) if error.kind() == ErrorKind::ResourceBusy && Instant::now() < end => {
                std::thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::confinement::undo;
    use crate::memory::available_bytes;
    use proptest::prelude::*;

    const EXIT_WAIT: Duration = Duration::from_secs(5);

    fn hierarchy(version: Version, groups: &[&Path]) -> Hierarchy {
        let groups = groups.iter().map(|group| group.to_path_buf()).collect();
        Hierarchy { version, groups }
    }

    fn limit(group: &MemoryGroup) -> Option<String> {
        text(group.recorded.path.join(group.version.memory_limit_file()))
    }

    #[test]
    fn a_group_limits_while_it_lives_and_can_be_undone_after_it_was_forgotten() {
        let scratch = tempfile::tempdir().unwrap();
        let group = match MemoryGroup::create(64 << 20, scratch.path(), EXIT_WAIT) {
            Ok(group) => group,
            Err(error) => {
                assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
                return println!("skipped: {error}");
            }
        };
        let path = group.recorded.path.clone();
        assert_eq!(limit(&group).as_deref(), Some("67108864"));
        group.forbid_swap().unwrap();
        assert!(group.peak_bytes().is_none_or(|peak| peak <= 64 << 20));
        drop(group);
        assert!(!path.exists() && recorded(scratch.path()).unwrap().is_none());

        let forgotten = MemoryGroup::create(64 << 20, scratch.path(), EXIT_WAIT).unwrap();
        let path = forgotten.recorded.path.clone();
        std::mem::forget(forgotten);
        assert!(path.exists());
        undo(scratch.path(), EXIT_WAIT).unwrap();
        assert!(!path.exists() && recorded(scratch.path()).unwrap().is_none());
        undo(scratch.path(), EXIT_WAIT).unwrap();
    }

    #[test]
    fn a_limit_may_exceed_the_available_memory() {
        let scratch = tempfile::tempdir().unwrap();
        let available_mib = available_bytes().unwrap() >> 20;
        let limit_bytes = (2 * available_mib) << 20;
        match MemoryGroup::create(limit_bytes, scratch.path(), EXIT_WAIT) {
            Ok(group) => assert_eq!(limit(&group), Some(limit_bytes.to_string())),
            Err(error) => {
                assert!(error.is_unavailable(), "{error}");
                println!("skipped: {error}");
            }
        }
    }

    #[test]
    fn version_2_takes_the_nearest_group_that_gives_memory() {
        let root = tempfile::tempdir().unwrap();
        let (outer, own) = (root.path().join("a"), root.path().join("a/b"));
        fs::create_dir_all(&own).unwrap();
        for group in [&outer, &own] {
            fs::write(group.join("cgroup.type"), "domain\n").unwrap();
            fs::write(group.join(SUBTREE_CONTROL), "\n").unwrap();
        }
        let hierarchy = hierarchy(Version::Two, &[&own, &outer, root.path()]);
        assert!(Parent::within(&hierarchy).is_none());
        fs::write(root.path().join("cgroup.controllers"), "cpu memory\n").unwrap();
        let parent = Parent::within(&hierarchy).unwrap();
        assert!(parent.controller_is_off && parent.path == root.path());
        fs::write(outer.join(SUBTREE_CONTROL), "cpu memory\n").unwrap();
        let parent = Parent::within(&hierarchy).unwrap();
        assert!(!parent.controller_is_off && parent.path == outer);
    }

    proptest! {
        #[test]
        fn a_record_is_read_as_written(name in "[^\\n/\\x00]{0,20}", controller_was_off: bool) {
            let scratch = tempfile::tempdir().unwrap();
            let path = Path::new("/sys/fs").join(format!("{PREFIX}{name}"));
            let written = Recorded { path, controller_was_off };
            written.write(scratch.path()).unwrap();
            prop_assert_eq!(recorded(scratch.path()).unwrap(), Some(written));
        }

        #[test]
        fn a_record_of_somebody_else_is_ignored(record in prop::collection::vec(any::<u8>(), 0..60)) {
            let parsed = Recorded::parse(&record);
            prop_assert!(parsed.is_none() || record.starts_with(b"/"));
        }
    }
}
