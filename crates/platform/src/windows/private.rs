//! Files and directories that only this user may use.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle};
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::{GENERIC_WRITE, INVALID_HANDLE_VALUE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1, SE_FILE_OBJECT,
    SetNamedSecurityInfoW,
};
use windows_sys::Win32::Security::{
    ACL, ACL_REVISION, DACL_SECURITY_INFORMATION, GetFileSecurityW, GetKernelObjectSecurity,
    GetSecurityDescriptorOwner, InitializeAcl, OWNER_SECURITY_INFORMATION, SECURITY_ATTRIBUTES,
    UNPROTECTED_DACL_SECURITY_INFORMATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    CREATE_NEW, CreateDirectoryW, CreateFileW, FILE_SHARE_READ, GetVolumeInformationByHandleW,
};
use windows_sys::Win32::System::SystemServices::FILE_PERSISTENT_ACLS;
use windows_sys::core::BOOL;

use super::outcome::{check, wide, wide_path};
use super::token;
use crate::error::{Result, refuse};

/// Makes a directory that is closed to other users, and so is all that is made in it.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let only_owner = OnlyOwner::new()?;
    // SAFETY: the path ends with a zero, and the attributes live until the call has returned.
    let outcome =
        unsafe { CreateDirectoryW(wide_path(path).as_ptr(), &raw const only_owner.attributes) };
    check(outcome, "make a directory").map_err(io::Error::from)
}

/// Makes a file that is closed to other users. It fails if the path exists.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    let only_owner = OnlyOwner::new()?;
    // SAFETY: the path ends with a zero, and the attributes live until the call has returned.
    let handle = unsafe {
        CreateFileW(
            wide_path(path).as_ptr(),
            GENERIC_WRITE,
            FILE_SHARE_READ,
            &raw const only_owner.attributes,
            CREATE_NEW,
            0,
            ptr::null_mut(),
        )
    };
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nothing else has it.
    Ok(unsafe { File::from_raw_handle(handle) })
}

/// Gives a file the rights that its directory hands down, as if it had been made there: a file that is moved keeps
/// those of the directory that it was made in. Some file systems know no rights, so an error says little.
pub(super) fn open_to_others(path: &Path) {
    // Words, since the system wants a list aligned.
    const EMPTY_BYTES: usize = size_of::<ACL>();
    let mut none = [0_u32; EMPTY_BYTES / size_of::<u32>()];
    let none = none.as_mut_ptr().cast::<ACL>();
    let path = wide_path(path);
    let parts = DACL_SECURITY_INFORMATION | UNPROTECTED_DACL_SECURITY_INFORMATION;
    // SAFETY: there is room for an empty list, the path ends with a zero, and the other parts are left as they are.
    unsafe {
        if InitializeAcl(none, EMPTY_BYTES as u32, ACL_REVISION) != 0 {
            let (owner, group) = (ptr::null_mut(), ptr::null_mut());
            SetNamedSecurityInfoW(
                path.as_ptr(),
                SE_FILE_OBJECT,
                parts,
                owner,
                group,
                none,
                ptr::null(),
            );
        }
    }
}

/// True if the file or directory belongs to this user.
///
/// # Errors
/// [`Error::NotSupported`] on file systems without owners, such as FAT.
pub(super) fn is_own(file: &File) -> Result<bool> {
    if !knows_owners(file)? {
        return refuse("a file or directory that only one user can write, on this file system");
    }
    is_own_by(|descriptor, bytes, needed| {
        // SAFETY: the buffer has the given length.
        unsafe {
            GetKernelObjectSecurity(
                file.as_raw_handle(),
                OWNER_SECURITY_INFORMATION,
                descriptor,
                bytes,
                needed,
            )
        }
    })
}

fn knows_owners(file: &File) -> Result<bool> {
    let (none, ignored) = (ptr::null_mut(), ptr::null_mut());
    let mut flags = 0;
    // SAFETY: the handle is open, there is room for the flags, and nothing else is asked for.
    let outcome = unsafe {
        GetVolumeInformationByHandleW(
            file.as_raw_handle(),
            none,
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut flags,
            ignored,
            0,
        )
    };
    check(outcome, "ask for the properties of a file system")?;
    Ok(flags & FILE_PERSISTENT_ACLS != 0)
}

/// True if the file or directory at this path belongs to this user.
pub(super) fn is_own_at(path: &Path) -> Result<bool> {
    let path = wide_path(path);
    is_own_by(|descriptor, bytes, needed| {
        // SAFETY: the path ends with a zero, and the buffer has the given length.
        unsafe {
            GetFileSecurityW(
                path.as_ptr(),
                OWNER_SECURITY_INFORMATION,
                descriptor,
                bytes,
                needed,
            )
        }
    })
}

/// True if the owner that `ask` writes is this user. It is given a buffer for a security descriptor, its
/// length in bytes, and room for the length that is needed.
fn is_own_by(ask: impl FnOnce(*mut c_void, u32, *mut u32) -> BOOL) -> Result<bool> {
    const ACTION: &str = "ask for the owner of a file";
    // A descriptor with an owner only is much shorter. Words, since it must be aligned.
    let mut descriptor = [0_u64; 64];
    let bytes = size_of_val(&descriptor) as u32;
    let mut needed = 0;
    let outcome = ask(descriptor.as_mut_ptr().cast(), bytes, &raw mut needed);
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

/// Security attributes by which only this user has access, without any that a directory hands down. It is the owner
/// as well: what an administrator makes would else belong to all administrators.
struct OnlyOwner {
    descriptor: *mut c_void,
    attributes: SECURITY_ATTRIBUTES,
}

impl OnlyOwner {
    fn new() -> io::Result<Self> {
        let user = token::user()?;
        // The owner; protected; allow; files and directories in it too; full access.
        let described = wide(format!("O:{user}D:P(A;OICI;FA;;;{user})"));
        let mut descriptor = ptr::null_mut();
        // SAFETY: the text ends with a zero, there is room for the result, and the size is left out.
        let outcome = unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                described.as_ptr(),
                SDDL_REVISION_1,
                &raw mut descriptor,
                ptr::null_mut(),
            )
        };
        check(outcome, "describe who may use a file")?;
        let attributes = SECURITY_ATTRIBUTES {
            nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
            lpSecurityDescriptor: descriptor,
            bInheritHandle: 0,
        };
        Ok(Self {
            descriptor,
            attributes,
        })
    }
}

impl Drop for OnlyOwner {
    fn drop(&mut self) {
        // SAFETY: the system allocated it, and nothing uses it any more.
        unsafe { LocalFree(self.descriptor) };
    }
}
