//! A loop around an operation of the caller, such as a system call.

/// Calls `operation` `times` times, or until it returns false. Returns true if all calls succeeded.
#[inline(never)]
pub fn repeat(times: u64, operation: &mut dyn FnMut() -> bool) -> bool {
    let mut done = 0;
    while done < times {
        if !operation() {
            return false;
        }
        done += 1;
    }
    true
}
