//! Sends many files to one receiver, over one connection or several.

use super::gathering::Gathering;
use super::job::{Job, Plan, Source, Summary};
use super::method::Stopped;
use super::session::state_of;
use super::{Contents, Options, Session};
use crate::error::{Error, Result};
use crate::protocol::{FileName, Kind, Mode, Part, Times, Verdict};
use crate::{Outcome, thread_cpu, token};
use platform::directory::mode;
use platform::file::{believable_size, open_without_waiting, standard_input};
use std::fs::Metadata;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A smaller part is not worth a separate connection.
const SMALLEST_PART: u64 = 1 << 20;

/// Sends `jobs` to the receiver at `address`, and reports each file's outcome to `observer`.
///
/// # Errors
/// If the receiver cannot be reached or is lost. A file that cannot be sent is not an error but an
/// [`Outcome`] with a failure.
pub fn send(
    address: &str,
    jobs: &[Job],
    plan: Plan,
    options: &Options,
    observer: &(dyn Fn(&Outcome) + Sync),
) -> Result<Summary> {
    let mut session = [0; 16];
    token::fill_random(&mut session)?;
    let started = Instant::now();
    let connect = |stream| Session::connect(address, options, session, (stream, plan.streams));
    let mut sessions = vec![connect(0)?];
    for stream in 1..plan.streams {
        match connect(stream) {
            Ok(session) => sessions.push(session),
            // The connections that it accepted are enough.
            Err(Error::Refused(Verdict::Busy)) => break,
            Err(error) => return Err(error),
        }
    }
    let plan = Plan {
        streams: sessions.len() as u16,
        ..plan
    };
    let gathering = Gathering::new(plan, jobs, observer, started);
    let streams = (0..).zip(sessions).map(|(number, session)| Stream {
        number,
        session,
        gathering: &gathering,
    });
    let mut streams: Vec<_> = streams.collect();
    // Every connection finds all directories.
    streams[0].directories(gathering.ids(), &Kind::Directory)?;
    streams[0].settle_all()?;
    let costs = thread::scope(|scope| {
        let threads = streams.into_iter().map(|stream| {
            let thread = thread::Builder::new().name(format!("stream {}", stream.number));
            thread.spawn_scoped(scope, move || stream.run())
        });
        let threads: Vec<_> = threads.collect();
        let joined = threads.into_iter().map(|thread| match thread {
            Ok(thread) => match thread.join() {
                Ok(costs) => costs,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(reason) => Err(Error::Thread(reason)),
        });
        joined.collect::<Vec<_>>()
    });
    let costs = costs.into_iter().collect::<Result<Vec<_>>>();
    let mut summary = gathering.finish(costs.as_ref().err());
    let costs = costs?;
    for (here, there) in costs {
        summary.sender_cpu += here;
        summary.receiver_cpu += there;
    }
    Ok(summary)
}

/// One of the connections of a transfer.
struct Stream<'s> {
    number: u16,
    session: Session,
    gathering: &'s Gathering<'s>,
}

