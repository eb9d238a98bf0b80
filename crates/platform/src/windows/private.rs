//! Files and directories that only this user may use.

use std::fs::File;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::{io, ptr};

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, GENERIC_WRITE, GetLastError, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
    SE_FILE_OBJECT, SetNamedSecurityInfoW,
};
use windows_sys::Win32::Security::{
    ACL, ACL_REVISION, AdjustTokenPrivileges, DACL_SECURITY_INFORMATION, EqualSid,
    GetKernelObjectSecurity, GetSecurityDescriptorOwner, GetTokenInformation, InitializeAcl,
    IsWellKnownSid, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, OWNER_SECURITY_INFORMATION, PSID,
    SE_INCREASE_QUOTA_NAME, SE_LOCK_MEMORY_NAME, SE_PRIVILEGE_ENABLED, SE_PROF_SINGLE_PROCESS_NAME,
    SECURITY_ATTRIBUTES, TOKEN_ACCESS_MASK, TOKEN_ADJUST_PRIVILEGES, TOKEN_ELEVATION,
    TOKEN_INFORMATION_CLASS, TOKEN_OWNER, TOKEN_PRIVILEGES, TOKEN_QUERY, TOKEN_USER,
    TokenElevation, TokenOwner, TokenUser, UNPROTECTED_DACL_SECURITY_INFORMATION,
    WinBuiltinAdministratorsSid,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, CREATE_NEW, CreateDirectoryW, CreateFileW, FILE_ID_INFO,
    FILE_INFO_BY_HANDLE_CLASS, FILE_SHARE_READ, FILE_STANDARD_INFO, FileIdInfo, FileStandardInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, GetVolumeInformationByHandleW,
};
use windows_sys::Win32::System::SystemServices::FILE_PERSISTENT_ACLS;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};
use windows_sys::core::PCWSTR;

use super::outcome::{check, owned, wide, wide_path};
use crate::error::{Result, refuse};

/// Makes a directory that is closed to other users, and so is all that is made in it.
pub(super) fn create_directory(path: &Path) -> io::Result<()> {
    let only_owner = OnlyOwner::new()?;
    // SAFETY: the path ends with a zero, and the attributes live until the call has returned.
    let outcome = unsafe { CreateDirectoryW(wide_path(path).as_ptr(), &raw const only_owner.0) };
    check(outcome, "make a directory").map_err(io::Error::from)
}

/// Makes a file that is closed to other users. It fails if the path exists.
pub(super) fn create_file(path: &Path) -> io::Result<File> {
    let only_owner = OnlyOwner::new()?;
    // SAFETY: the path ends with a zero, the attributes live until the call has returned, and the handle is new.
    let file = unsafe {
        let file = CreateFileW(
            wide_path(path).as_ptr(),
            GENERIC_WRITE,
            FILE_SHARE_READ,
            &raw const only_owner.0,
            CREATE_NEW,
            0,
            ptr::null_mut(),
        );
        owned(file, "make a file")?
    };
    Ok(file.into())
}

/// Gives a file the rights that its directory hands down, as if it had been made there: a file that is moved keeps
/// those of the directory that it was made in. Some file systems know no rights, so an error means little.
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
    has_own_owner(file)
}

