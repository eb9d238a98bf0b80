//! Texts with one fact per line.

/// The value of the first line `name: value`, as in `/proc/cpuinfo` and `/proc/meminfo`.
pub(in crate::linux) fn colon_field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

/// The value of the first line `name value`, as in `memory.stat`.
pub(in crate::linux) fn spaced_field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.trim())
}

/// A value such as `24684084 kB`, in bytes.
pub(in crate::linux) fn kibibytes(value: &str) -> Option<u64> {
    let kibibytes: u64 = value.strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

/// The active choice in a text such as `always [madvise] never`. With a single choice, the kernel
/// omits the brackets.
pub(in crate::linux) fn selected(text: &str) -> Option<&str> {
    let text = text.trim();
    match text.split_once('[') {
        Some((_, rest)) => rest.split_once(']').map(|(choice, _)| choice),
        None => (!text.is_empty() && !text.contains(char::is_whitespace)).then_some(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MEMINFO: &str = "\
MemTotal:       24684084 kB
MemFree:        23839920 kB
MemAvailable:   24345116 kB
HugePages_Total:       0
Hugepagesize:       2048 kB
";

    #[test]
    fn reads_meminfo() {
        let bytes = |name| colon_field(MEMINFO, name).and_then(kibibytes);
        assert_eq!(bytes("MemAvailable"), Some(24_345_116 << 10));
        assert_eq!(bytes("Hugepagesize"), Some(2 << 20));
        assert_eq!(bytes("HugePages_Total"), None);
        assert_eq!(bytes("Mem"), None);
    }

    #[test]
    fn reads_cpuinfo() {
        let arm =
            "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(colon_field(arm, "CPU implementer"), Some("0x41"));
        assert_eq!(colon_field(arm, "CPU part"), Some("0xd0c"));
    }

    #[test]
    fn reads_memory_stat() {
        let stat = "cache 4096\ninactive_file 123\ntotal_inactive_file 456\n";
        assert_eq!(spaced_field(stat, "total_inactive_file"), Some("456"));
        assert_eq!(spaced_field(stat, "inactive_file"), Some("123"));
        assert_eq!(spaced_field(stat, "active_file"), None);
    }

    #[test]
    fn finds_the_choice_in_force() {
        assert_eq!(selected("always [madvise] never\n"), Some("madvise"));
        assert_eq!(selected("[none] mq-deadline kyber"), Some("none"));
        assert_eq!(selected("none\n"), Some("none"));
        assert_eq!(selected(""), None);
        assert_eq!(selected("always never"), None);
        assert_eq!(selected("always [madvise"), None);
    }

    proptest! {
        #[test]
        fn never_panics(text in "([a-z\\[\\]: ]{0,9}[0-9]{0,22} ?(kB)?\\n?){0,5}|.{0,40}", name in ".{0,5}") {
            let _ = colon_field(&text, &name);
            let _ = spaced_field(&text, &name);
            let _ = kibibytes(&text);
            let _ = selected(&text);
        }
    }
}