impl Stream<'_> {
    /// Sends this connection's share of the files; returns the CPU time of the thread here and of that at the receiver.
    fn run(mut self) -> Result<(Duration, Duration)> {
        let before = thread_cpu();
        if let Err(error) = self.share() {
            // The reason of the loss is reported already, and what arrived before it counts.
            while let Ok(Some(settled)) = self.session.known() {
                self.gathering.settle(settled);
            }
            for lost in self.session.lost(&error.to_string()) {
                self.gathering.settle(lost);
            }
            return Err(error);
        }
        let (_, receiver_cpu) = self.session.finish()?;
        Ok((thread_cpu().saturating_sub(before), receiver_cpu))
    }

    /// Sends this connection's share of the files, and waits for their outcomes. The last connection to
    /// do so also sends what must come last.
    fn share(&mut self) -> Result<()> {
        let Gathering { plan, jobs, .. } = *self.gathering;
        for (id, job) in (0..).zip(jobs) {
            if !matches!(job.source, Source::Directory(_)) {
                self.attempt(plan, id)?;
            }
        }
        self.settle_all()?;
        let Some(again) = self.gathering.end_share() else {
            return Ok(());
        };
        // A file that filled the device and failed is gone by now.
        let alone = Plan { streams: 1, ..plan };
        for id in again {
            self.attempt(alone, id)?;
        }
        if plan.keep {
            // The innermost first: what arrives in a directory changes its time, and may need rights that the
            // directory then loses.
            self.directories(self.gathering.ids().rev(), &Kind::CompleteDirectory)?;
        }
        self.settle_all()
    }

    /// True if a file that is not divided is this connection's to send.
    fn falls_here(&self, plan: Plan, id: u64) -> bool {
        id % u64::from(plan.streams) == u64::from(self.number % plan.streams)
    }

    /// Sends this connection's share of a file, and settles what is known by now.
    fn attempt(&mut self, plan: Plan, id: u64) -> Result<()> {
        match self.one_file(plan, id) {
            Err(Stopped::Lost(error)) => return Err(error),
            // Each connection finds the reason, and one reports it.
            Err(Stopped::Source(reason)) if self.falls_here(plan, id) => {
                self.gathering.fail(id, reason);
            }
            _ => {}
        }
        while let Some(settled) = self.session.known()? {
            self.gathering.settle(settled);
        }
        Ok(())
    }

    /// Waits for all outcomes.
    fn settle_all(&mut self) -> Result<()> {
        while let Some(settled) = self.session.settled()? {
            self.gathering.settle(settled);
        }
        Ok(())
    }

    /// Makes or completes those of these files at the receiver that are directories.
    fn directories(&mut self, ids: impl Iterator<Item = u64>, kind: &Kind) -> Result<()> {
        let Gathering { plan, jobs, .. } = *self.gathering;
        let keeps = plan.keep && *kind == Kind::CompleteDirectory;
        for id in ids {
            let job = &jobs[id as usize];
            let Source::Directory(metadata) = &job.source else {
                continue;
            };
            if self.gathering.has_failed(id) {
                continue;
            }
            match FileName::new(&job.name) {
                Ok(name) => {
                    let item = Part {
                        kind: kind.clone(),
                        mode: mode_of(metadata, keeps),
                        modified: keeps.then(|| modified(metadata)).flatten(),
                        ..Part::file(id, name, Some(0))
                    };
                    self.session.send_empty(&item)?;
                }
                Err(wrong) => self.gathering.fail(id, wrong.to_string()),
            }
        }
        Ok(())
    }

    /// Sends this connection's share of a file, if it has one.
    fn one_file(&mut self, plan: Plan, id: u64) -> std::result::Result<(), Stopped> {
        let job = &self.gathering.jobs[id as usize];
        let falls_here = self.falls_here(plan, id);
        let session = &mut self.session;
        let name = FileName::new(&job.name).map_err(|wrong| Stopped::Source(wrong.to_string()))?;
        let mut item = Part::file(id, name, None);
        match &job.source {
            Source::StandardInput if falls_here => {
                session.send(&item, Contents::Stream(&standard_input()?))?;
            }
            Source::Link(target) if falls_here => {
                item.size = Some(0);
                item.resume = plan.resume;
                item.kind = Kind::Link(target.clone());
                session.send_empty(&item)?;
            }
            Source::StandardInput | Source::Link(_) | Source::Directory(_) => {}
            Source::Skipped(reason) => return Err(Stopped::Source(reason.clone())),
            Source::Zeros(size) => {
                let parts = parts(plan, Some(*size));
                if parts == 1 && !falls_here {
                    return Ok(());
                }
                (item.size, item.parts) = (Some(*size), parts);
                let part = if parts == 1 { 0 } else { self.number };
                session.send_part(&item, part, None, Contents::Zeros)?;
            }
            Source::Path { size, .. } | Source::Beneath { size, .. } => {
                // The listed size decides, so that all connections agree about a file that grows.
                let parts = parts(plan, *size);
                if parts == 1 && !falls_here {
                    return Ok(());
                }
                let (file, metadata) = match &job.source {
                    Source::Beneath { root, path, .. } => root.open_beneath(path)?,
                    Source::Path { path, .. } => open_without_waiting(path)?,
                    _ => unreachable!("the arm is for these two"),
                };
                if metadata.is_dir() {
                    return Err(Stopped::Source("it is a directory".into()));
                }
                // A new file at the receiver is never open to more users than the source.
                item.mode = mode_of(&metadata, plan.keep);
                item.modified = plan.keep.then(|| modified(&metadata)).flatten();
                let Some(size) = believable_size(&file, &metadata) else {
                    if falls_here {
                        session.send(&item, Contents::Stream(&file))?;
                    }
                    return Ok(());
                };
                (item.size, item.parts) = (Some(size), parts);
                item.resume = plan.resume;
                let part = if parts == 1 { 0 } else { self.number };
                let before = self.gathering.first_state(id, parts, state_of(&metadata));
                session.send_part(&item, part, Some(before), Contents::File(&file))?;
            }
        }
        Ok(())
    }
}

/// The permission bits of a source, which the receiver sets exactly or gives to a new file.
fn mode_of(metadata: &Metadata, is_kept: bool) -> Option<Mode> {
    mode(metadata).map(|bits| Mode { bits, is_kept })
}

/// Number of parts for a file of this size.
fn parts(plan: Plan, size: Option<u64>) -> u16 {
    // The receiver's existing bytes are always a single part from the start.
    let may_be = !plan.resume;
    let worth_it = size.is_some_and(|size| size >= SMALLEST_PART * u64::from(plan.streams));
    if may_be && worth_it { plan.streams } else { 1 }
}

fn modified(metadata: &Metadata) -> Option<Times> {
    let moment: SystemTime = metadata.modified().ok()?;
    let (seconds, nanoseconds) = match moment.duration_since(UNIX_EPOCH) {
        Ok(after) => (i64::try_from(after.as_secs()).ok()?, after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let whole = i64::try_from(before.as_secs()).ok()?;
            match before.subsec_nanos() {
                0 => (-whole, 0),
                part => (-whole - 1, 1_000_000_000 - part),
            }
        }
    };
    Some(Times {
        seconds,
        nanoseconds,
    })
}
