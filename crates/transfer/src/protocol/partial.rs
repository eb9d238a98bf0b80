//! The receiver's description of the bytes of a file that it has.

use super::header::{COMPLETE, Header};
use super::wire::Reader;
use super::{DIGEST_BYTES, LONGEST_BODY, Malformed};

/// Digests of the first bytes of a file. Each range but the last is `step` bytes long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    /// True if these bytes are a complete file under its name: the sender's file is the same, or
    /// nothing of this one is used.
    pub is_complete: bool,
    /// Number of bytes from the start.
    pub len: u64,
    /// Length of a range in bytes; 0 if there is none.
    pub step: u64,
    /// Digest of each range.
    pub digests: Vec<[u8; DIGEST_BYTES]>,
}

impl Partial {
    /// Maximum number of ranges in one frame.
    pub const MOST_RANGES: u64 = ((LONGEST_BODY - 8) / DIGEST_BYTES) as u64;

    pub(super) fn parse(header: &Header, body: &[u8]) -> Result<Self, Malformed> {
        let len = header.value;
        let wrong = Malformed::Number("ranges of a file");
        let mut reader = Reader(body);
        let step = reader.u64().ok_or_else(|| wrong.clone())?;
        let (digests, rest) = reader.0.as_chunks::<DIGEST_BYTES>();
        let ranges = len.checked_div(step).map_or(0, |_| len.div_ceil(step));
        let is_whole = rest.is_empty() && ranges == digests.len() as u64;
        if !is_whole || (step == 0 && len > 0) {
            return Err(wrong);
        }
        Ok(Self {
            is_complete: header.flags & COMPLETE != 0,
            len,
            step,
            digests: digests.to_vec(),
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.step.to_le_bytes());
        out.extend(self.digests.iter().flatten());
    }
}
