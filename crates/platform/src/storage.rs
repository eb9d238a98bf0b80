//! The file system and the device behind a path.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::os::storage::{free_bytes, loop_file};

/// The file system that holds a path, and the device that holds the file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// Type of the file system, e.g. `ext4`; on Windows `remote NTFS` if it is on another machine.
    pub file_system: String,
    /// Its mount point.
    pub mount_point: PathBuf,
    /// Options of the mount and of the file system.
    pub mount_options: Vec<String>,
    /// The mounted device or export, e.g. `/dev/sda1` or `server:/export`.
    pub source: Option<String>,
    /// Whole block device, e.g. `sda` for a file system on `sda1`; `None` for memory and network.
    pub block_device: Option<String>,
    /// True for a rotating disk.
    pub rotational: Option<bool>,
    /// Its I/O scheduler, e.g. `mq-deadline`.
    pub scheduler: Option<String>,
    /// The kernel's read-ahead window, in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// The device's smallest addressable unit, in bytes.
    pub logical_block_bytes: Option<u64>,
    /// Its smallest unit for a write without a prior read, in bytes.
    pub physical_block_bytes: Option<u64>,
    /// Size of the file system, in bytes.
    pub total_bytes: u64,
    /// Space that an ordinary user can still write, in bytes.
    pub free_bytes: u64,
}

/// Begins the type of a file system that Windows reaches through a network, e.g. `remote NTFS`.
pub(crate) const REMOTE_PREFIX: &str = "remote ";

impl Storage {
    /// True if the files are on another machine, judged by the type of the file system.
    pub fn is_remote(&self) -> bool {
        const REMOTE: &[&str] = &[
            "9p",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "fuse.beegfs",
            "fuse.ceph",
            "fuse.cephfs",
            "fuse.davfs2",
            "fuse.glusterfs",
            "fuse.rclone",
            "fuse.s3fs",
            "fuse.sshfs",
            "glusterfs",
            "gpfs",
            "lustre",
            "ncpfs",
            "nfs",
            "nfs4",
            "orangefs",
            "pvfs2",
            "smb3",
            "smbfs",
        ];
        REMOTE.contains(&self.file_system.as_str()) || self.file_system.starts_with(REMOTE_PREFIX)
    }

    /// True if the files are only in memory.
    pub fn is_memory(&self) -> bool {
        matches!(self.file_system.as_str(), "tmpfs" | "ramfs")
    }
}

/// A file that backs a loop device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFile {
    /// The file.
    pub path: PathBuf,
    /// True if it is read and written without the page cache. Otherwise, a read that misses the
    /// page cache of the upper file system may still hit that of the lower one.
    pub is_direct: bool,
}
