use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use rustix::fs::{AtFlags, CWD, StatxFlags, major, minor, statvfs, statx};

use super::parse::{choice, number, text};
use crate::error::{Error, Result};
use crate::storage::{LoopFile, Storage};

impl Storage {
    /// Finds the storage of `path`, which must exist.
    pub fn behind(path: &Path) -> Result<Storage> {
        let path = fs::canonicalize(path).map_err(Error::path("find", path))?;
        let device = fs::metadata(&path)
            .map_err(Error::path("look at", &path))?
            .dev();
        let device = (major(device), minor(device));
        let id = mount_id(&path);
        let own = table("/proc/self/mountinfo").map_err(Error::os("read /proc/self/mountinfo"))?;
        let mount = holding(&own, id, device, &path).cloned();
        let mount = mount
            .or_else(|| outside(id))
            .ok_or(Error::NotSupported("finding the mount behind a path"))?;
        let mount = &mount;
        let space = statvfs(&path).map_err(Error::path("ask for the space behind", &path))?;

        let disk = disk(mount);
        let queue = |name: &str| Some(disk.as_ref()?.join("queue").join(name));
        Ok(Storage {
            file_system: mount.file_system.clone(),
            mount_point: mount.point.clone(),
            mount_options: mount.options.clone(),
            source: mount.source.clone(),
            block_device: disk
                .as_ref()
                .and_then(|disk| Some(disk.file_name()?.to_string_lossy().into_owned())),
            rotational: queue("rotational")
                .and_then(number)
                .map(|rotational: u8| rotational != 0),
            scheduler: queue("scheduler").and_then(choice),
            read_ahead_bytes: btrfs(mount)
                .map(|file_system| file_system.join("bdi/read_ahead_kb"))
                .or_else(|| queue("read_ahead_kb"))
                .or_else(|| Some(backing_device(mount)?.join("read_ahead_kb")))
                .and_then(number)
                .map(|kibibytes: u64| kibibytes << 10),
            logical_block_bytes: queue("logical_block_size").and_then(number),
            physical_block_bytes: queue("physical_block_size").and_then(number),
            total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
            free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        })
    }
}

/// Bytes that an ordinary user can still write at `path`. It needs no mount table, unlike
/// [`Storage::behind`].
pub fn free_bytes(path: &Path) -> Result<u64> {
    let space = statvfs(path).map_err(Error::path("ask for the space behind", path))?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

/// The file that backs a block device such as `loop0`; `None` for any other device.
pub fn loop_file(block_device: &str) -> Option<LoopFile> {
    let device = Path::new("/sys/block").join(block_device).join("loop");
    Some(LoopFile {
        path: PathBuf::from(text(device.join("backing_file"))?),
        is_direct: number(device.join("dio")) == Some(1_u8),
    })
}

/// The mount with this id, as the first process sees it: the table of a process has no mount above its root directory,
/// such as that of a `chroot`. Only root may read it.
fn outside(id: Option<u64>) -> Option<Mount> {
    let mut mounts = table("/proc/1/mountinfo").ok()?.into_iter();
    mounts.find(|mount| Some(mount.id) == id)
}

/// The mounts that a process sees.
fn table(mountinfo: &str) -> io::Result<Vec<Mount>> {
    let text = fs::read(mountinfo)?;
    Ok(mounts(&String::from_utf8_lossy(&text)))
}

/// The id of the mount that holds a path; `None` before Linux 5.8.
fn mount_id(path: &Path) -> Option<u64> {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    let known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    known.then_some(found.stx_mnt_id)
}

/// The mount that holds a path. With an id, it is the mount of that id. Otherwise it is one of the
/// mounts whose mount point is a prefix of the path: that with the path's device, the longest mount
/// point and the last place in the table. Some file systems (btrfs, overlayfs) report another
/// device for files than for the mount, so without a match any device is accepted.
fn holding<'m>(
    mounts: &'m [Mount],
    id: Option<u64>,
    device: (u32, u32),
    path: &Path,
) -> Option<&'m Mount> {
    let by_id = mounts.iter().find(|mount| Some(mount.id) == id);
    by_id.or_else(|| {
        mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| (mount.device == device, mount.point.components().count()))
    })
}

/// The sysfs directory of the whole disk that holds a file system.
fn disk(mount: &Mount) -> Option<PathBuf> {
    let device = sysfs_device(mount.device).or_else(|| sysfs_device(source_device(mount)?))?;
    whole(&device).map(Path::to_owned)
}

