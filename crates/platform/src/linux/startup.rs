use std::sync::atomic::{AtomicBool, Ordering};

static HAD_STANDARD_OUTPUT: AtomicBool = AtomicBool::new(true);

/// The loader calls what this section lists before the standard library starts.
#[used]
// SAFETY: the section holds pointers to functions that are called once, in a process that has one
// thread; the function keeps to what is allowed there, which is system calls and atomic stores.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: asking for the flags of a descriptor changes nothing, open or not.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
    let takes_bytes = flags != -1 && flags & libc::O_ACCMODE != libc::O_RDONLY;
    HAD_STANDARD_OUTPUT.store(takes_bytes, Ordering::Relaxed);
}

pub(crate) fn had_standard_output() -> bool {
    // A linker takes this file's code as a whole or not at all, and with this it needs some of it.
    std::hint::black_box(&LOOK);
    HAD_STANDARD_OUTPUT.load(Ordering::Relaxed)
}
