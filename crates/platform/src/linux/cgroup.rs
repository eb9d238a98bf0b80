//! The limits from the control groups of this process.

use std::path::{Path, PathBuf};

use super::parse::{number, spaced_field, text};
use super::storage::{Mount, mounts};
use crate::environment::CgroupLimits;
use crate::memory::GroupRoom;

/// Version 1 writes "unlimited" as the largest multiple of a page in i64; no real limit is near it.
const UNLIMITED: u64 = 1 << 62;

pub(super) fn limits() -> CgroupLimits {
    let memory = Hierarchy::of("memory").map(|memory| memory.each(Hierarchy::memory_limit));
    let cpus = Hierarchy::of("cpu").map(|cpu| cpu.each(Hierarchy::cpus));
    CgroupLimits {
        memory_bytes: memory.into_iter().flatten().min(),
        cpus: cpus.into_iter().flatten().min_by(f64::total_cmp),
    }
}

/// The control group of this process that leaves the least memory; `None` if no group has a limit.
pub fn memory_room() -> Option<GroupRoom> {
    let rooms = Hierarchy::of("memory")?.each(Hierarchy::memory_room);
    rooms.into_iter().min_by_key(|room| room.left_bytes)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

impl Version {
    /// The file with a group's memory limit.
    pub(super) fn memory_limit_file(self) -> &'static str {
        match self {
            Self::One => "memory.limit_in_bytes",
            Self::Two => "memory.max",
        }
    }

    /// The file with a group's peak memory.
    pub(super) fn memory_peak_file(self) -> &'static str {
        match self {
            Self::One => "memory.max_usage_in_bytes",
            Self::Two => "memory.peak",
        }
    }
}

/// The hierarchy of a controller.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) version: Version,
    /// The directory of this process's group, then of each parent group.
    pub(super) groups: Vec<PathBuf>,
}

impl Hierarchy {
    pub(super) fn of(controller: &str) -> Option<Self> {
        Self::find(
            controller,
            &text("/proc/self/cgroup")?,
            &text("/proc/self/mountinfo")?,
        )
    }

    /// A controller is in one hierarchy only: in version 1 if that lists it, otherwise in version
    /// 2.
    fn find(controller: &str, memberships: &str, mountinfo: &str) -> Option<Self> {
        let mounts = mounts(mountinfo);
        let named =
            |(controllers, _): &(&str, _)| controllers.split(',').any(|it| it == controller);
        if let Some((_, group)) = self::memberships(memberships).find(named) {
            let mount = mounts.iter().find(|mount| {
                mount.file_system == "cgroup" && mount.options.iter().any(|o| o == controller)
            })?;
            return Some(Self::new(Version::One, group, mount));
        }
        let (_, group) = self::memberships(memberships).find(|(names, _)| names.is_empty())?;
        let mount = mounts.iter().find(|mount| mount.file_system == "cgroup2")?;
        Some(Self::new(Version::Two, group, mount))
    }

    fn new(version: Version, group: &str, mount: &Mount) -> Self {
        let group = Path::new(group);
        // A container may see only a part of the hierarchy, mounted as if it were the whole. A
        // group outside of that part is not accessible, but the part's own root is.
        let inside = group
            .strip_prefix(&mount.root)
            .or_else(|_| group.strip_prefix("/"))
            .ok()
            .filter(|inside| inside.components().all(|part| part.as_os_str() != ".."))
            .unwrap_or(Path::new(""));
        let groups = mount
            .point
            .join(inside)
            .ancestors()
            .take_while(|dir| dir.starts_with(&mount.point))
            .map(Path::to_owned)
            .collect();
        Self { version, groups }
    }

    /// What `of` finds of each group, as far as it is known.
    fn each<T>(&self, of: fn(&Self, &Path) -> Option<T>) -> Vec<T> {
        let groups = self.groups.iter();
        groups.filter_map(|group| of(self, group)).collect()
    }

    fn memory_limit(&self, group: &Path) -> Option<u64> {
        number(group.join(self.version.memory_limit_file())).filter(|limit| *limit < UNLIMITED)
    }

    /// A group's limit less its usage. Inactive page-cache pages do not count as usage, since the kernel reclaims
    /// them first.
    fn memory_room(&self, group: &Path) -> Option<GroupRoom> {
        let (usage, reclaimable) = match self.version {
            Version::One => ("memory.usage_in_bytes", "total_inactive_file"),
            Version::Two => ("memory.current", "inactive_file"),
        };
        let limit_bytes = self.memory_limit(group)?;
        let used: u64 = number(group.join(usage))?;
        let reclaimable: u64 = text(group.join("memory.stat"))
            .and_then(|stat| spaced_field(&stat, reclaimable)?.parse().ok())
            .unwrap_or(0);
        Some(GroupRoom {
            limit_bytes,
            left_bytes: limit_bytes.saturating_sub(used.saturating_sub(reclaimable)),
        })
    }