/// The disk of a partition, or the disk itself.
fn whole(device: &Path) -> Option<&Path> {
    if device.join("partition").exists() {
        device.parent()
    } else {
        Some(device)
    }
}

fn sysfs_device((major, minor): (u32, u32)) -> Option<PathBuf> {
    fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()
}

/// The device number of the block device in the source field.
fn source_device(mount: &Mount) -> Option<(u32, u32)> {
    let source = fs::metadata(mount.source.as_ref()?).ok()?;
    let device = source.rdev();
    source
        .file_type()
        .is_block_device()
        .then_some((major(device), minor(device)))
}

/// The sysfs directory of a btrfs, which has its own read-ahead window.
fn btrfs(mount: &Mount) -> Option<PathBuf> {
    if mount.file_system != "btrfs" {
        return None;
    }
    let device = Path::new(mount.source.as_ref()?).file_name()?;
    let file_systems = fs::read_dir("/sys/fs/btrfs").ok()?;
    let mut paths = file_systems.flatten().map(|entry| entry.path());
    paths.find(|path| path.join("devices").join(device).exists())
}

/// The sysfs directory with the settings of a file system without a disk, such as NFS.
fn backing_device(mount: &Mount) -> Option<PathBuf> {
    let (major, minor) = mount.device;
    let path = PathBuf::from(format!("/sys/class/bdi/{major}:{minor}"));
    path.exists().then_some(path)
}

/// One line of `/proc/self/mountinfo`
/// ([proc_pid_mountinfo(5)](https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Id of the mount.
    pub(super) id: u64,
    /// Device number of the files: major, minor.
    pub(super) device: (u32, u32),
    /// The mounted part of the file system.
    pub(super) root: PathBuf,
    /// Mount point.
    pub(super) point: PathBuf,
    /// Options of the mount, then other options of the file system.
    pub(super) options: Vec<String>,
    /// Type of the file system.
    pub(super) file_system: String,
    /// The mounted device or export; `None` for `none` and for an empty field.
    pub(super) source: Option<String>,
}

/// All valid lines, in order: a later mount covers an earlier one.
pub(super) fn mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    // A dash separates the two halves; the first half may have any number of optional fields.
    let (first, second) = line.split_once(" - ")?;
    let mut first = first.split(' ');
    let id = first.next()?.parse().ok()?;
    let _parent = first.next()?;
    let (major, minor) = first.next()?.split_once(':')?;
    let device = (major.parse().ok()?, minor.parse().ok()?);
    let root = PathBuf::from(OsString::from_vec(unescaped(first.next()?)));
    let point = PathBuf::from(OsString::from_vec(unescaped(first.next()?)));
    let mount_options = first.next()?;

    let mut second = second.split(' ');
    let file_system = unescaped_text(second.next()?);
    let source = second.next().map(unescaped_text);
    let file_system_options = second.next().unwrap_or_default();

    let mut options: Vec<String> = Vec::new();
    for option in mount_options
        .split(',')
        .chain(file_system_options.split(','))
    {
        let option = unescaped_text(option);
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        id,
        device,
        root,
        point,
        options,
        file_system,
        source: source.filter(|source| !source.is_empty() && source != "none"),
    })
}

fn unescaped_text(escaped: &str) -> String {
    String::from_utf8_lossy(&unescaped(escaped)).into_owned()
}

