use std::mem::MaybeUninit;
use std::ptr;

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
    use super::left_bytes;

    #[test]
    fn a_thread_has_about_the_stack_it_asked_for() {
        let asked_for = 3 << 20;
        let thread = std::thread::Builder::new().stack_size(asked_for);
        let left = thread.spawn(left_bytes).unwrap().join().unwrap().unwrap();
        let asked_for = asked_for as u64;
        // The C library may reuse the stack of an exited thread, up to four times as large.
        assert!((asked_for / 2..=asked_for * 4).contains(&left), "{left}");
    }
}
