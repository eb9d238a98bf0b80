//! Waits until one of many files is ready to be read.

use std::fs::File;

use crate::{Result, os};

/// Files that every wait hands to the kernel anew
/// ([poll(2)](https://man7.org/linux/man-pages/man2/poll.2.html)).
#[derive(Debug)]
pub struct PollList(os::readiness::PollList);

/// Files that the kernel remembers from one wait to the next
/// ([epoll(7)](https://man7.org/linux/man-pages/man7/epoll.7.html)).
pub struct Epoll(os::readiness::Epoll);

face! {
    os::readiness;

    /// The most descriptors that this process may have open after [`allow_descriptors`]; `None` if the
    /// system sets no limit.
    pub fn most_descriptors() -> Option<u64> = None;

    /// Lets this process have `count` descriptors open.
    ///
    /// # Errors
    /// If that is more than [`most_descriptors`].
    pub fn allow_descriptors(count: u64) -> Result<()> = refuse("a limit of open files");

    impl PollList {
        /// Takes the files to wait for.
        ///
        /// # Errors
        /// Only if the system has no such call.
        pub fn new(files: Vec<File>) -> Result<Self> = refuse("poll");

        /// Waits until a file is ready: one `poll`. Returns the number of files that are.
        ///
        /// # Errors
        /// If a signal interrupts the wait, or the system has too little memory.
        #[inline]
        pub fn wait(&mut self) -> Result<usize>;
    }

    impl Epoll {
        /// Registers the files to wait for.
        ///
        /// # Errors
        /// If a file is always ready, as a regular file is, or the system has too few resources.
        pub fn new(files: Vec<File>) -> Result<Self> = refuse("epoll");

        /// Waits until a file is ready: one `epoll_wait`. Returns the number of files that are, at most
        /// 64.
        ///
        /// # Errors
        /// If a signal interrupts the wait.
        #[inline]
        pub fn wait(&mut self) -> Result<usize>;

        /// Registers a file and removes it again: two `epoll_ctl`.
        ///
        /// # Errors
        /// As [`Epoll::new`].
        #[inline]
        pub fn add_remove(&self, file: &File) -> Result<()>;
    }
}
