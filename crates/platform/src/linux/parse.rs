//! Reads and parses the text files of `/proc` and `/sys`. Parsers are pure functions over `&str` that never
//! panic, for any text.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

/// The value of the first line `name: value`, as in `/proc/cpuinfo` and `/proc/meminfo`.
pub(super) fn colon_field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

/// The value of the first line `name value`, as in `memory.stat`.
pub(super) fn spaced_field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.trim())
}

/// A value such as `24684084 kB`, in bytes.
pub(super) fn kibibytes(value: &str) -> Option<u64> {
    let kibibytes: u64 = value.strip_suffix("kB")?.trim_end().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

/// The active choice in a text such as `always [madvise] never`. With a single choice, the kernel
/// omits the brackets.
fn selected(text: &str) -> Option<&str> {
    let text = text.trim();
    match text.split_once('[') {
        Some((_, rest)) => rest.split_once(']').map(|(choice, _)| choice),
        None => (!text.is_empty() && !text.contains(char::is_whitespace)).then_some(text),
    }
}

/// A cache size as sysfs prints it, e.g. `48K`, in bytes.
pub(super) fn size_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'K') => (&text[..at], 1 << 10),
        (at, 'M') => (&text[..at], 1 << 20),
        (at, 'G') => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// The numbers in a list such as `0-3,8`, ascending; for a stride such as `0-6:2` every second
/// number. An empty text is an empty list. `None` if the text is not such a list.
///
/// The format is in the kernel's `Documentation/admin-guide/cputopology.rst` and `bitmap_parselist`.
fn cpu_list(text: &str) -> Option<Vec<usize>> {
    /// Far above any machine; prevents a corrupt range from exhausting the memory.
    const LIMIT: usize = 1 << 20;
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (range, stride) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse().ok()?, last.parse::<usize>().ok()?);
        let stride: usize = stride.parse().ok().filter(|stride| *stride > 0)?;
        if last >= LIMIT || first > last {
            return None;
        }
        numbers.extend((first..=last).step_by(stride));
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// The value of `name` in an os-release file, which is written for a shell
/// ([os-release(5)](https://man7.org/linux/man-pages/man5/os-release.5.html)).
pub(super) fn os_release_field(text: &str, name: &str) -> Option<String> {
    let mut words = text.lines().filter_map(shlex::split).flatten();
    let value = words.find_map(|word| Some(word.strip_prefix(name)?.strip_prefix('=')?.to_owned()));
    value.filter(|value| !value.is_empty())
}

/// Bytes backed by huge pages in the mappings that lie entirely within `range`, from the text of
/// `/proc/self/smaps`
/// ([proc_pid_smaps(5)](https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html)).
pub(super) fn huge_bytes_within(text: &str, range: &Range<u64>) -> u64 {
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

/// The owner's user id of the established socket that is bound to `local` and connected to
/// `remote`, and that a process has open
/// ([proc_pid_net(5)](https://man7.org/linux/man-pages/man5/proc_pid_net.5.html)). Sockets that are
/// closed, or not accepted yet, seem to belong to user 0 and have no inode.
pub(super) fn socket_owner(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    const ESTABLISHED: &str = "01";
    let (local, remote) = (written(local), written(remote));
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_it =
            fields.next()? == local && fields.next()? == remote && fields.next()? == ESTABLISHED;
        // Queues, timer, retransmissions, then the user id; timeout, then the inode.
        let user = fields.nth(3).filter(|_| is_it)?.parse().ok()?;
        (fields.nth(1)? != "0").then_some(user)
    })
}

/// An address in the kernel's format: each 32 bits in the processor's byte order.
fn written(address: SocketAddr) -> String {
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("addresses are made of words");
        format!("{:08X}", u32::from_ne_bytes(bytes))
    };
    let words: String = bytes.chunks(4).map(word).collect();
    format!("{words}:{:04X}", address.port())
}

/// True if the namespace knows every user, as the first one does
/// ([user_namespaces(7)](https://man7.org/linux/man-pages/man7/user_namespaces.7.html)).
pub(super) fn maps_all_users(map: &str) -> bool {
    let counts = map.lines().map(|line| {
        let count = line.split_ascii_whitespace().nth(2)?;
        count.parse::<u64>().ok()
    });
    // The last number is no user.
    counts.sum::<Option<u64>>() >= Some(u64::from(u32::MAX))
}

