use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::{Error, Result};

/// The most files that one `epoll_wait` reports.
const MOST_EVENTS: usize = 64;

/// The most descriptors that this process may have open after [`allow_descriptors`]; `None` if the
/// system sets no limit.
pub fn most_descriptors() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// Lets this process have `count` descriptors open.
pub fn allow_descriptors(count: u64) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= count) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(count),
        ..limit
    };
    setrlimit(Resource::Nofile, raised).map_err(Error::os("raise the limit of open files"))
}

/// Files that every wait hands to the kernel anew
/// ([poll(2)](https://man7.org/linux/man-pages/man2/poll.2.html)).
#[derive(Debug)]
pub struct PollList {
    list: Vec<PollFd<'static>>,
    /// The descriptors in `list` belong to these.
    _files: Vec<File>,
}

impl PollList {
    /// Takes the files to wait for.
    pub fn new(files: Vec<File>) -> Result<Self> {
        let entry = |file: &File| {
            // SAFETY: the file is open as long as the list exists: both belong to the same value,
            // which gives away neither.
            let descriptor = unsafe { BorrowedFd::borrow_raw(file.as_raw_fd()) };
            PollFd::from_borrowed_fd(descriptor, PollFlags::IN)
        };
        Ok(Self {
            list: files.iter().map(entry).collect(),
            _files: files,
        })
    }

    /// Waits until a file is ready: one `poll`. Returns the number of files that are.
    ///
    /// # Errors
    /// If a signal interrupts the wait, or the system has too little memory.
    #[inline]
    pub fn wait(&mut self) -> Result<usize> {
        poll(&mut self.list, None).map_err(Error::os("wait with poll"))
    }
}

/// Files that the kernel remembers from one wait to the next
/// ([epoll(7)](https://man7.org/linux/man-pages/man7/epoll.7.html)).
pub struct Epoll {
    handle: OwnedFd,
    events: [Event; MOST_EVENTS],
    /// A file that is closed is no longer registered.
    _files: Vec<File>,
}

impl Epoll {
    /// Registers the files to wait for.
    ///
    /// # Errors
    /// If a file is always ready, as a regular file is, or the system has too few resources.
    pub fn new(files: Vec<File>) -> Result<Self> {
        let made = epoll::create(CreateFlags::CLOEXEC).map_err(Error::os("make an epoll"))?;
        for file in &files {
            add(&made, file)?;
        }
        let none = Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        };
        Ok(Self {
            handle: made,
            events: [none; MOST_EVENTS],
            _files: files,
        })
    }

    /// Waits until a file is ready: one `epoll_wait`. Returns the number of files that are, at most
    /// 64.
    ///
    /// # Errors
    /// If a signal interrupts the wait.
    #[inline]
    pub fn wait(&mut self) -> Result<usize> {
        epoll::wait(&self.handle, &mut self.events, None).map_err(Error::os("wait with epoll"))
    }

    /// Registers a file and removes it again: two `epoll_ctl`.
    #[inline]
    pub fn add_remove(&self, file: &File) -> Result<()> {
        add(&self.handle, file)?;
        epoll::delete(&self.handle, file).map_err(Error::os("remove a file from an epoll"))
    }
}

#[inline]
fn add(epoll: &OwnedFd, file: &File) -> Result<()> {
    let nothing = EventData::new_u64(0);
    epoll::add(epoll, file, nothing, EventFlags::IN).map_err(Error::os("add a file to an epoll"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::channel::event_counter;

    /// Counters, of which the first `ready` are not zero.
    fn counters(ready: usize) -> Vec<File> {
        let made = (0..100).map(|number| {
            let mut counter = event_counter().unwrap();
            if number < ready {
                counter.write_all(&1_u64.to_ne_bytes()).unwrap();
            }
            counter
        });
        made.collect()
    }

    #[test]
    fn both_waits_count_the_files_that_are_ready_each_time() {
        for ready in [1, 3] {
            let mut list = PollList::new(counters(ready)).unwrap();
            let mut epoll = Epoll::new(counters(ready)).unwrap();
            for _ in 0..3 {
                assert_eq!(list.wait().unwrap(), ready);
                assert_eq!(epoll.wait().unwrap(), ready);
            }
        }
        let mut crowded = Epoll::new(counters(100)).unwrap();
        assert_eq!(crowded.wait().unwrap(), MOST_EVENTS);
    }

    #[test]
    fn a_file_that_is_removed_is_not_waited_for() {
        let mut epoll = Epoll::new(counters(1)).unwrap();
        let ready = counters(1).swap_remove(0);
        epoll.add_remove(&ready).unwrap();
        assert_eq!(epoll.wait().unwrap(), 1);
        add(&epoll.handle, &ready).unwrap();
        assert_eq!(epoll.wait().unwrap(), 2);
        epoll.add_remove(&ready).unwrap_err();
    }

    #[test]
    fn the_limit_is_raised_as_far_as_it_goes() {
        let Some(most) = most_descriptors() else {
            return println!("skipped: there is no limit here");
        };
        allow_descriptors(most).unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, Some(most));
        allow_descriptors(1).unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, Some(most));
    }
}
