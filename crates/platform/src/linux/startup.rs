use std::ffi::{CStr, OsStr};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Resource, getrlimit};

static HAD_STANDARD_INPUT: AtomicBool = AtomicBool::new(true);
static HAD_STANDARD_OUTPUT: AtomicBool = AtomicBool::new(true);

/// The loader calls the functions in this section before the standard library starts.
#[used]
// SAFETY: the section holds pointers to functions that are called once, in a process with one
// thread. The function only makes system calls and atomic stores, which are allowed at that time.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    HAD_STANDARD_INPUT.store(
        is_open_for_more_than(libc::STDIN_FILENO, libc::O_WRONLY),
        Ordering::Relaxed,
    );
    HAD_STANDARD_OUTPUT.store(
        is_open_for_more_than(libc::STDOUT_FILENO, libc::O_RDONLY),
        Ordering::Relaxed,
    );
}

fn is_open_for_more_than(descriptor: libc::c_int, access: libc::c_int) -> bool {
    // SAFETY: reading the flags of a descriptor changes nothing, whether it is open or not.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    flags != -1 && flags & libc::O_ACCMODE != access
}

/// True if standard input was open for reading when this process started. Otherwise reads of it end
/// at once, without an error, for the same reason as in [`had_standard_output`].
pub fn had_standard_input() -> bool {
    seen_at_start(&HAD_STANDARD_INPUT)
}

/// True if standard output was open for writing when this process started. Otherwise output is lost
/// without an error: before `main`, the standard library opens `/dev/null` in place of a closed
/// standard stream, and it reports success for writes to a stream that is open for reading only.
pub fn had_standard_output() -> bool {
    seen_at_start(&HAD_STANDARD_OUTPUT)
}

fn seen_at_start(answer: &AtomicBool) -> bool {
    // A linker keeps all of this file's code or none, and this use makes it keep the code.
    std::hint::black_box(&LOOK);
    answer.load(Ordering::Relaxed)
}

/// True if the stack of the main thread may become less than 1 MiB (`ulimit -s`).
pub fn has_small_stack() -> bool {
    const USUAL_BYTES: u64 = 1 << 20;
    let most = getrlimit(Resource::Stack).current;
    most.is_some_and(|most| most < USUAL_BYTES)
}

/// The file of this program, as its first argument names it.
// The path by which the kernel started this program, as the process knows it
// ([getauxval(3)](https://man7.org/linux/man-pages/man3/getauxval.3.html)).
pub(crate) fn started_as() -> Option<PathBuf> {
    // SAFETY: the call only looks a number up.
    let address = unsafe { libc::getauxval(libc::AT_EXECFN) } as usize;
    let text: *const libc::c_char = ptr::with_exposed_provenance(address);
    if text.is_null() {
        return None;
    }
    // SAFETY: the kernel has put a string there, which stays for as long as the process.
    let path = unsafe { CStr::from_ptr(text) };
    std::fs::canonicalize(OsStr::from_bytes(path.to_bytes())).ok()
}

/// Stack space left below the calling thread's current frame, in bytes; `None` if the system does
/// not report it.
// [pthread_getattr_np(3)](https://man7.org/linux/man-pages/man3/pthread_getattr_np.3.html): for
// the main thread it reports the limit of the stack.
pub fn left_bytes() -> Option<u64> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: `attributes` has room for the result, and the thread is running.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return None;
    }
    let (mut lowest, mut len) = (ptr::null_mut(), 0);
    // SAFETY: the attributes were written above; both results have room.
    let outcome =
        unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut len) };
    // SAFETY: the attributes were written above and are not used again.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    let here = (&raw const len).addr();
    let is_within = (lowest.addr()..lowest.addr() + len).contains(&here);
    (outcome == 0 && is_within).then(|| (here - lowest.addr()) as u64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_kernel_knows_the_program_as_well_as_proc_does() {
        let known = std::env::current_exe().unwrap();
        assert_eq!(super::started_as(), Some(known.canonicalize().unwrap()));
    }
}