/// As [`is_own`], by what the file system reports, whether it knows owners or not.
pub(super) fn has_own_owner(file: &File) -> Result<bool> {
    const ACTION: &str = "ask for the owner of a file";
    // A descriptor with an owner only is much shorter. Words, since it must be aligned.
    let mut descriptor = [0_u64; 64];
    let mut needed = 0;
    // SAFETY: the handle is open, and the buffer has the given length.
    let outcome = unsafe {
        GetKernelObjectSecurity(
            file.as_raw_handle(),
            OWNER_SECURITY_INFORMATION,
            descriptor.as_mut_ptr().cast(),
            size_of_val(&descriptor) as u32,
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
    Ok(!owner.is_null() && unsafe { is_own_id(owner) }?)
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

/// Security attributes by which only this user has access, without any that a directory hands down. It is the owner
/// as well: what an administrator makes would else belong to all administrators.
struct OnlyOwner(SECURITY_ATTRIBUTES);

impl OnlyOwner {
    fn new() -> io::Result<Self> {
        let user = user()?;
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
        Ok(Self(SECURITY_ATTRIBUTES {
            nLength: size_of::<SECURITY_ATTRIBUTES>() as u32,
            lpSecurityDescriptor: descriptor,
            bInheritHandle: 0,
        }))
    }
}

impl Drop for OnlyOwner {
    fn drop(&mut self) {
        // SAFETY: the system allocated it, and nothing uses it later.
        unsafe { LocalFree(self.0.lpSecurityDescriptor) };
    }
}

/// True if both handles are of the same file.
pub(super) fn is_same(one: &File, other: &File) -> Result<bool> {
    match (long_identity(one), long_identity(other)) {
        (Ok(one), Ok(other)) => Ok(one == other),
        // FAT and some shares have no such identity.
        _ => Ok(short_identity(one)? == short_identity(other)?),
    }
}

/// The volume, and the file within it.
fn long_identity(file: &File) -> Result<(u64, [u8; 16])> {
    // SAFETY: the class has this type.
    let info: FILE_ID_INFO = unsafe { information(file, FileIdInfo) }?;
    Ok((info.VolumeSerialNumber, info.FileId.Identifier))
}

/// The same on any file system; on a large one of `ReFS`, two files may have the same.
fn short_identity(file: &File) -> Result<(u32, u32, u32)> {
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and there is room for the result.
    let outcome = unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut info) };
    check(outcome, "ask for the identity of a file")?;
    Ok((
        info.dwVolumeSerialNumber,
        info.nFileIndexHigh,
        info.nFileIndexLow,
    ))
}

/// The size, the allocation and the number of names of a file.
pub(super) fn standard(file: &File) -> Result<FILE_STANDARD_INFO> {
    // SAFETY: the class has this type.
    unsafe { information(file, FileStandardInfo) }
}

/// An information about an open file.
///
/// # Safety
/// `T` must be the type of the class.
pub(super) unsafe fn information<T: Default>(
    file: &File,
    class: FILE_INFO_BY_HANDLE_CLASS,
) -> Result<T> {
    let mut info = T::default();
    // SAFETY: there is room for the result, as the caller guarantees.
    let outcome = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            class,
            (&raw mut info).cast(),
            size_of::<T>() as u32,
        )
    };
    check(outcome, "ask for the state of a file")?;
    Ok(info)
}

/// True if this process has the rights of an administrator.
pub(super) fn is_elevated() -> Option<bool> {
    // SAFETY: the class has this type.
    let (elevation, _) = unsafe { of_token::<TOKEN_ELEVATION>(TokenElevation) }.ok()?;
    Some(elevation.TokenIsElevated != 0)
}

/// The security identifier of this user, in letters.
pub(super) fn user() -> Result<String> {
    // A revision, an authority and 15 numbers take less.
    const MOST_LETTERS: usize = 200;
    // SAFETY: the class has this type.
    let (user, _identifier) = unsafe { of_token::<TOKEN_USER>(TokenUser) }?;
    let mut letters = ptr::null_mut();
    // SAFETY: the identifier is there, and there is room for the result.
    let outcome = unsafe { ConvertSidToStringSidW(user.User.Sid, &raw mut letters) };
    check(outcome, "ask for the user of this process")?;
    // SAFETY: the system allocated a text that ends with a zero, which is not used again.
    unsafe {
        let len = (0..MOST_LETTERS)
            .take_while(|at| *letters.add(*at) != 0)
            .count();
        let user = String::from_utf16_lossy(std::slice::from_raw_parts(letters, len));
        LocalFree(letters.cast());
        Ok(user)
    }
}

