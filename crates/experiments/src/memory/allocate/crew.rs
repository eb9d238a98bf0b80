//! Threads that allocate blocks of memory, and free their own or each other's.

use crate::prelude::*;
use crate::together::Slot;
use platform::allocator::Block;
use std::hint::spin_loop;
use std::mem::swap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Blocks in a burst, unless they are large: a few more than fit into the caches of allocators that belong to a
/// thread, which would otherwise be all that is measured.
pub(super) const BURST: usize = 64;
/// The most bytes in a burst, if that is more than one block.
pub(super) const BURST_BYTES: usize = 4 << 20;
/// Bytes of the blocks that a thread allocates before it frees any, to see the memory that is held.
pub(super) const HOARD_BYTES: usize = 4 << 20;

/// The work of each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// Size of a block, in bytes.
    size: usize,
    /// Blocks in a burst.
    pub burst: usize,
    /// Blocks that exist at once in the end.
    hoard: usize,
}

impl Work {
    pub fn on_blocks_of(size: usize) -> Self {
        let size = size.max(1);
        Self {
            size,
            burst: (BURST_BYTES / size).clamp(1, BURST),
            hoard: (HOARD_BYTES / size).max(1),
        }
    }

    /// The memory for the most blocks that a thread has, with the allocator's headers and the list of them.
    pub fn most_bytes(self) -> u64 {
        (self.hoard * (self.size + 3 * size_of::<usize>())) as u64
    }

    /// Bytes of the blocks that exist at once in the end.
    pub fn hoard_bytes(self) -> Bytes {
        Bytes((self.hoard * self.size) as u64)
    }
}

/// A step that all threads do at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Job {
    /// Allocate a burst and have it freed, this number of times.
    Bursts(u64),
    /// Allocate the blocks of the end.
    Fill,
    /// Have them freed.
    Empty,
}

/// One of the threads.
pub(super) struct Member<'m> {
    work: Work,
    blocks: Vec<Option<Block>>,
    /// The mailbox of the thread that frees its blocks, and its own; `None` if it frees its blocks itself.
    ends: Option<[&'m Mailbox; 2]>,
}

impl<'m> Member<'m> {
    /// A thread whose list of blocks has its pages already: they are no part of the memory that blocks take.
    pub fn new(work: Work, ends: Option<[&'m Mailbox; 2]>) -> Self {
        let mut blocks = Vec::new();
        blocks.resize_with(work.hoard.max(work.burst), || None);
        blocks.clear();
        Self { work, blocks, ends }
    }

    /// Does a step. After a failure it goes on, since another thread waits for its blocks.
    pub fn work(&mut self, job: Job) -> Result<(), MeasureError> {
        match job {
            Job::Bursts(bursts) => {
                let mut done = Ok(());
                for _ in 0..bursts {
                    let filled = self.fill(self.work.burst);
                    self.empty();
                    done = done.and(filled);
                }
                done
            }
            Job::Fill => self.fill(self.work.hoard),
            Job::Empty => {
                self.empty();
                Ok(())
            }
        }
    }

    fn fill(&mut self, count: usize) -> Result<(), MeasureError> {
        for _ in 0..count {
            self.blocks.push(Some(Block::new(self.work.size)?));
        }
        Ok(())
    }

    fn empty(&mut self) {
        if let Some([next, own]) = self.ends {
            next.put(&mut self.blocks);
            own.take(&mut self.blocks);
        }
        self.blocks.clear();
    }
}

/// Blocks on their way from one thread to another. Lists change hands whole, so nothing is allocated for that.
#[derive(Default)]
pub(super) struct Mailbox {
    blocks: Slot<Vec<Option<Block>>>,
    is_full: AtomicBool,
}

impl Mailbox {
    /// Waits until it is empty, and puts `blocks` into it.
    fn put(&self, blocks: &mut Vec<Option<Block>>) {
        self.exchange(blocks, false);
    }

    /// Waits until it is full, and takes its blocks.
    fn take(&self, blocks: &mut Vec<Option<Block>>) {
        self.exchange(blocks, true);
    }

    fn exchange(&self, blocks: &mut Vec<Option<Block>>, when_full: bool) {
        while self.is_full.load(Ordering::Acquire) != when_full {
            spin_loop();
        }
        swap(&mut *self.blocks.lock(), blocks);
        self.is_full.store(!when_full, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn large_blocks_come_in_smaller_numbers_and_at_least_one() {
        for (size, burst, hoard) in [
            (16, 64, 256 << 10),
            (64 << 10, 64, 64),
            (128 << 10, 32, 32),
            (1 << 20, 4, 4),
            (64 << 20, 1, 1),
        ] {
            let work = Work::on_blocks_of(size);
            assert_eq!(work, Work { size, burst, hoard });
            assert!(work.most_bytes() >= work.hoard_bytes().0);
        }
    }

    #[test]
    fn blocks_are_freed_by_the_next_thread() {
        let work = Work::on_blocks_of(1 << 20);
        let mailboxes = [(); 2].map(|()| Mailbox::default());
        let [one, other] = &mailboxes;
        thread::scope(|scope| {
            for ends in [[other, one], [one, other]] {
                scope.spawn(move || {
                    let mut member = Member::new(work, Some(ends));
                    for job in [Job::Bursts(10), Job::Fill, Job::Empty] {
                        member.work(job).expect("there is memory");
                        let is_full = matches!(job, Job::Fill);
                        assert_eq!(member.blocks.len(), if is_full { 4 } else { 0 });
                    }
                });
            }
        });
        assert!(mailboxes.iter().all(|it| it.blocks.lock().is_empty()));
    }

    #[test]
    fn a_thread_without_memory_keeps_no_other_waiting() {
        let mailboxes = [(); 2].map(|()| Mailbox::default());
        let [one, other] = &mailboxes;
        let of_size = |size| Work {
            size,
            burst: 2,
            hoard: 2,
        };
        let bursts = |size, ends| Member::new(of_size(size), Some(ends)).work(Job::Bursts(3));
        thread::scope(|scope| {
            let poor = scope.spawn(|| bursts(usize::MAX / 2, [other, one]));
            bursts(16, [one, other]).expect("a few bytes");
            poor.join().expect("no panic").expect_err("too large");
        });
    }
}
