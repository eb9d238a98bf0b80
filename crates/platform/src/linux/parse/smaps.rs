use std::ops::Range;

use super::fields::kibibytes;

/// Bytes backed by huge pages in the mappings that lie entirely within `range`, from the text of
/// `/proc/self/smaps`
/// ([proc_pid_smaps(5)](https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html)).
pub(in crate::linux) fn huge_bytes_within(text: &str, range: &Range<u64>) -> u64 {
    const FIELDS: [&str; 3] = ["AnonHugePages", "ShmemPmdMapped", "FilePmdMapped"];
    let mut inside = false;
    let mut bytes = 0_u64;
    for line in text.lines() {
        if let Some(mapping) = addresses(line) {
            inside = range.start <= mapping.start && mapping.end <= range.end;
        } else if inside
            && let Some((name, value)) = line.split_once(':')
            && FIELDS.contains(&name)
        {
            bytes = bytes.saturating_add(kibibytes(value.trim()).unwrap_or(0));
        }
    }
    bytes
}

/// The address range on a mapping's first line.
fn addresses(line: &str) -> Option<Range<u64>> {
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    Some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
AnonHugePages:      4096 kB
ShmemPmdMapped:        0 kB
VmFlags: rd wr mr mw me ac sd hg
7f0000400000-7f0000600000 rw-p 00000000 00:00 0 [stack: a-b c]
AnonHugePages:      2048 kB
FilePmdMapped:         2 kB
";

    #[test]
    fn counts_only_mappings_within_the_range() {
        let count = |range| huge_bytes_within(SMAPS, &range);
        assert_eq!(count(0x7f00_0000_0000..0x7f00_0040_0000), 4 << 20);
        assert_eq!(count(0x7f00_0040_0000..0x7f00_0060_0000), (2 << 20) + 2048);
        assert_eq!(count(0..u64::MAX), (6 << 20) + 2048);
        assert_eq!(count(0x7f00_0000_1000..0x7f00_0040_0000), 0);
    }

    proptest! {
        #[test]
        fn never_panics(text in "([0-9a-f]{0,17}-[0-9a-f]{0,17} x\\nAnonHugePages: [0-9]{0,22} kB\\n){0,3}|.{0,40}") {
            let _ = huge_bytes_within(&text, &(0..u64::MAX));
        }
    }
}
