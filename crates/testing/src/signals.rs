use std::sync::Once;

/// Runs before the `main` of each program that contains this crate. Programs of tests name the crate for this
/// alone if they need nothing else of it: `use testing as _`.
#[cfg(all(target_os = "linux", not(miri)))]
#[used]
// SAFETY: the section holds functions of this type.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn begin() {
        // A wait that no test bounds, such as the end of a thread, ends with the program. The last line of its
        // output names the tests that were still running.
        const LONGEST_PROGRAM_S: u32 = 2 * 60 * 60;
        set_default_signals();
        // SAFETY: it only sets a timer. Processes that this one starts do not inherit it.
        unsafe { libc::alarm(LONGEST_PROGRAM_S) };
    }
    begin
};

/// Gives signals their default effect and blocks none, for this process and for those that it starts.
///
/// Shells start programs in the background with SIGINT and SIGQUIT ignored, and `nohup` with SIGHUP ignored.
/// Programs pass this on to those that they start, which would then not heed Ctrl-C.
pub(crate) fn set_default_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(set);
}

#[cfg(all(unix, not(miri)))]
fn set() {
    // Rust ignores SIGPIPE in this process, and gives it its default effect in those that it starts.
    for signal in [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGALRM,
        libc::SIGCHLD,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ] {
        // SAFETY: it removes no handler: nothing has set one yet.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: zeros are a valid set of signals; the calls empty it, and read it.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

#[cfg(not(all(unix, not(miri))))]
fn set() {}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    #[test]
    fn each_program_of_tests_has_a_time_limit() {
        // SAFETY: it only reads and sets a timer.
        let left_s = unsafe { libc::alarm(0) };
        assert!(left_s > 0);
        // SAFETY: as above.
        unsafe { libc::alarm(left_s) };
    }
}
