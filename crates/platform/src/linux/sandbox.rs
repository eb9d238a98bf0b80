use std::mem::offset_of;

use super::check;
use crate::error::{Error, Result};
use crate::sandbox::Call;

/// The processor's identifier in a filter (`linux/audit.h`).
#[cfg(target_arch = "x86_64")]
const PROCESSOR: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const PROCESSOR: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const PROCESSOR: Option<u32> = None;

/// Forbids `call` for this thread, and for all threads and processes that it starts from now on:
/// the call fails with "operation not permitted". This cannot be undone
/// ([seccomp(2)](https://man7.org/linux/man-pages/man2/seccomp.2.html)).
///
/// Use it to test a program under such a profile.
///
/// # Errors
/// If this kernel has no such filters, or not for this processor.
pub fn forbid(call: Call) -> Result<()> {
    forbid_number(match call {
        Call::EventCounter => libc::SYS_eventfd2,
        Call::CopyRange => libc::SYS_copy_file_range,
    })
}

pub(super) fn forbid_number(number: libc::c_long) -> Result<()> {
    let what = "forbidding calls";
    let Some(processor) = PROCESSOR else {
        return Err(Error::NotSupported(what));
    };
    let mut filter = filter(processor, number as u32);
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    rustix::thread::set_no_new_privs(true).map_err(Error::os("give up new privileges"))?;
    // SAFETY: the program has the given length; the kernel copies and checks it.
    let outcome = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    check(outcome).map_err(Error::os("forbid a call"))
}

/// Allows every system call except `number`.
fn filter(processor: u32, number: u32) -> [libc::sock_filter; 6] {
    let statement = |code, value| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k: value,
    };
    let load = |offset: usize| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32);
    let go_on_if = |value, otherwise| libc::sock_filter {
        jf: otherwise,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value)
    };
    let answer = |value| statement(libc::BPF_RET | libc::BPF_K, value);
    [
        load(offset_of!(libc::seccomp_data, arch)),
        go_on_if(processor, 3),
        load(offset_of!(libc::seccomp_data, nr)),
        go_on_if(number, 1),
        answer(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        answer(libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::event_counter;
    use crate::timer::Timer;

    #[test]
    fn only_what_is_forbidden_fails_and_only_here() {
        let in_a_thread = std::thread::spawn(|| {
            if let Err(error) = forbid(Call::EventCounter) {
                println!("skipped: {error}");
                return;
            }
            let error = event_counter().unwrap_err();
            assert!(error.to_string().contains("not permitted"), "{error}");
            Timer::new().unwrap();
        });
        in_a_thread.join().unwrap();
        event_counter().unwrap();
    }
}
