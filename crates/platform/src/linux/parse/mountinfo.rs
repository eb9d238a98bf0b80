use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// One line of `/proc/self/mountinfo`
/// ([proc_pid_mountinfo(5)](https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::linux) struct Mount {
    /// Id of the mount.
    pub(in crate::linux) id: u64,
    /// Device number of the files: major, minor.
    pub(in crate::linux) device: (u32, u32),
    /// The mounted part of the file system.
    pub(in crate::linux) root: PathBuf,
    /// Mount point.
    pub(in crate::linux) point: PathBuf,
    /// Options of the mount, then other options of the file system.
    pub(in crate::linux) options: Vec<String>,
    /// Type of the file system.
    pub(in crate::linux) file_system: String,
    /// The mounted device or export; `None` for `none` and for an empty field.
    pub(in crate::linux) source: Option<String>,
}

/// All valid lines, in order: a later mount covers an earlier one.
pub(in crate::linux) fn mounts(text: &str) -> Vec<Mount> {
    text.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    // A dash separates the two halves; the first half may have any number of optional fields.
    let (first, second) = line.split_once(" - ")?;
    let mut first = first.split(' ');
    let id = first.next()?.parse().ok()?;
    let _parent = first.next()?;
    let (major, minor) = first.next()?.split_once(':')?;
    let device = (major.parse().ok()?, minor.parse().ok()?);
    let root = PathBuf::from(OsString::from_vec(unescaped(first.next()?)));
    let point = PathBuf::from(OsString::from_vec(unescaped(first.next()?)));
    let mount_options = first.next()?;

    let mut second = second.split(' ');
    let file_system = text(second.next()?);
    let source = second.next().map(text);
    let file_system_options = second.next().unwrap_or_default();

    let mut options: Vec<String> = Vec::new();
    for option in mount_options
        .split(',')
        .chain(file_system_options.split(','))
    {
        let option = text(option);
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        id,
        device,
        root,
        point,
        options,
        file_system,
        source: source.filter(|source| !source.is_empty() && source != "none"),
    })
}

fn text(escaped: &str) -> String {
    String::from_utf8_lossy(&unescaped(escaped)).into_owned()
}

/// Decodes octal escapes: the kernel writes space, tab, line feed, backslash and number sign as a
/// backslash and three octal digits.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = octal_byte(after).filter(|_| first == b'\\');
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() {
            &after[3..]
        } else {
            after
        };
    }
    bytes
}

/// The byte for three octal digits at the start.
fn octal_byte(text: &[u8]) -> Option<u8> {
    text.get(..3)?.iter().try_fold(0_u8, |byte, digit| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 8)?;
        byte.checked_mul(8)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_a_line_with_optional_fields() {
        let text = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 propagate_from:2 - ext3 /dev/root rw,errors=continue\n";
        assert_eq!(
            mounts(text),
            [Mount {
                id: 36,
                device: (98, 0),
                root: "/mnt1".into(),
                point: "/mnt2".into(),
                options: vec!["rw".into(), "noatime".into(), "errors=continue".into()],
                file_system: "ext3".into(),
                source: Some("/dev/root".into()),
            }]
        );
    }

    #[test]
    fn decodes_octal_escapes() {
        let text = r"40 27 0:50 / /mnt/a\040b\134c\011 rw - fuse.sshfs me@host:/some\040where rw";
        let mounts = mounts(text);
        assert_eq!(mounts[0].point, Path::new("/mnt/a b\\c\t"));
        assert_eq!(mounts[0].source.as_deref(), Some("me@host:/some where"));
        assert_eq!(unescaped(r"\04 \999 \777 \"), br"\04 \999 \777 \");
    }

    #[test]
    fn passes_over_what_is_no_mount() {
        let text = "\n36 35 98 / /a rw - ext3 x rw\n22 27 0:21 / /proc rw - proc none rw\n36 35\n";
        let mounts = mounts(text);
        assert_eq!(mounts.len(), 1);
        assert_eq!(mounts[0].source, None);
    }

    #[test]
    fn reads_this_machine() {
        let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mounts = mounts(&text);
        assert_eq!(mounts.len(), text.lines().count());
    }

    proptest! {
        #[test]
        fn never_panics(
            text in "([0-9]{0,3} [0-9] [0-9:]{0,5} /[a-z\\\\0-9é]{0,6} / rw( [a-z:]{0,3}){0,2} - x( .{0,5}){0,2}\\n){0,3}|.{0,60}"
        ) {
            let _ = mounts(&text);
        }
    }
}
