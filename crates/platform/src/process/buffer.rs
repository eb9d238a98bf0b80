//! Output of a worker that its caller has not read yet.

use std::io;

/// Bytes that arrive in pieces and leave in lines.
#[derive(Debug, Default)]
pub(crate) struct LineBuffer {
    bytes: Vec<u8>,
    /// There is no line feed before this index.
    searched: usize,
}

impl LineBuffer {
    pub(crate) const LONGEST_LINE_BYTES: usize = 16 << 20;

    /// True if more bytes may be added before a line is taken.
    pub(crate) fn has_room(&self) -> bool {
        self.bytes.len() <= Self::LONGEST_LINE_BYTES
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The next line, without its line feed.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<String>> {
        let end = self.bytes[self.searched..]
            .iter()
            .position(|byte| *byte == b'\n');
        match end {
            Some(end) => {
                let end = self.searched + end;
                let rest = self.bytes.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.bytes, rest);
                line.truncate(end);
                self.searched = 0;
                text(line).map(Some)
            }
            None if !self.has_room() => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the worker's line is too long",
            )),
            None => {
                self.searched = self.bytes.len();
                Ok(None)
            }
        }
    }

    /// The last line, if it has no line feed.
    pub(crate) fn last_line(&mut self) -> io::Result<Option<String>> {
        self.searched = 0;
        match std::mem::take(&mut self.bytes) {
            empty if empty.is_empty() => Ok(None),
            line => text(line).map(Some),
        }
    }
}

fn text(line: Vec<u8>) -> io::Result<String> {
    String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The last bytes of a long output.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    const LEN: usize = 16 << 10;

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Truncated rarely, so that not every push moves the kept bytes.
        if self.bytes.len() > 4 * Self::LEN {
            self.bytes.drain(..self.bytes.len() - Self::LEN);
        }
    }

    pub(crate) fn text(&self) -> String {
        let start = self.bytes.len().saturating_sub(Self::LEN);
        String::from_utf8_lossy(&self.bytes[start..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_come_out_as_they_went_in(lines in prop::collection::vec("[^\\n]{0,20}", 0..10), piece in 1_usize..9) {
            let mut text = lines.join("\n");
            text.push('\n');
            let mut buffer = LineBuffer::default();
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(piece) {
                buffer.push(piece);
                while let Some(line) = buffer.next_line().unwrap() {
                    out.push(line);
                }
            }
            prop_assert_eq!(out.join("\n"), lines.join("\n"));
            prop_assert_eq!(buffer.last_line().unwrap(), None);
        }

        #[test]
        fn a_tail_is_the_end(lens in prop::collection::vec(0_usize..40_000, 0..8)) {
            let pieces: Vec<Vec<u8>> = (b'a'..).zip(lens).map(|(byte, len)| vec![byte; len]).collect();
            let mut tail = Tail::default();
            for piece in &pieces {
                tail.push(piece);
            }
            let all = pieces.concat();
            let end = &all[all.len().saturating_sub(Tail::LEN)..];
            prop_assert_eq!(tail.text().into_bytes(), end);
        }
    }

    #[test]
    fn a_line_without_end_or_meaning_is_an_error() {
        let mut buffer = LineBuffer::default();
        buffer.push(&vec![b'x'; LineBuffer::LONGEST_LINE_BYTES]);
        assert!(buffer.next_line().unwrap().is_none());
        buffer.push(b"xx");
        buffer.next_line().unwrap_err();

        let mut buffer = LineBuffer::default();
        buffer.push(b"\xff\nlast");
        buffer.next_line().unwrap_err();
        assert_eq!(buffer.last_line().unwrap().as_deref(), Some("last"));
    }
}
