//! Values of `sysctlbyname`, whose names and sizes are in
//! [sys/sysctl.h](https://github.com/apple-oss-distributions/xnu/blob/xnu-11417.101.15/bsd/sys/sysctl.h).

use std::ffi::{CString, c_void};
use std::ptr;

/// The number with this name, of 32 or 64 bits; `None` if this machine has none.
pub(super) fn number(name: &str) -> Option<u64> {
    let mut bytes = [0; 8];
    read(name, &mut bytes)?;
    // All Macs are little-endian, so a shorter number is followed by zeros.
    Some(u64::from_le_bytes(bytes))
}

/// The text with this name.
pub(super) fn text(name: &str) -> Option<String> {
    let mut bytes = [0; 256];
    let len = read(name, &mut bytes)?;
    let text = bytes[..len].split(|byte| *byte == 0).next()?;
    let text = String::from_utf8_lossy(text).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Writes a value, and returns its length. A value that is longer than `bytes` is refused.
fn read(name: &str, bytes: &mut [u8]) -> Option<usize> {
    let name = CString::new(name).ok()?;
    let mut len = bytes.len();
    let start = bytes.as_mut_ptr().cast::<c_void>();
    // SAFETY: the name ends with a zero, `len` is the room at `start`, and no value is set.
    let outcome =
        unsafe { libc::sysctlbyname(name.as_ptr(), start, &raw mut len, ptr::null_mut(), 0) };
    (outcome == 0).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::{number, text};

    #[test]
    fn numbers_and_texts_have_names() {
        assert!(number("hw.memsize") > Some(1 << 20));
        assert!(number("hw.logicalcpu") > Some(0));
        assert_eq!(text("kern.ostype").as_deref(), Some("Darwin"));
        assert_eq!(number("hw.nothing"), None);
    }
}
