//! Waiting for the first of several things.

#[cfg(target_os = "linux")]
mod descriptors;
mod signal;

use core::fmt;
use core::time::Duration;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, BorrowedFd};

#[cfg(target_os = "linux")]
use crate::io::Interest;
use crate::sync::{End, Notice, Receiver, Sender};
use crate::worker::{Worker, require_worker};
use signal::Signal;

/// A wait for the first of several channels, times and descriptors.
///
/// Each has a number, from 0 on in the order of adding. A wait returns the number of one that is ready, and changes
/// nothing: another thread may be faster, so use calls that do not wait, like [`Receiver::try_recv`], and wait again. If
/// several are ready, they take turns.
///
/// A channel without capacity needs one side that waits in a call of its own: two waits of this kind, one to send and one
/// to receive, do not meet there.
///
/// ```
/// use std::time::Duration;
/// use uthread::{Select, bounded, spawn};
///
/// uthread::run(|| {
///     let (sender, receiver) = bounded(1);
///     spawn(move || sender.send(7));
///     let mut select = Select::new();
///     let value = select.recv(&receiver);
///     let late = select.after(Duration::from_secs(60));
///     match select.wait().unwrap() {
///         found if found == value => assert_eq!(receiver.try_recv(), Ok(7)),
///         found => assert_eq!(found, late),
///     }
/// });
/// ```
#[derive(Default)]
pub struct Select<'a> {
    choices: Vec<Choice<'a>>,
    /// The one to look at first: that after the last one found.
    first: usize,
}

enum Choice<'a> {
    End(&'a dyn End),
    After(Duration),
    #[cfg(target_os = "linux")]
    Descriptor(BorrowedFd<'a>, Interest),
}

impl<'a> Select<'a> {
    /// A wait for nothing yet.
    pub const fn new() -> Self {
        Self {
            choices: Vec::new(),
            first: 0,
        }
    }

    /// Looks at the choice with this number first, if there is one.
    #[doc(hidden)]
    pub fn begin_at(&mut self, number: usize) {
        self.first = number;
    }

    fn add(&mut self, choice: Choice<'a>) -> usize {
        self.choices.push(choice);
        self.choices.len() - 1
    }

    /// Adds a receiver: it is ready if there is a value, or no sender is left. Returns its number.
    pub fn recv<T: Send>(&mut self, receiver: &'a Receiver<T>) -> usize {
        self.add(Choice::End(receiver))
    }

    /// Adds a sender: it is ready if the channel has room, a receiver waits, or no receiver is left. Returns its number.
    pub fn send<T: Send>(&mut self, sender: &'a Sender<T>) -> usize {
        self.add(Choice::End(sender))
    }

    /// Adds a time, which is counted from the beginning of each wait. Returns its number.
    pub fn after(&mut self, time: Duration) -> usize {
        self.add(Choice::After(time))
    }

    /// Adds a descriptor, as for [`poll_fd`](crate::io::poll_fd). Returns its number.
    ///
    /// ```
    /// use std::io::Write;
    /// use uthread::{Select, io::Interest};
    ///
    /// uthread::run(|| {
    ///     let (reader, mut writer) = std::io::pipe().unwrap();
    ///     let mut select = Select::new();
    ///     let readable = select.poll(&reader, Interest::READABLE);
    ///     writer.write_all(b"x").unwrap();
    ///     assert_eq!(select.wait().unwrap(), readable);
    /// });
    /// ```
    #[cfg(target_os = "linux")]
    pub fn poll(&mut self, fd: &'a impl AsFd, interest: Interest) -> usize {
        self.add(Choice::Descriptor(fd.as_fd(), interest))
    }

    /// Waits until one is ready, and returns its number.
    ///
    /// # Errors
    /// If the system has no descriptor left for the wait. It needs two, if there are descriptors among the choices.
    ///
    /// # Panics
    /// Outside a runtime, if it has to wait while preemption is disabled, and if a channel belongs to another runtime.
    pub fn wait(&mut self) -> io::Result<usize> {
        self.wait_within("Select::wait", None)
    }

    /// Like [`wait`](Self::wait), but waits not longer than `limit`. With a limit of zero it only looks.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if none was ready in all that time, and those of [`wait`](Self::wait).
    ///
    /// # Panics
    /// Same as [`wait`](Self::wait).
    pub fn wait_timeout(&mut self, limit: Duration) -> io::Result<usize> {
        self.wait_within("Select::wait_timeout", Some(limit))
    }

    fn wait_within(&mut self, operation: &str, limit: Option<Duration>) -> io::Result<usize> {
        let worker = require_worker(operation);
        let limit_ns = limit.map(|limit| worker.deadline_ns(limit));
        let times = self.choices.iter().enumerate();
        let time = times.filter_map(|(number, choice)| match choice {
            Choice::After(time) => Some((worker.deadline_ns(*time), number)),
            _ => None,
        });
        let time = time.min();
        let mut signal = Signal::new(&self.choices)?;
        loop {
            let look = Look {
                worker,
                choices: &self.choices,
                notice: signal.notice(),
            };
            if let Some(found) = look.find(self.first, &signal) {
                drop(look);
                self.first = found + 1;
                return Ok(found);
            }
            let now_ns = worker.now_ns();
            match time {
                Some((end_ns, number)) if end_ns <= now_ns => return Ok(number),
                _ if limit_ns.is_some_and(|end_ns| end_ns <= now_ns) => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                _ => {}
            }
            let end_ns = time
                .map(|(end_ns, _)| end_ns)
                .into_iter()
                .chain(limit_ns)
                .min();
            let left = end_ns.map(|end_ns| Duration::from_nanos(end_ns - now_ns));
            // The notices stay until then.
            signal.wait(operation, left)?;
        }
    }
}

/// The notices at all channels, which are taken back in the end.
struct Look<'a> {
    worker: &'a Worker,
    choices: &'a [Choice<'a>],
    notice: Notice,
}

impl Look<'_> {
    /// The number of one that is ready.
    fn find(&self, first: usize, signal: &Signal) -> Option<usize> {
        #[cfg_attr(
            windows,
            expect(unused_variables, reason = "only Linux has descriptors")
        )]
        let ready = signal.ready();
        let count = self.choices.len();
        let mut numbers = (0..count).map(|i| first.wrapping_add(i) % count);
        numbers.find(|number| match &self.choices[*number] {
            Choice::End(end) => end.is_ready(self.worker, &self.notice),
            Choice::After(_) => false,
            #[cfg(target_os = "linux")]
            Choice::Descriptor(..) => ready.contains(number),
        })
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        for choice in self.choices {
            if let Choice::End(end) = choice {
                end.forget(self.worker, &self.notice);
            }
        }
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select")
            .field("choices", &self.choices.len())
            .finish_non_exhaustive()
    }
}