/// True if the features of a virtio device, a text of `0` and `1` from bit 0 on, have bit `bit`. `None` for
/// any other text.
pub(super) fn has_feature(features: &str, bit: usize) -> Option<bool> {
    let features = features.trim();
    let is_known = !features.is_empty() && features.bytes().all(|it| matches!(it, b'0' | b'1'));
    is_known.then(|| features.as_bytes().get(bit) == Some(&b'1'))
}

/// The whole text, trimmed; `None` if it cannot be read.
pub(super) fn text(path: impl AsRef<Path>) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// As [`text`]; also `None` if it is empty.
pub(super) fn word(path: impl AsRef<Path>) -> Option<String> {
    text(path).filter(|text| !text.is_empty())
}

/// The active choice in the text.
pub(super) fn choice(path: impl AsRef<Path>) -> Option<String> {
    selected(&text(path)?).map(str::to_owned)
}

/// The text as a list of numbers.
pub(super) fn cpus_in(path: impl AsRef<Path>) -> Option<Vec<usize>> {
    cpu_list(&text(path)?)
}

/// The text as a number.
pub(super) fn number<T: FromStr>(path: impl AsRef<Path>) -> Option<T> {
    text(path)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

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
    fn meminfo_fields_are_read_in_bytes() {
        let bytes = |name| colon_field(MEMINFO, name).and_then(kibibytes);
        assert_eq!(bytes("MemAvailable"), Some(24_345_116 << 10));
        assert_eq!(bytes("Hugepagesize"), Some(2 << 20));
        assert_eq!(bytes("HugePages_Total"), None);
        assert_eq!(bytes("Mem"), None);
    }

    #[test]
    fn cpuinfo_names_may_contain_spaces() {
        let arm =
            "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(colon_field(arm, "CPU implementer"), Some("0x41"));
        assert_eq!(colon_field(arm, "CPU part"), Some("0xd0c"));
    }

    #[test]
    fn memory_stat_fields_match_whole_names() {
        let stat = "cache 4096\ninactive_file 123\ntotal_inactive_file 456\n";
        assert_eq!(spaced_field(stat, "total_inactive_file"), Some("456"));
        assert_eq!(spaced_field(stat, "inactive_file"), Some("123"));
        assert_eq!(spaced_field(stat, "active_file"), None);
    }

    #[test]
    fn the_choice_in_brackets_is_active() {
        assert_eq!(selected("always [madvise] never\n"), Some("madvise"));
        assert_eq!(selected("[none] mq-deadline kyber"), Some("none"));
        assert_eq!(selected("none\n"), Some("none"));
        assert_eq!(selected(""), None);
        assert_eq!(selected("always never"), None);
        assert_eq!(selected("always [madvise"), None);
    }

    #[test]
    fn only_sizes_are_read_as_sizes() {
        assert_eq!(size_bytes("48K\n"), Some(48 << 10));
        assert_eq!(size_bytes("107520K"), Some(105 << 20));
        assert_eq!(size_bytes("64"), Some(64));
        assert_eq!(size_bytes("1G"), Some(1 << 30));
        for text in ["", "K", "4k", "-1K", "99999999999999999999K", "4.5M"] {
            assert_eq!(size_bytes(text), None, "{text}");
        }
    }

    #[test]
    fn only_lists_are_read_as_lists() {
        assert_eq!(cpu_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(cpu_list("5"), Some(vec![5]));
        assert_eq!(cpu_list("0-6:2,1"), Some(vec![0, 1, 2, 4, 6]));
        assert_eq!(cpu_list("\n"), Some(vec![]));
        for text in ["a", "3-1", "1-", "-1", "1,,2", "0-3:0", "0-99999999999"] {
            assert_eq!(cpu_list(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_list_is_read_as_written(numbers in prop::collection::btree_set(0_usize..5000, 0..50)) {
            let text: Vec<String> = numbers.iter().map(usize::to_string).collect();
            let numbers: Vec<usize> = numbers.into_iter().collect();
            prop_assert_eq!(cpu_list(&text.join(",")), Some(numbers));
        }
    }

    #[test]
    fn values_of_os_release_are_read_without_quotes() {
        let text = r#"PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID='12'
# VERSION=no
VERSION=
ID=debian
ODD="a \"quoted\" \\ \$HOME"
"#;
        let field = |name| os_release_field(text, name);
        assert_eq!(field("NAME").as_deref(), Some("Debian GNU/Linux"));
        assert_eq!(field("VERSION_ID").as_deref(), Some("12"));
        assert_eq!(field("ID").as_deref(), Some("debian"));
        assert_eq!(field("VERSION"), None);
        assert_eq!(field("ODD").as_deref(), Some(r#"a "quoted" \ $HOME"#));
    }

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
    fn huge_pages_count_only_within_the_range() {
        let count = |range| huge_bytes_within(SMAPS, &range);
        assert_eq!(count(0x7f00_0000_0000..0x7f00_0040_0000), 4 << 20);
        assert_eq!(count(0x7f00_0040_0000..0x7f00_0060_0000), (2 << 20) + 2048);
        assert_eq!(count(0..u64::MAX), (6 << 20) + 2048);
        assert_eq!(count(0x7f00_0000_1000..0x7f00_0040_0000), 0);
    }

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1667 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100
   1: 0100007F:D6A2 0100007F:1667 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 20
   2: 0100007F:D6A3 0100007F:1667 06 00000000:00000000 03:00000123 00000000     0        0 0 3 0
   3: 0100007F:D6A4 0100007F:1667 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20
   4: 0100007F:D6A5 0100007F:1667 05 00000000:00000000 00:00000000 00000000  1001        0 4 1 0 20
";
    const TABLE_6: &str = "\
  0: 00000000000000000000000001000000:8AE2 00000000000000000000000001000000:1667 01 \
00000000:00000000 00:00000000 00000000    42        0 3 1 0 20";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_owner_is_found_by_both_addresses() {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        assert_eq!(socket_owner(TABLE, at(0xd6a2), at(0x1667)), Some(1001));
        assert_eq!(socket_owner(TABLE, at(0x1667), at(0xd6a2)), None);
        // Closed, not accepted, and half closed.
        for port in [0xd6a3, 0xd6a4, 0xd6a5] {
            assert_eq!(socket_owner(TABLE, at(port), at(0x1667)), None, "{port:x}");
        }
        let at = |port| SocketAddr::from((Ipv6Addr::LOCALHOST, port));
        assert_eq!(socket_owner(TABLE_6, at(0x8ae2), at(0x1667)), Some(42));
    }

    #[test]
    fn only_the_first_namespace_knows_all_users() {
        assert!(maps_all_users("         0          0 4294967295\n"));
        assert!(maps_all_users("0 0 1000\n1000 1000 4294966295\n"));
        for part in [
            "",
            "0 1000 1\n",
            "0 100000 65536\n",
            "0 0 x\n",
            "0 0\n",
            "0 0 -1\n",
        ] {
            assert!(!maps_all_users(part), "{part}");
        }
    }

    #[test]
    fn a_feature_is_the_bit_of_its_number() {
        assert_eq!(has_feature("01100101000000000000\n", 5), Some(true));
        assert_eq!(has_feature("01000001000000000000\n", 5), Some(false));
        assert_eq!(has_feature("011", 5), Some(false));
        assert_eq!(has_feature("", 5), None);
        assert_eq!(has_feature("0x25", 5), None);
    }

    /// Texts like those of the kernel, with faults.
    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            "([a-z\\[\\]: ]{0,9}[0-9]{0,22} ?(kB)?\\n?){0,5}",
            "[0-9]{0,22}[KMGé]?",
            "[0-9,:-]{0,20}",
            "(A=[\"'\\\\a]{0,6}\\n){0,4}",
            "([0-9a-f]{0,17}-[0-9a-f]{0,17} x\\nAnonHugePages: [0-9]{0,22} kB\\n){0,3}",
            "[01é]{0,130}",
            "([0-9A-F: ]{0,80}\n){0,4}",
            ".{0,40}",
        ]
    }

    proptest! {
        #[test]
        fn no_parser_panics(text in texts(), name in ".{0,5}", bit in any::<usize>()) {
            let _ = colon_field(&text, &name);
            let _ = spaced_field(&text, &name);
            let _ = kibibytes(&text);
            let _ = selected(&text);
            let _ = size_bytes(&text);
            let _ = cpu_list(&text);
            let _ = os_release_field(&text, "A");
            let _ = huge_bytes_within(&text, &(0..u64::MAX));
            let _ = has_feature(&text, bit);
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
            let _ = socket_owner(&text, address, address);
        }
    }
}
