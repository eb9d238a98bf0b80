/// A cache size as sysfs prints it, e.g. `48K`, in bytes.
pub(in crate::linux) fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'K') => (&text[..at], 1 << 10),
        (at, 'M') => (&text[..at], 1 << 20),
        (at, 'G') => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_units() {
        assert_eq!(size_bytes("48K\n"), Some(48 << 10));
        assert_eq!(size_bytes("107520K"), Some(105 << 20));
        assert_eq!(size_bytes("64"), Some(64));
        assert_eq!(size_bytes("1G"), Some(1 << 30));
    }

    #[test]
    fn refuses_what_is_no_size() {
        for text in ["", "K", "4k", "-1K", "99999999999999999999K", "4.5M"] {
            assert_eq!(size_bytes(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9]{0,22}[KMGé]?|.{0,20}") {
            let _ = size_bytes(&text);
        }
    }
}
