//! The rights and the owner of this process.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, GetLastError, LocalFree};
use windows_sys::Win32::Security::Authorization::ConvertSidToStringSidW;
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, EqualSid, GetTokenInformation, IsWellKnownSid, LUID_AND_ATTRIBUTES,
    LookupPrivilegeValueW, PSID, SE_INCREASE_QUOTA_NAME, SE_LOCK_MEMORY_NAME, SE_PRIVILEGE_ENABLED,
    SE_PROF_SINGLE_PROCESS_NAME, TOKEN_ACCESS_MASK, TOKEN_ADJUST_PRIVILEGES, TOKEN_ELEVATION,
    TOKEN_INFORMATION_CLASS, TOKEN_OWNER, TOKEN_PRIVILEGES, TOKEN_QUERY, TOKEN_USER,
    TokenElevation, TokenOwner, TokenUser, WinBuiltinAdministratorsSid,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use windows_sys::core::PCWSTR;

use super::outcome::check;
use crate::Result;

/// True if this process has the rights of an administrator.
pub(super) fn is_elevated() -> Option<bool> {
    let token = open(TOKEN_QUERY).ok()?;
    let information = information(&token, TokenElevation).ok()?;
    // SAFETY: the system wrote such a value, and the buffer is aligned.
    let elevation = unsafe { information.as_ptr().cast::<TOKEN_ELEVATION>().read() };
    Some(elevation.TokenIsElevated != 0)
}

/// The security identifier of this user, in letters.
pub(super) fn user() -> Result<String> {
    // A revision, an authority and 15 numbers take less.
    const MOST_LETTERS: usize = 200;
    let token = open(TOKEN_QUERY)?;
    let user = information(&token, TokenUser)?;
    let mut letters = ptr::null_mut();
    // SAFETY: the system wrote such a value, the buffer is aligned, and there is room for the result.
    let outcome = unsafe {
        let user = user.as_ptr().cast::<TOKEN_USER>().read().User.Sid;
        ConvertSidToStringSidW(user, &raw mut letters)
    };
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

/// True if `owner` stands for this user, or for the administrators of this machine, who may change all anyway: what
/// this user makes as one of them may belong to all of them.
///
/// # Safety
/// It points to a security identifier.
pub(super) unsafe fn is_own(owner: PSID) -> Result<bool> {
    let token = open(TOKEN_QUERY)?;
    let user = information(&token, TokenUser)?;
    let new_files = information(&token, TokenOwner)?;
    // SAFETY: the system wrote such values, and both buffers are aligned.
    let (user, new_files) = unsafe {
        (
            user.as_ptr().cast::<TOKEN_USER>().read().User.Sid,
            new_files.as_ptr().cast::<TOKEN_OWNER>().read().Owner,
        )
    };
    let is_owner = |known: PSID| {
        // SAFETY: the buffers hold these identifiers, and the caller vouches for the other.
        unsafe { EqualSid(known, owner) != 0 }
    };
    // SAFETY: the caller vouches for it.
    let is_administrators = unsafe { IsWellKnownSid(owner, WinBuiltinAdministratorsSid) } != 0;
    Ok(is_owner(user) || is_owner(new_files) || is_administrators)
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
    let token = open(TOKEN_QUERY | TOKEN_ADJUST_PRIVILEGES)?;
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

fn open(access: TOKEN_ACCESS_MASK) -> Result<OwnedHandle> {
    let mut token = ptr::null_mut();
    // SAFETY: there is room for the result.
    let outcome = unsafe { OpenProcessToken(GetCurrentProcess(), access, &raw mut token) };
    check(outcome, "ask for the rights of this process")?;
    // SAFETY: the handle is new, and nothing else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(token) })
}

/// The bytes of an information, aligned for each of them.
fn information(token: &OwnedHandle, class: TOKEN_INFORMATION_CLASS) -> Result<Vec<u64>> {
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
    Ok(buffer)
}
