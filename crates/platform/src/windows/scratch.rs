use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Security::{
    GetFileSecurityW, GetSecurityDescriptorOwner, OWNER_SECURITY_INFORMATION,
};
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OPEN_REPARSE_POINT;

use super::outcome::{check, wide};
use super::token;
use crate::Result;
pub(crate) use crate::scratch::lacking::*;

pub(crate) fn is_own(path: &Path, _metadata: &Metadata) -> bool {
    has_own_owner(path).unwrap_or(false)
}

/// Also opened for writing, which a lock takes. A link is opened itself, and is no file.
pub(crate) fn open_existing(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)
}

fn has_own_owner(path: &Path) -> Result<bool> {
    const ACTION: &str = "ask for the owner of a file";
    let path = wide(path);
    // A descriptor with an owner only is much shorter. Words, since it must be aligned.
    let mut descriptor = [0_u64; 64];
    let len = size_of_val(&descriptor) as u32;
    let mut needed = 0;
    // SAFETY: the path ends with a zero, and the buffer has the given length.
    let outcome = unsafe {
        GetFileSecurityW(
            path.as_ptr(),
            OWNER_SECURITY_INFORMATION,
            descriptor.as_mut_ptr().cast(),
            len,
            &raw mut needed,
        )
    };
    check(outcome, ACTION)?;
    let (mut owner, mut is_default) = (ptr::null_mut(), 0);
    // SAFETY: the system wrote a descriptor, and there is room for both results.
    let outcome = unsafe {
        GetSecurityDescriptorOwner(
            descriptor.as_mut_ptr().cast(),
            &raw mut owner,
            &raw mut is_default,
        )
    };
    check(outcome, ACTION)?;
    // SAFETY: the identifier lies in the descriptor.
    Ok(!owner.is_null() && unsafe { token::is_own(owner) }?)
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
