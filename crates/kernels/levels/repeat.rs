//! A loop around something that the caller gives, such as a system call.

/// Does `operation` so many times, or until it says that it failed; whether all went well.
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
