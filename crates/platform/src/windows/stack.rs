use windows_sys::Win32::System::Threading::GetCurrentThreadStackLimits;

pub fn left_bytes() -> Option<u64> {
    let (mut lowest, mut highest) = (0, 0);
    // SAFETY: there is room for both results.
    unsafe { GetCurrentThreadStackLimits(&raw mut lowest, &raw mut highest) };
    let here = (&raw const lowest).addr();
    Some(here.saturating_sub(lowest) as u64)
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
        assert!((asked_for / 2..=asked_for * 2).contains(&left), "{left}");
    }
}
