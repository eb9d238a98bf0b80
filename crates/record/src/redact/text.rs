//! Redaction of free text: only words that are known to name nobody stay.

use super::mark::{Kind, Redactor};
use super::words::is_known;
use std::net::{IpAddr, SocketAddr};

/// The kinds of unknown words that may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Numbers, alone or attached to a known word.
    Prose,
    /// Also short model numbers and versions: `8488C`, `E5-2690`, `1.95.0`.
    Model,
}

/// Maximum digits of a number that stays. Serial numbers are longer.
const MAX_DIGITS: usize = 7;
/// Maximum characters of a model number that stays.
const MAX_MODEL: usize = 10;
/// Mount options that identify a user.
const OWNERS: &[&str] = &[
    "backupuid",
    "cruid",
    "domain",
    "fsgid",
    "fsuid",
    "gid",
    "group_id",
    "pass",
    "password",
    "resgid",
    "resuid",
    "uid",
    "user",
    "user_id",
    "username",
];

impl Redactor {
    /// `text` with a mark in place of each word, between spaces, that may name somebody or
    /// something.
    pub(super) fn text(&self, text: &str, shape: Shape) -> String {
        text.split_inclusive(char::is_whitespace)
            .map(|piece| {
                let end = piece.trim_end_matches(char::is_whitespace).len();
                let (token, space) = piece.split_at(end);
                self.token(token, shape) + space
            })
            .collect()
    }

    /// The same for each of these texts.
    pub(super) fn keep<'t>(&self, shape: Shape, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            *text = self.text(text, shape);
        }
    }

    fn token(&self, token: &str, shape: Shape) -> String {
        if !token.contains(char::is_alphanumeric) {
            return token.to_owned();
        }
        if token.parse::<SocketAddr>().is_ok() {
            return self.mark(Kind::Address, token);
        }
        let inside = token.trim_matches(is_punctuation);
        let (before, after) = token.split_once(inside).unwrap_or_default();
        format!("{before}{}{after}", self.inside(inside, shape))
    }

    /// A word without the punctuation around it.
    fn inside(&self, text: &str, shape: Shape) -> String {
        if let Some((name, value)) = text.split_once('=') {
            if OWNERS.contains(&name) {
                return format!("{name}={}", self.mark(Kind::Name, value));
            }
            if is_public(name, Shape::Prose) {
                return format!("{name}={}", self.token(value, shape));
            }
        }
        if is_address(text) {
            return self.mark(Kind::Address, text);
        }
        if text.contains(['/', '\\']) || text.starts_with('~') {
            return if is_public_path(text, shape) {
                text.to_owned()
            } else {
                self.mark(Kind::Path, text)
            };
        }
        let is_joint = |c: char| matches!(c, ',' | ';' | '|' | '+' | '(' | ')' | ':' | '→' | '–');
        if text.contains(is_joint) {
            let pieces = text.split_inclusive(is_joint);
            return pieces
                .map(|piece| match piece.strip_suffix(is_joint) {
                    Some(word) => self.token(word, shape) + &piece[word.len()..],
                    None => self.token(piece, shape),
                })
                .collect();
        }
        if is_public(text, shape) {
            text.to_owned()
        } else {
            self.mark(Kind::Word, text)
        }
    }
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '/' | '\\' | '~' | '%')
}

/// True if each part of `text`, between hyphens, dots and similar characters, may stay.
pub(super) fn is_public(text: &str, shape: Shape) -> bool {
    let is_joint = |c: char| c.is_ascii_punctuation() || "×±≈≤≥’·".contains(c);
    text.split(is_joint).all(|atom| is_atom_public(atom, shape))
}

/// True if a sequence of only letters and digits may stay.
fn is_atom_public(atom: &str, shape: Shape) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let digits = atom.chars().filter(|c| is_digit(*c)).count();
    let from_digits = atom.trim_start_matches(is_digit);
    let from_letters = atom.trim_end_matches(is_digit);
    if atom.is_empty() || is_known(atom) {
        return true;
    }
    let is_number = digits <= MAX_DIGITS
        && (from_digits.is_empty()
            || digits + from_digits.len() == atom.len() && is_known(from_digits));
    let is_numbered = is_known(from_letters) && digits <= 3;
    let is_model = digits > 0 && digits < atom.len() && atom.len() <= MAX_MODEL && atom.is_ascii();
    is_number || is_numbered || shape == Shape::Model && is_model
}

