use std::path::{Path, PathBuf};
use std::ptr;

use windows_sys::Win32::Storage::FileSystem::{
    GetDiskFreeSpaceExW, GetDiskFreeSpaceW, GetDriveTypeW, GetVolumeInformationW,
    GetVolumeNameForVolumeMountPointW, GetVolumePathNameW,
};
use windows_sys::Win32::System::WindowsProgramming::DRIVE_REMOTE;

use super::outcome::{check, text, wide, wide_path};
use crate::error::{Error, Result, absent};
use crate::storage::{LoopFile, REMOTE_PREFIX, Storage};

pub fn free_bytes(path: &Path) -> Result<u64> {
    space(path).map(|(free_bytes, _)| free_bytes)
}

impl Storage {
    pub fn behind(path: &Path) -> Result<Storage> {
        let path = std::path::absolute(path)
            .and_then(|path| path.metadata().map(|_| path))
            .map_err(Error::path("find", path))?;
        let mount_point = mount_point(&path)?;
        let (free_bytes, total_bytes) = space(&path)?;
        Ok(Storage {
            file_system: file_system(&mount_point)?,
            source: volume(&mount_point),
            mount_options: Vec::new(),
            block_device: None,
            rotational: None,
            scheduler: None,
            read_ahead_bytes: None,
            logical_block_bytes: sector_bytes(&mount_point),
            physical_block_bytes: None,
            total_bytes,
            free_bytes,
            mount_point,
        })
    }
}

/// Free and total bytes. The call takes directories only: the space behind a file is that behind its directory.
fn space(path: &Path) -> Result<(u64, u64)> {
    let directory = match path.parent() {
        Some(parent) if path.is_file() => parent,
        _ => path,
    };
    // A name without a directory lies in the working directory.
    let directory = match directory.as_os_str() {
        empty if empty.is_empty() => Path::new("."),
        _ => directory,
    };
    let (mut free_bytes, mut total_bytes) = (0, 0);
    // SAFETY: the path ends with a zero, and there is room for both results.
    let outcome = unsafe {
        GetDiskFreeSpaceExW(
            wide_path(directory).as_ptr(),
            &raw mut free_bytes,
            &raw mut total_bytes,
            ptr::null_mut(),
        )
    };
    if outcome == 0 {
        let error = std::io::Error::last_os_error();
        return Err(Error::path("ask for the space behind", path)(error));
    }
    Ok((free_bytes, total_bytes))
}

fn mount_point(path: &Path) -> Result<PathBuf> {
    let mut point = [0; 1024];
    // SAFETY: the path ends with a zero, and the buffer has the given length.
    let outcome = unsafe {
        GetVolumePathNameW(
            wide_path(path).as_ptr(),
            point.as_mut_ptr(),
            point.len() as u32,
        )
    };
    check(outcome, "find the volume behind a path")?;
    Ok(PathBuf::from(text(&point)))
}

fn file_system(mount_point: &Path) -> Result<String> {
    let mut name = [0; 256];
    let mount_point = wide(mount_point);
    // SAFETY: the path ends with a zero, the buffer has the given length, and the other results are
    // not asked for.
    let outcome = unsafe {
        GetVolumeInformationW(
            mount_point.as_ptr(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            name.as_mut_ptr(),
            name.len() as u32,
        )
    };
    check(outcome, "ask for the file system of a volume")?;
    let name = text(&name);
    // SAFETY: the path ends with a zero.
    let is_remote = unsafe { GetDriveTypeW(mount_point.as_ptr()) } == DRIVE_REMOTE;
    Ok(if is_remote {
        format!("{REMOTE_PREFIX}{name}")
    } else {
        name
    })
}

/// The name of a volume that does not change with its letter.
fn volume(mount_point: &Path) -> Option<String> {
    let mut name = [0; 64];
    // SAFETY: the path ends with a zero, and the buffer has the given length.
    let outcome = unsafe {
        GetVolumeNameForVolumeMountPointW(
            wide(mount_point).as_ptr(),
            name.as_mut_ptr(),
            name.len() as u32,
        )
    };
    (outcome != 0).then(|| text(&name))
}

fn sector_bytes(mount_point: &Path) -> Option<u64> {
    let [mut per_cluster, mut bytes, mut free, mut all] = [0; 4];
    // SAFETY: the path ends with a zero, and there is room for the results.
    let outcome = unsafe {
        GetDiskFreeSpaceW(
            wide(mount_point).as_ptr(),
            &raw mut per_cluster,
            &raw mut bytes,
            &raw mut free,
            &raw mut all,
        )
    };
    (outcome != 0).then(|| bytes.into())
}

absent! {
    fn loop_file(&str) -> Option<LoopFile> = None;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_space_of_its_directory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(free_bytes(file.path()).unwrap() > 0);
        let storage = Storage::behind(file.path()).unwrap();
        assert!(!storage.file_system.is_empty());
        assert!(storage.total_bytes > 0 && storage.free_bytes <= storage.total_bytes);
        assert!(file.path().starts_with(&storage.mount_point));
        Storage::behind(Path::new("C:\\no such path")).unwrap_err();
    }
}
