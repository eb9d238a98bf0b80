//! What Windows does not have: sockets as files, counters to wait for, forked processes, control groups, filters of
//! calls, preloaded libraries, `poll`, `epoll` and `io_uring`.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::allocator::Library;
use crate::error::{absent, refuse};
use crate::sandbox::Call;
use crate::stream_ring::{Block, Done, Operation};

absent! {
    fn unix_socket_pair() -> Result<(File, File)> = refuse("a pair of sockets");
    fn event_counter() -> Result<File> = refuse("a counter to wait for");
    fn value(impl FnOnce() -> u64) -> Result<u64> = refuse("fork");
    fn can_limit_memory() -> bool = false;
    fn free_swap_bytes() -> u64 = 0;
    fn is_record(&str) -> bool = false;
    fn undo(&Path, Duration) -> Result<()> = Ok(());
    fn library() -> Result<Library> = refuse("replacing malloc");
    fn preload(&mut Command, &str) -> Result<()> = refuse("preloading a library");
    fn forbid(Call) -> Result<()> = refuse("forbidding calls");
    fn most_descriptors() -> Option<u64> = None;
    fn allow_descriptors(u64) -> Result<()> = refuse("a limit of open files");
}

absent! {
    enum Partner = refuse("a partner process") => {
        fn start(usize, impl FnOnce()) -> Result<Self>;
    }

    enum Twin = refuse("a copy of this process") => {
        fn fork() -> Result<Self>;
    }

    enum MemoryGroup = refuse("limiting the memory of a worker") => {
        fn create(u64, &Path, Duration) -> Result<Self>;
        fn forbid_swap(&self) -> Result<()>;
        fn peak_bytes(&self) -> Option<u64>;
    }

    enum SwapFile = refuse("a temporary swap file") => {
        fn create(u64, &Path) -> Result<Self>;
    }

    enum PollList = refuse("poll") => {
        fn new(Vec<File>) -> Result<Self>;
        fn wait(&mut self) -> Result<usize>;
    }

    enum Epoll = refuse("epoll") => {
        fn new(Vec<File>) -> Result<Self>;
        fn wait(&mut self) -> Result<usize>;
        fn add_remove(&self, &File) -> Result<()>;
    }

    enum StreamRing = refuse("io_uring") => {
        fn new(u32, Duration) -> Result<Self>;
        fn in_flight(&self) -> usize;
        fn begin(&mut self, u64, Operation<'_>, Block, Range<usize>) -> io::Result<()>;
        fn wait(&mut self, Duration) -> io::Result<Done>;
    }
}