/// Decodes octal escapes: the kernel writes space, tab, line feed, backslash and number sign as a
/// backslash and three octal digits.
fn unescaped(text: &str) -> Vec<u8> {
    let mut pieces = text.split('\\');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let escaped = (piece.get(..3)).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(escaped.unwrap_or(b'\\'));
        bytes.extend(piece.bytes().skip(if escaped.is_some() { 3 } else { 0 }));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TABLE: &str = "\
1 0 8:1 / / rw - ext4 /dev/sda1 rw
2 1 0:30 / /data rw - btrfs /dev/sdb rw
3 1 8:17 / /data/a rw - ext4 /dev/sdb1 rw
4 1 8:33 / /data rw - xfs /dev/sdc1 rw
5 1 0:50 / /database rw - tmpfs tmpfs rw
";

    fn held_by(id: Option<u64>, device: (u32, u32), path: &str) -> u64 {
        let mounts = mounts(TABLE);
        holding(&mounts, id, device, Path::new(path)).unwrap().id
    }

    #[test]
    fn a_mount_is_found_by_number_else_by_device_length_and_order() {
        assert_eq!(held_by(Some(2), (8, 33), "/data/a"), 2);
        // Covered by a later mount over /data.
        assert_eq!(held_by(None, (8, 33), "/data/a"), 4);
        assert_eq!(held_by(None, (8, 17), "/data/a/b"), 3);
        // Only whole path components match.
        assert_eq!(held_by(None, (0, 50), "/database/x"), 5);
        // No mount has this device: the longest mount point wins, then the last.
        assert_eq!(held_by(None, (0, 99), "/data/x"), 4);
        assert_eq!(held_by(None, (0, 99), "/else"), 1);
        // A mount id that is not in the table, or no longer.
        assert_eq!(held_by(Some(77), (8, 1), "/else"), 1);
    }

    #[test]
    fn a_partition_belongs_to_its_disk() {
        let disk = tempfile::tempdir().unwrap();
        let partition = disk.path().join("sda1");
        fs::create_dir(&partition).unwrap();
        fs::write(partition.join("partition"), "1\n").unwrap();
        assert_eq!(whole(&partition), Some(disk.path()));
        assert_eq!(whole(disk.path()), Some(disk.path()));
    }

    #[test]
    fn paths_of_this_machine_have_storage() {
        let root = Storage::behind(Path::new("/")).unwrap();
        assert_eq!(root.mount_point, Path::new("/"));
        assert!(root.total_bytes > 0 && root.free_bytes <= root.total_bytes);
        assert!(!root.mount_options.is_empty());
        let proc = Storage::behind(Path::new("/proc/self/status")).unwrap();
        assert_eq!(proc.file_system, "proc");
        assert_eq!(proc.block_device, None);
        assert!(!proc.is_remote());
        Storage::behind(Path::new("/no such path")).unwrap_err();
    }

    #[test]
    fn the_first_process_knows_mounts_above_a_changed_root_directory() {
        let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
        if namespace("1").is_none_or(|first| Some(first) != namespace("self")) {
            println!("skipped: the mounts of the first process are not those of the tests");
            return;
        }
        let id = mount_id(Path::new("/proc"));
        assert_eq!(outside(id).map(|mount| mount.point), Some("/proc".into()));
        assert_eq!(outside(None), None);
    }

    #[test]
    fn optional_fields_of_a_mount_are_skipped() {
        let text = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2 - ext3 /dev/root rw,errors=continue\n";
        assert_eq!(
            mounts(text),
            [Mount {
                id: 36,
                device: (98, 0),
                root: "/mnt1".into(),
                point: "/mnt2".into(),
                options: vec!["rw".into(), "noatime".into(), "errors=continue".into()],
                file_system: "ext3".into(),
                source: Some("/dev/root".into()),
            }]
        );
    }

    #[test]
    fn octal_escapes_are_decoded() {
        let text = r"40 27 0:50 / /mnt/a\040b\134c\011 rw - fuse.sshfs me@host:/some\040where rw";
        let mounts = mounts(text);
        assert_eq!(mounts[0].point, Path::new("/mnt/a b\\c\t"));
        assert_eq!(mounts[0].source.as_deref(), Some("me@host:/some where"));
        assert_eq!(unescaped(r"\04 \999 \777 \"), br"\04 \999 \777 \");
    }

    #[test]
    fn lines_that_are_no_mounts_are_left_out() {
        let text = "\n36 35 98 / /a rw - ext3 x rw\n22 27 0:21 / /proc rw - proc none rw\n36 35\n";
        let mounts = mounts(text);
        assert_eq!(mounts.len(), 1);
        assert_eq!(mounts[0].source, None);
    }

    #[test]
    fn every_mount_of_this_machine_is_read() {
        let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mounts = mounts(&text);
        assert_eq!(mounts.len(), text.lines().count());
    }

    proptest! {
        #[test]
        fn the_parser_of_mounts_never_panics(
            text in "([0-9]{0,3} [0-9] [0-9:]{0,5} /[a-z\\\\0-9é]{0,6} / rw( [a-z:]{0,3}){0,2} - x( .{0,5}){0,2}\\n){0,3}|.{0,60}"
        ) {
            let _ = mounts(&text);
        }
    }
}
