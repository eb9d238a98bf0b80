//! Microsoft Defender, which looks through files when programs open them.

use std::ptr;

use windows_sys::Win32::System::Services::{
    CloseServiceHandle, OpenSCManagerW, OpenServiceW, QueryServiceStatus, SC_HANDLE,
    SC_MANAGER_CONNECT, SERVICE_QUERY_STATUS, SERVICE_RUNNING, SERVICE_STATUS,
};

use super::outcome::wide;
use super::registry;

const SERVICE: &str = "WinDefend";
/// The places in which settings and policies switch the protection off.
const REAL_TIME: [&str; 2] = [
    r"SOFTWARE\Microsoft\Windows Defender\Real-Time Protection",
    r"SOFTWARE\Policies\Microsoft\Windows Defender\Real-Time Protection",
];

/// True if Defender runs and its protection in real time is not switched off; `None` where there is no Defender.
/// No rights are needed to ask. Beside another scanner it may run and leave the watching to that one.
pub(super) fn defender_watches() -> Option<bool> {
    let is_off = REAL_TIME
        .iter()
        .any(|key| registry::number(key, "DisableRealtimeMonitoring") == Some(1));
    is_running(SERVICE).map(|runs| runs && !is_off)
}

/// `None` if there is no such service.
fn is_running(service: &str) -> Option<bool> {
    // SAFETY: no name is given, which stands for this machine.
    let manager =
        Handle::new(unsafe { OpenSCManagerW(ptr::null(), ptr::null(), SC_MANAGER_CONNECT) })?;
    let name = wide(service);
    // SAFETY: the handle is open, and the name ends with a zero.
    let service =
        Handle::new(unsafe { OpenServiceW(manager.0, name.as_ptr(), SERVICE_QUERY_STATUS) })?;
    let mut status = SERVICE_STATUS::default();
    // SAFETY: the handle is open, and there is room for the result.
    let is_told = unsafe { QueryServiceStatus(service.0, &raw mut status) } != 0;
    is_told.then_some(status.dwCurrentState == SERVICE_RUNNING)
}

/// An open handle of the service manager or of a service.
struct Handle(SC_HANDLE);

impl Handle {
    fn new(handle: SC_HANDLE) -> Option<Self> {
        (!handle.is_null()).then_some(Self(handle))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and used no more.
        unsafe { CloseServiceHandle(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_runs_or_is_not_there() {
        // Every Windows has it, and Wine as well.
        assert_eq!(is_running("RpcSs").map(drop), Some(()));
        assert_eq!(is_running("oscope has no service"), None);
        println!("Defender watches: {:?}", defender_watches());
    }
}
