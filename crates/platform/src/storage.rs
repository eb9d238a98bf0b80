//! The file system and the device behind a path.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Result, os};

/// The file system that holds a path, and the device that holds the file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Storage {
    /// Type of the file system, e.g. `ext4`.
    pub file_system: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Options of the mount and of the file system.
    pub mount_options: Vec<String>,
    /// What is mounted, e.g. `/dev/sda1` or `server:/export`.
    pub source: Option<String>,
    /// Whole block device, e.g. `sda` for a file system on `sda1`; `None` for memory and network.
    pub block_device: Option<String>,
    /// Whether that device turns.
    pub rotational: Option<bool>,
    /// Its input/output scheduler, e.g. `mq-deadline`.
    pub scheduler: Option<String>,
    /// How far the kernel reads ahead, in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Smallest unit that the device can address, in bytes.
    pub logical_block_bytes: Option<u64>,
    /// Smallest unit that it writes without reading first, in bytes.
    pub physical_block_bytes: Option<u64>,
    /// Size of the file system, in bytes.
    pub total_bytes: u64,
    /// What an ordinary user can still write, in bytes.
    pub free_bytes: u64,
}

impl Storage {
    /// Finds what holds `path`, which must exist.
    ///
    /// # Errors
    /// If the path cannot be reached or the mount table not be read.
    pub fn behind(path: &Path) -> Result<Self> {
        os::storage::behind(path)
    }

    /// Whether the files are on another machine, judged by the type of the file system.
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
        REMOTE.contains(&self.file_system.as_str())
    }

    /// Whether the files are in memory and nowhere else.
    pub fn is_memory(&self) -> bool {
        matches!(self.file_system.as_str(), "tmpfs" | "ramfs")
    }
}

/// What an ordinary user can still write where `path` lies, in bytes. It takes no mount table, which
/// [`Storage::behind`] needs.
///
/// # Errors
/// If the path cannot be reached.
pub fn free_bytes(path: &Path) -> Result<u64> {
    os::storage::free_bytes(path)
}

/// A file that plays a block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFile {
    /// The file.
    pub path: PathBuf,
    /// Whether it is read and written past the page cache. Where it is not, a read that misses the
    /// page cache of the file system on it may still be answered by that of the one below.
    pub is_direct: bool,
}

impl LoopFile {
    /// The file behind a block device such as `loop0`; `None` for any other device.
    pub fn behind(block_device: &str) -> Option<Self> {
        os::storage::loop_file(block_device)
    }
}
