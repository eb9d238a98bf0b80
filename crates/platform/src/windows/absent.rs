//! Windows has neither Unix sockets as files nor a counter to wait for.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use crate::Result;
use crate::error::{absent, refuse};
use crate::sandbox::Call;
use crate::stream_ring::{Block, Done, Operation};

pub fn unix_socket_pair() -> Result<(File, File)> {
    refuse("a pair of sockets")
}

pub fn event_counter() -> Result<File> {
    refuse("a counter to wait for")
}

pub fn value(_compute: impl FnOnce() -> u64) -> Result<u64> {
    refuse("fork")
}

pub fn can_limit_memory() -> bool {
    false
}

pub fn free_swap_bytes() -> u64 {
    0
}

pub(crate) fn is_record(_name: &str) -> bool {
    false
}

#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(crate) fn undo(_scratch: &Path, _exit_wait: Duration) -> Result<()> {
    Ok(())
}

pub fn forbid(_call: Call) -> Result<()> {
    refuse("forbidding calls")
}

pub fn most_descriptors() -> Option<u64> {
    None
}

pub fn allow_descriptors(_count: u64) -> Result<()> {
    refuse("a limit of open files")
}

absent! {
    enum Partner = refuse("a partner process") => {
        fn start(_cpu: usize, _body: impl FnOnce()) -> Result<Self>;
    }

    enum MemoryGroup = refuse("limiting the memory of a worker") => {
        fn create(_limit_bytes: u64, _scratch: &Path, _exit_wait: Duration) -> Result<Self>;
        fn forbid_swap(&self) -> Result<()>;
        fn peak_bytes(&self) -> Option<u64>;
    }

    enum SwapFile = refuse("a temporary swap file") => {
        fn create(_len_bytes: u64, _scratch: &Path) -> Result<Self>;
    }

    enum PollList = refuse("poll") => {
        fn new(_files: Vec<File>) -> Result<Self>;
        fn wait(&mut self) -> Result<usize>;
    }

    enum Epoll = refuse("epoll") => {
        fn new(_files: Vec<File>) -> Result<Self>;
        fn wait(&mut self) -> Result<usize>;
        fn add_remove(&self, _file: &File) -> Result<()>;
    }

    enum StreamRing = refuse("io_uring") => {
        fn new(_depth: u32, _patience: Duration) -> Result<Self>;
        fn in_flight(&self) -> usize;
        fn begin(
            &mut self,
            _tag: u64,
            _operation: Operation<'_>,
            _block: Block,
            _range: Range<usize>,
        ) -> io::Result<()>;
        fn wait(&mut self, _timeout: Duration) -> io::Result<Done>;
    }
}
