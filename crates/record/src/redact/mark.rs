//! Marks that stand in the place of what names a machine or its people.

use std::fmt;

/// Makes marks. The same text has the same mark wherever the key is the same. Nobody without the key can
/// tell the text, not even by trying all names that there are.
pub(super) struct Marker {
    key: [u8; 32],
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Address,
    Argument,
    Device,
    Machine,
    Name,
    Path,
    Product,
    Source,
    Tag,
    Word,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "address",
            Self::Argument => "argument",
            Self::Device => "device",
            Self::Machine => "machine",
            Self::Name => "name",
            Self::Path => "path",
            Self::Product => "product",
            Self::Source => "source",
            Self::Tag => "tag",
            Self::Word => "word",
        })
    }
}

/// Hexadecimal digits of a mark. Among the hundred texts of a run, two share one with a chance of one in
/// a million.
const DIGITS: usize = 8;

impl Marker {
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// `path-3f9a2c41`
    pub fn mark(&self, kind: Kind, text: &str) -> String {
        format!("{kind}-{}", self.digits(text, DIGITS))
    }

    /// At most 64 hexadecimal digits that stand for `text`.
    pub fn digits(&self, text: &str, count: usize) -> String {
        let hash = blake3::keyed_hash(&self.key, text.as_bytes());
        hash.to_hex()[..count].to_owned()
    }
}