/// True if `owner` is this user, or for the administrators of this machine, who may change all anyway: what
/// this user makes as one of them may belong to all of them.
///
/// # Safety
/// It points to a security identifier.
pub(super) unsafe fn is_own_id(owner: PSID) -> Result<bool> {
    // SAFETY: the class has this type.
    let (user, _user) = unsafe { of_token::<TOKEN_USER>(TokenUser) }?;
    // SAFETY: as above.
    let (new_files, _owner) = unsafe { of_token::<TOKEN_OWNER>(TokenOwner) }?;
    let is_owner = |known: PSID| {
        // SAFETY: the buffers hold these identifiers, and the caller guarantees the other.
        unsafe { EqualSid(known, owner) != 0 }
    };
    // SAFETY: the caller guarantees it.
    let is_administrators = unsafe { IsWellKnownSid(owner, WinBuiltinAdministratorsSid) } != 0;
    Ok(is_owner(user.User.Sid) || is_owner(new_files.Owner) || is_administrators)
}

/// A right that an administrator may give, by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Right(PCWSTR);

/// To lock pages in memory, which large pages need.
pub(super) const LOCK_MEMORY: Right = Right(SE_LOCK_MEMORY_NAME);
/// To change the memory quotas of all processes, which emptying the system's working set needs.
pub(super) const INCREASE_QUOTA: Right = Right(SE_INCREASE_QUOTA_NAME);
/// To profile single processes, which purging the standby list needs.
pub(super) const PROFILE_PROCESS: Right = Right(SE_PROF_SINGLE_PROCESS_NAME);

/// Switches on a right of this process; false if this user does not have it.
pub(super) fn has(right: Right) -> Result<bool> {
    let token = open_token(TOKEN_QUERY | TOKEN_ADJUST_PRIVILEGES)?;
    let mut privilege = LUID_AND_ATTRIBUTES {
        Attributes: SE_PRIVILEGE_ENABLED,
        ..LUID_AND_ATTRIBUTES::default()
    };
    // SAFETY: the name ends with a zero, and there is room for the result.
    let outcome = unsafe { LookupPrivilegeValueW(ptr::null(), right.0, &raw mut privilege.Luid) };
    check(outcome, "look up a right")?;
    let wanted = TOKEN_PRIVILEGES {
        PrivilegeCount: 1,
        Privileges: [privilege],
    };
    // SAFETY: the privileges are only read, and the old ones are not asked for.
    let outcome = unsafe {
        AdjustTokenPrivileges(
            token.as_raw_handle(),
            0,
            &raw const wanted,
            0,
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    check(outcome, "switch on a right")?;
    // The call succeeds even if it switched nothing on.
    // SAFETY: the call has no arguments.
    Ok(unsafe { GetLastError() } == ERROR_SUCCESS)
}

fn open_token(access: TOKEN_ACCESS_MASK) -> Result<OwnedHandle> {
    let mut token = ptr::null_mut();
    // SAFETY: there is room for the result.
    let outcome = unsafe { OpenProcessToken(GetCurrentProcess(), access, &raw mut token) };
    check(outcome, "ask for the rights of this process")?;
    // SAFETY: the handle is new, and nothing else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(token) })
}

/// An information about the rights of this process, and the memory that it may point into.
///
/// # Safety
/// `T` must be the type of the class.
unsafe fn of_token<T>(class: TOKEN_INFORMATION_CLASS) -> Result<(T, Vec<u64>)> {
    let token = open_token(TOKEN_QUERY)?;
    // A security identifier has at most 68 bytes.
    let mut buffer = vec![0_u64; 32];
    let len = size_of_val(&buffer[..]) as u32;
    let mut written = 0;
    // SAFETY: the buffer has the given length.
    let outcome = unsafe {
        GetTokenInformation(
            token.as_raw_handle(),
            class,
            buffer.as_mut_ptr().cast(),
            len,
            &raw mut written,
        )
    };
    check(outcome, "ask for the rights of this process")?;
    // SAFETY: the system wrote such a value, as the caller guarantees, and the buffer is aligned.
    let information = unsafe { buffer.as_ptr().cast::<T>().read() };
    Ok((information, buffer))
}
