//! Marks that replace the names of a machine or of people.

use choice::Choice;

/// Replaces the names of a machine and its people by marks.
pub struct Redactor {
    key: [u8; 32],
}

/// The kind of text that a mark replaces.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
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

/// Number of hexadecimal digits of a mark. The chance that two of a hundred texts in a run share a
/// mark is about one in a million.
const DIGITS: usize = 8;

impl Redactor {
    /// A redactor with this secret key. Under one key, equal texts have equal marks in all runs, so
    /// that runs of one machine can be recognised as such. Without the key, nobody can find the
    /// text of a mark by trying.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// A redactor with a random key that is not stored.
    ///
    /// # Errors
    /// If the system provides no randomness.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self::new(key))
    }

    /// `path-3f9a2c41`
    pub(super) fn mark(&self, kind: Kind, text: &str) -> String {
        format!("{kind}-{}", self.digits(text, DIGITS))
    }

    /// At most 64 hexadecimal digits derived from `text`.
    pub(super) fn digits(&self, text: &str, count: usize) -> String {
        let hash = blake3::keyed_hash(&self.key, text.as_bytes());
        hash.to_hex()[..count].to_owned()
    }
}

/// A public name of the machine with this fingerprint: 16 hexadecimal digits, the same everywhere. It shows that two runs
/// are of one machine to those who have both, and no more: a fingerprint contains a random number of its installation.
pub fn machine_mark(fingerprint: &str) -> String {
    let hash = blake3::derive_key("oscope 2026 reference machine", fingerprint.as_bytes());
    let digits = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
    digits.collect()
}
