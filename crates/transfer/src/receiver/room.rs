//! Space on the device, reserved ahead of the arriving bytes.

use crate::method::ReceiveMethod;
use crate::protocol::Part;
use platform::file::{finds_room_by_page, reserve};
use std::fs::File;

/// Reserving space for a smaller file costs more than it saves.
const SMALLEST: u64 = 1 << 20;
/// Each step reserves as much as has already arrived, within these bounds.
const LEAST_STEP: u64 = 1 << 20;
const MOST_STEP: u64 = 64 << 20;

/// Space for a file that arrives in order. A file system that allocates every page as it is written
/// spends more time on that than on the bytes.
pub(super) struct Room {
    /// Size of the file; `None` if nothing more is reserved.
    size: Option<u64>,
    /// Offset of the next byte if none is skipped.
    next: u64,
    /// End of the reserved range.
    reserved: u64,
}

impl Room {
    /// Excludes files in parts, because another connection may write the range that one skips, and
    /// mapped files, which need their space allocated in any case.
    pub(super) fn new(part: &Part, method: ReceiveMethod) -> Self {
        let may_be = part.parts == 1 && method != ReceiveMethod::Mmap;
        let is_worth_it = |size: &u64| may_be && *size >= SMALLEST;
        Self {
            size: part.size.filter(is_worth_it),
            next: 0,
            reserved: 0,
        }
    }

    /// Reserves space for `len` bytes at `offset`, and for some that may follow. If there is no
    /// space, the write itself will fail and report it.
    pub(super) fn reach(&mut self, file: &File, offset: u64, len: u64) {
        let Some(size) = self.size else { return };
        if self.reserved == 0 {
            if !finds_room_by_page(file) {
                self.size = None;
                return;
            }
            (self.next, self.reserved) = (offset, offset);
        }
        if offset != self.next {
            self.give_back(file);
            return;
        }
        self.next = offset.saturating_add(len);
        if self.next > self.reserved {
            let step = self.next.clamp(LEAST_STEP, MOST_STEP);
            let end = self.next.saturating_add(step).min(size);
            let more = end.saturating_sub(self.reserved);
            if more == 0 || reserve(file, self.reserved, more).is_err() {
                self.give_back(file);
            } else {
                self.reserved = end;
            }
        }
    }

    /// Frees the reserved space that is not needed, and reserves no more.
    pub(super) fn give_back(&mut self, file: &File) {
        self.size = None;
        if self.reserved > self.next {
            // Nothing is written behind `next` yet. If this fails, the leftover space does no harm.
            let _ = file.set_len(self.next);
            self.reserved = self.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_STEP, Room};
    use crate::method::ReceiveMethod;
    use crate::protocol::{FileName, Part};
    use platform::block_io::write_at;
    use platform::file::{allocated_bytes, finds_room_by_page};
    use std::fs::File;

    const MIB: u64 = 1 << 20;

    fn room(size: u64) -> Room {
        let name = FileName::new(b"file").expect("a plain name");
        let part = Part::file(0, name, Some(size));
        Room::new(&part, ReceiveMethod::File)
    }

    /// A file on a file system that reserves space; `None`, with the reason printed, on others.
    fn file() -> Option<File> {
        let file = tempfile::tempfile().unwrap();
        if finds_room_by_page(&file) {
            return Some(file);
        }
        println!("skipped: temporary files do not lie on ext4");
        None
    }

    fn allocated(file: &File) -> u64 {
        allocated_bytes(&file.metadata().unwrap()).unwrap()
    }

    #[test]
    fn space_is_reserved_ahead_of_the_bytes_and_not_beyond_the_file() {
        let Some(file) = file() else { return };
        let size = 300 * MIB;
        let mut room = room(size);
        for offset in (0..size).step_by(MIB as usize) {
            room.reach(&file, offset, MIB);
            let there = allocated(&file);
            assert!(there >= offset + MIB, "{there} at {offset}");
            assert!(there <= size.min(offset + 2 * MIB + MOST_STEP) + MIB);
        }
        assert_eq!(file.metadata().unwrap().len(), 0);
        room.give_back(&file);
        assert!(allocated(&file) >= size);
    }

    #[test]
    fn what_is_not_needed_is_given_back_and_nothing_written_is_lost() {
        let Some(file) = file() else { return };
        let mut room = room(100 * MIB);
        let bytes = vec![7; 20 * MIB as usize];
        room.reach(&file, 0, 20 * MIB);
        write_at(&file, &bytes, 0).unwrap();
        assert!(allocated(&file) > 30 * MIB);
        // A hole, then a jump back to before it.
        for offset in [90 * MIB, 25 * MIB] {
            room.reach(&file, offset, MIB);
            write_at(&file, &bytes[..MIB as usize], offset).unwrap();
        }
        room.give_back(&file);
        file.sync_all().unwrap();
        assert!(allocated(&file) < 23 * MIB);
        let mut expected = vec![0; 91 * MIB as usize];
        for written in [0..20, 25..26, 90..91] {
            expected[written.start << 20..written.end << 20].fill(7);
        }
        let mut there = vec![0; expected.len()];
        platform::block_io::read_at(&file, &mut there, 0).unwrap();
        assert!(there == expected);
    }
}
