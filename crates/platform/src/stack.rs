//! The stack of the calling thread.

pub use crate::os::startup::left_bytes;

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
