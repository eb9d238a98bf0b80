//! Descriptors among the things that a thread waits for.

use core::time::Duration;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use super::Choice;
use crate::io::{Interest, poll};
use crate::sync::Notice;
use crate::thread::{Cancelled, unwind_cancelled};
use crate::worker::Event;

pub(super) struct Descriptors {
    /// Each with its number among the choices.
    polls: Vec<(usize, libc::pollfd)>,
    /// Set by the notices of channels.
    event: Arc<Event>,
    /// Ready when any of them is, or the event is set. Made for the first wait.
    all: Option<All>,
}

struct All {
    epoll: OwnedFd,
    /// An `epoll(7)` has each descriptor once: these represent those that are there several times.
    _copies: Vec<OwnedFd>,
}

impl Descriptors {
    /// Those among the choices, if there are any.
    pub(super) fn of(choices: &[Choice<'_>]) -> io::Result<Option<Self>> {
        let numbered = choices.iter().enumerate();
        let polls = numbered.filter_map(|(number, choice)| match choice {
            Choice::Descriptor(fd, interest) => {
                let poll = libc::pollfd {
                    fd: fd.as_raw_fd(),
                    events: interest.0,
                    revents: 0,
                };
                Some((number, poll))
            }
            Choice::End(_) | Choice::After(_) => None,
        });
        let polls: Vec<_> = polls.collect();
        if polls.is_empty() {
            return Ok(None);
        }
        let event = Arc::new(Event::new()?);
        let all = None;
        Ok(Some(Self { polls, event, all }))
    }

    pub(super) fn notice(&self) -> Notice {
        let event = Arc::clone(&self.event);
        Arc::new(move || event.set())
    }

    /// The numbers of those that are ready.
    pub(super) fn ready(&self) -> Vec<usize> {
        let mut polls: Vec<_> = self.polls.iter().map(|(_, poll)| *poll).collect();
        // SAFETY: the list has this length. Without a result, nothing is ready.
        unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as libc::nfds_t, 0) };
        let found = self.polls.iter().zip(polls);
        found
            .filter(|(_, poll)| poll.revents != 0)
            .map(|((number, _), _)| *number)
            .collect()
    }

    /// Waits until one of them is ready, a notice was called, or the time is up.
    pub(super) fn wait(&mut self, operation: &str, limit: Option<Duration>) -> io::Result<()> {
        let all = match &mut self.all {
            Some(all) => all,
            none => none.insert(All::new(&self.polls, &self.event)?),
        };
        let found = poll(all.epoll.as_fd(), Interest::READABLE, operation, limit);
        self.event.clear();
        match found {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::TimedOut => Ok(()),
            Err(error) if is_cancelled(&error) => unwind_cancelled(),
            Err(error) => Err(error),
        }
    }
}

fn is_cancelled(error: &io::Error) -> bool {
    let cause = error.get_ref();
    cause.is_some_and(<dyn std::error::Error + Send + Sync>::is::<Cancelled>)
}

impl All {
    fn new(polls: &[(usize, libc::pollfd)], event: &Event) -> io::Result<Self> {
        // SAFETY: the call takes no pointers, and nothing else owns the new descriptor.
        let epoll = unsafe { owned(libc::epoll_create1(libc::EPOLL_CLOEXEC)) }?;
        let mut copies = Vec::new();
        add(&epoll, event.fd(), libc::POLLIN)?;
        for (_, poll) in polls {
            match add(&epoll, poll.fd, poll.events) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    // SAFETY: as above.
                    let copy = unsafe { owned(libc::fcntl(poll.fd, libc::F_DUPFD_CLOEXEC, 0)) }?;
                    add(&epoll, copy.as_raw_fd(), poll.events)?;
                    copies.push(copy);
                }
                result => result?,
            }
        }
        Ok(Self {
            epoll,
            _copies: copies,
        })
    }
}

/// # Safety
/// Nothing else may own the descriptor.
unsafe fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller's contract.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Adds a descriptor with the conditions of poll(2), which have the same numbers.
fn add(epoll: &OwnedFd, fd: RawFd, events: libc::c_short) -> io::Result<()> {
    let mut event = libc::epoll_event {
        events: events as u32,
        u64: 0,
    };
    let (epoll, add) = (epoll.as_raw_fd(), libc::EPOLL_CTL_ADD);
    // SAFETY: the pointer is to a local.
    match unsafe { libc::epoll_ctl(epoll, add, fd, &raw mut event) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