    fn cpus(&self, group: &Path) -> Option<f64> {
        match self.version {
            Version::One => cpu_quota(
                &text(group.join("cpu.cfs_quota_us"))?,
                &text(group.join("cpu.cfs_period_us"))?,
            ),
            Version::Two => {
                let quota = text(group.join("cpu.max"))?;
                let (quota, period) = quota.split_once(' ')?;
                cpu_quota(quota, period)
            }
        }
    }
}

/// The groups of a process in `/proc/self/cgroup`, one in each hierarchy, as the names of its controllers, none in
/// version 2, and the group's path, which begins with a slash
/// ([cgroups(7)](https://man7.org/linux/man-pages/man7/cgroups.7.html)).
fn memberships(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (_hierarchy, line) = line.split_once(':')?;
        line.split_once(':')
            .filter(|(_, group)| group.starts_with('/'))
    })
}

/// The number of CPUs of a quota of `quota` per `period`; `None` means unlimited, written as `max`
/// (version 2) or −1 (version 1).
fn cpu_quota(quota: &str, period: &str) -> Option<f64> {
    let quota: u64 = quota.trim().parse().ok()?;
    let period: u64 = period.trim().parse().ok().filter(|period| *period > 0)?;
    Some(quota as f64 / period as f64)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    const BOTH: &str = "\
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_controller_of_version_1_goes_before_version_2() {
        let membership = "4:memory:/a/b\n0::/u\n";
        let memory = Hierarchy::find("memory", membership, BOTH).unwrap();
        assert_eq!(memory.version, Version::One);
        assert_eq!(
            memory.groups,
            paths(&[
                "/sys/fs/cgroup/memory/a/b",
                "/sys/fs/cgroup/memory/a",
                "/sys/fs/cgroup/memory",
            ])
        );
        let cpu = Hierarchy::find("cpu", membership, BOTH).unwrap();
        assert_eq!(cpu.version, Version::Two);
        assert_eq!(
            cpu.groups,
            paths(&["/sys/fs/cgroup/unified/u", "/sys/fs/cgroup/unified"])
        );
    }

    #[test]
    fn a_container_sees_its_part_of_the_hierarchy() {
        let part = "35 31 0:32 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        let hierarchy = Hierarchy::find("memory", "0::/docker/1/x\n", part).unwrap();
        assert_eq!(
            hierarchy.groups,
            paths(&["/sys/fs/cgroup/x", "/sys/fs/cgroup"])
        );
        let outside = Hierarchy::find("memory", "0::/../other\n", part).unwrap();
        assert_eq!(outside.groups, paths(&["/sys/fs/cgroup"]));
    }

    #[test]
    fn a_group_leaves_its_limit_less_what_cannot_be_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let hierarchy = Hierarchy {
            version: Version::Two,
            groups: vec![],
        };
        let write = |name, text| fs::write(dir.path().join(name), text).unwrap();
        let room = || hierarchy.memory_room(dir.path());
        write("memory.max", "max\n");
        assert_eq!(room(), None);
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 5\ninactive_file 100\n");
        assert_eq!(room().unwrap().left_bytes, 400);
        write("cpu.max", "150000 100000\n");
        assert_eq!(hierarchy.cpus(dir.path()), Some(1.5));
        write("cpu.max", "150000 0\n");
        assert_eq!(hierarchy.cpus(dir.path()), None);
        write("cpu.max", "max 100000\n");
        assert_eq!(hierarchy.cpus(dir.path()), None);
    }

    #[test]
    fn version_1_is_read_too() {
        let dir = tempfile::tempdir().unwrap();
        let hierarchy = Hierarchy {
            version: Version::One,
            groups: vec![],
        };
        let write = |name, text| fs::write(dir.path().join(name), text).unwrap();
        write("memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(hierarchy.memory_limit(dir.path()), None);
        write("memory.limit_in_bytes", "1000\n");
        write("memory.usage_in_bytes", "1200\n");
        assert_eq!(hierarchy.memory_room(dir.path()).unwrap().left_bytes, 0);
        write("cpu.cfs_quota_us", "-1\n");
        write("cpu.cfs_period_us", "100000\n");
        assert_eq!(hierarchy.cpus(dir.path()), None);
    }

    #[test]
    fn memberships_of_both_versions_are_read() {
        let text = "4:memory:/user/a:b\n2:cpu,cpuacct:/\n0::/user.slice\nbroken\n";
        let read: Vec<_> = memberships(text).collect();
        let expected = [
            ("memory", "/user/a:b"),
            ("cpu,cpuacct", "/"),
            ("", "/user.slice"),
        ];
        assert_eq!(read, expected);
    }

    proptest! {
        #[test]
        fn parsers_of_control_groups_never_panic(text in "([0-9]{0,2}:[a-z,]{0,5}:/?[a-z:]{0,5}\\n){0,4}|.{0,40}") {
            let _ = memberships(&text).count();
            let _ = cpu_quota(&text, &text);
        }
    }
}