/// True for paths that every system has, and for texts with a slash that are no paths, such as
/// `bytes/s`.
fn is_public_path(text: &str, shape: Shape) -> bool {
    let is_of_kernel = ["/proc/", "/sys/", "/dev/"]
        .iter()
        .any(|root| text.starts_with(root));
    let is_no_path = !text.starts_with(['/', '~']) && !text.contains('\\');
    (is_of_kernel || is_no_path) && text.split('/').all(|part| is_public(part, shape))
}

/// True for addresses of networks and network cards, `HOST:PORT` and `USER@HOST`.
fn is_address(text: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|c| c.is_ascii_digit());
    let has_port = || {
        text.rsplit_once(':')
            .is_some_and(|(host, port)| is_port(port) && host.contains(char::is_alphabetic))
    };
    let is_card = || {
        let groups: Vec<&str> = text.split([':', '-']).collect();
        let is_group =
            |group: &&str| group.len() == 2 && group.bytes().all(|c| c.is_ascii_hexdigit());
        groups.len() >= 6 && groups.iter().all(is_group)
    };
    let host = text.split(['/', '%']).next().unwrap_or(text);
    text.parse::<SocketAddr>().is_ok()
        || host.parse::<IpAddr>().is_ok()
        || is_card()
        || has_port()
        || text.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn redacted(text: &str, shape: Shape) -> String {
        Redactor::new([7; 32]).text(text, shape)
    }

    fn prose(text: &str) -> String {
        redacted(text, Shape::Prose)
    }

    #[test]
    fn what_the_program_says_stays() {
        for text in [
            "the cache was emptied by drop_caches",
            "cannot read /proc/self/pagemap: Permission denied (os error 13)",
            "it needs 64 MiB, and there are 1.5 GB/s of it (±5 %)",
            "ext4 on vda",
            "operation=read, block_size=4096",
            "between the processors 0 and 1",
            "the time was used up before its turn came; give more with `--budget`",
        ] {
            assert_eq!(prose(text), text);
        }
    }

    #[test]
    fn what_names_somebody_goes() {
        for (text, gone) in [
            ("open /home/alice/data/file.bin: no such file", "alice"),
            ("open '/mnt/data/read': no such file", "data"),
            ("a connection to 192.168.7.12 was refused", "192"),
            ("a connection to 192.168.7.12:5735 was refused", "192"),
            ("a connection to [fe80::1]:5735 was refused", "fe80"),
            ("a connection to memory:5735 was refused", "memory"),
            ("card de:ad:be:ef:00:01 was slow", "ef"),
            ("root@memory said no", "memory"),
            ("the disk S4EVNX0M123456 failed", "S4EV"),
            ("the disk 50026B7381234567 failed", "5002"),
            ("number 12345678 failed", "1234"),
            ("upper=/var/lib/x,uid=1000", "1000"),
            ("\\\\server\\share failed", "server"),
            ("~bob/file failed", "bob"),
            ("host=db17 failed", "db17"),
            ("Grüße failed", "Gr"),
        ] {
            let redacted = prose(text);
            assert!(!redacted.contains(gone), "{text} gave {redacted}");
        }
        assert!(prose("open /home/x: no such file").ends_with(": no such file"));
    }

    #[test]
    fn models_stay_where_they_are_asked_for() {
        let model = |text: &str| redacted(text, Shape::Model);
        for text in [
            "Intel(R) Xeon(R) Platinum 8488C CPU @ 2.40GHz",
            "AMD EPYC 7R13 48-Core Processor",
            "6.1.0-18-amd64",
            "rustc 1.95.0 (59807616e 2026-04-14)",
            "Mitigation: Enhanced IBRS; IBPB: conditional",
        ] {
            assert_eq!(model(text), text);
        }
        assert!(!model("6.1.0-acme-corp").contains("acme"));
    }

    proptest! {
        /// A word that is in no list and is not a number leaves no trace, no matter what surrounds
        /// it.
        #[test]
        fn no_unknown_word_stays(
            secret in "[a-z]{4}q[0-9]{2}zj[a-zA-Z0-9]{4,12}",
            before in "[ -~]{0,12}",
            after in "[ -~]{0,12}",
            is_model in any::<bool>(),
        ) {
            let shape = if is_model { Shape::Model } else { Shape::Prose };
            let redacted = redacted(&format!("{before}{secret}{after}"), shape);
            prop_assert!(!redacted.contains(&secret), "{redacted}");
        }
    }
}
