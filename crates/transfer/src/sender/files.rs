//! Sends many files to one receiver, over one connection or several.

use super::session::{State as FileState, state_of};
use super::{Contents, Item, Options, Session};
use crate::clock::thread_cpu;
use crate::error::{Error, Result};
use crate::outcome::{Outcome, Timing};
use crate::protocol::{FileName, Times, Verdict};
use crate::random;
use platform::directory::mode;
use platform::file::{believable_size, open_without_waiting, standard_input};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A file to send, and its name at the receiver.
#[derive(Clone, Debug)]
pub struct Job {
    /// The name at the receiver, one component.
    pub name: Vec<u8>,
    /// Source of the bytes.
    pub source: Source,
}

/// The source of a file to send.
#[derive(Clone, Debug)]
pub enum Source {
    /// The file at a path.
    Path(PathBuf),
    /// Standard input.
    StandardInput,
    /// This number of zero bytes from memory.
    Zeros(u64),
}

/// Connections to use and attributes to keep.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of connections, at least 1; fewer if the receiver has no room for all of them.
    pub streams: u16,
    /// True to keep what the receiver already has of a file, where it agrees.
    pub resume: bool,
    /// True to keep permission bits.
    pub keep_mode: bool,
    /// True to keep modification times.
    pub keep_times: bool,
}

/// The outcome of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Number of files that arrived.
    pub files: u64,
    /// Number of files that failed.
    pub failed: u64,
    /// Total size in bytes of the files that arrived.
    pub bytes: u64,
    /// From the start until the last byte was received and until it was stored.
    pub timing: Timing,
    /// CPU time of both sides.
    pub farewell: Farewell,
}

/// The CPU cost of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Farewell {
    /// CPU time of the sender's threads.
    pub sender_cpu: Duration,
    /// CPU time of the receiver's threads.
    pub receiver_cpu: Duration,
}

/// A smaller part is not worth a connection of its own.
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
    random::fill(&mut session)?;
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
    let gathering = Gathering {
        plan,
        jobs,
        observer,
        started,
        state: Mutex::default(),
    };
    let costs = thread::scope(|scope| {
        let gathering = &gathering;
        let threads: Vec<_> = (0..)
            .zip(sessions)
            .map(|(stream, session)| {
                let thread = thread::Builder::new().name(format!("stream {stream}"));
                thread.spawn_scoped(scope, move || one_stream(stream, session, gathering))
            })
            .collect();
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
    let state = gathering
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let mut summary = state.summary;
    for (_, mut outcome) in state.pending.into_values() {
        outcome.failure.get_or_insert_with(|| match &costs {
            // The file shrank: a connection that found it too small to divide left its part to the
            // others.
            Ok(_) => "it changed while it was sent".to_owned(),
            Err(error) => error.to_string(),
        });
        summary.failed += 1;
        observer(&outcome);
    }
    let costs = costs?;
    for cost in costs {
        summary.farewell.sender_cpu += cost.sender_cpu;
        summary.farewell.receiver_cpu += cost.receiver_cpu;
    }
    Ok(summary)
}

/// The shared state of all connections of a transfer.
struct Gathering<'g> {
    plan: Plan,
    jobs: &'g [Job],
    observer: &'g (dyn Fn(&Outcome) + Sync),
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    summary: Summary,
    /// Files of which some but not all parts have ended: the number of ended parts, and the
    /// combined outcome so far.
    pending: BTreeMap<u64, (u16, Outcome)>,
    /// Files that are being sent in parts: the state that all parts must find the file in.
    divided: BTreeMap<u64, FileState>,
}

impl Gathering<'_> {
    /// Records the outcome of one of the `parts` parts of file `id`.
    fn settle(&self, id: u64, parts: u16, outcome: Outcome) {
        let elapsed = self.started.elapsed();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (settled, so_far) = match state.pending.remove(&id) {
            None => (1, outcome),
            Some((settled, mut so_far)) => {
                so_far.size += outcome.size;
                so_far.timing.received = so_far.timing.received.max(outcome.timing.received);
                so_far.timing.stored = so_far.timing.stored.max(outcome.timing.stored);
                so_far.failure = so_far.failure.or(outcome.failure);
                so_far.is_kept |= outcome.is_kept;
                (settled + 1, so_far)
            }
        };
        if settled < parts {
            state.pending.insert(id, (settled, so_far));
            return;
        }
        state.divided.remove(&id);
        let summary = &mut state.summary;
        if so_far.failure.is_some() {
            summary.failed += 1;
        } else {
            summary.files += 1;
            summary.bytes += so_far.size;
        }
        // The receiver's timing of the last file tells how long storing took.
        let storing = so_far.timing.stored.saturating_sub(so_far.timing.received);
        summary.timing = Timing {
            received: elapsed.saturating_sub(storing),
            stored: elapsed,
        };
        (self.observer)(&so_far);
    }

    /// The state in which the first connection found a file that this one finds in `state` and
    /// divides into `parts`. A divided file must not change in between.
    fn first_state(&self, id: u64, parts: u16, state: FileState) -> FileState {
        let mut gathered = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if parts == 1 {
            return gathered.divided.get(&id).copied().unwrap_or(state);
        }
        *gathered.divided.entry(id).or_insert(state)
    }

    /// Number of parts for a file of this size.
    fn parts(&self, size: Option<u64>) -> u16 {
        // The receiver's existing bytes are always a single part from the start.
        let may_be = !self.plan.resume;
        let worth_it =
            size.is_some_and(|size| size >= SMALLEST_PART * u64::from(self.plan.streams));
        if may_be && worth_it {
            self.plan.streams
        } else {
            1
        }
    }
}

/// Sends this connection's share of the files.
fn one_stream(stream: u16, mut session: Session, gathering: &Gathering<'_>) -> Result<Farewell> {
    let before = thread_cpu();
    let mut parts_of = BTreeMap::new();
    if let Err(error) = share(stream, &mut session, gathering, &mut parts_of) {
        // The reason of the loss is reported already, and what arrived before it counts.
        while let Ok(Some((id, outcome))) = session.known_outcome() {
            gathering.settle(id, parts_of.remove(&id).unwrap_or(1), outcome);
        }
        for (id, parts, outcome) in session.lost(&error.to_string()) {
            gathering.settle(id, parts, outcome);
        }
        return Err(error);
    }
    let (_, receiver_cpu) = session.finish()?;
    Ok(Farewell {
        sender_cpu: thread_cpu().saturating_sub(before),
        receiver_cpu,
    })
}

/// Sends this connection's share of the files, and waits for their outcomes.
fn share(
    stream: u16,
    session: &mut Session,
    gathering: &Gathering<'_>,
    parts_of: &mut BTreeMap<u64, u16>,
) -> Result<()> {
    for (id, job) in (0..).zip(gathering.jobs) {
        match one_file(stream, id, job, session, gathering) {
            Ok(Some(parts)) => {
                parts_of.insert(id, parts);
            }
            Ok(None) => {}
            Err(Error::Source { reason, .. }) => {
                let is_mine = id % u64::from(gathering.plan.streams) == u64::from(stream);
                if is_mine {
                    let failure = Some(reason);
                    let name = job.name.clone();
                    let (size, timing) = (0, Timing::default());
                    gathering.settle(
                        id,
                        1,
                        Outcome {
                            name,
                            size,
                            timing,
                            failure,
                            is_kept: false,
                        },
                    );
                }
            }
            Err(error) => return Err(error),
        }
        while let Some((id, outcome)) = session.known_outcome()? {
            gathering.settle(id, parts_of.remove(&id).unwrap_or(1), outcome);
        }
    }
    while let Some((id, outcome)) = session.outcome()? {
        gathering.settle(id, parts_of.remove(&id).unwrap_or(1), outcome);
    }
    Ok(())
}

/// Sends this connection's share of a file; returns the file's number of parts, or `None` if there
/// is nothing to send here.
fn one_file(
    stream: u16,
    id: u64,
    job: &Job,
    session: &mut Session,
    gathering: &Gathering<'_>,
) -> Result<Option<u16>> {
    let plan = gathering.plan;
    let failed = |reason: String| Error::Source {
        name: String::from_utf8_lossy(&job.name).into_owned(),
        reason,
    };
    let unreadable = |error: std::io::Error| failed(error.to_string());
    let falls_here = id % u64::from(plan.streams) == u64::from(stream);
    let mut item = Item {
        id,
        name: FileName::new(&job.name).map_err(|wrong| failed(wrong.to_string()))?,
        size: None,
        part: (1, 0),
        resume: false,
        mode: None,
        modified: None,
    };
    match &job.source {
        Source::StandardInput if falls_here => {
            let input = standard_input().map_err(|error| failed(error.to_string()))?;
            session.send(&item, Contents::Stream(&input))?;
        }
        Source::StandardInput => return Ok(None),
        Source::Zeros(size) => {
            item.size = Some(*size);
            item.part = (gathering.parts(item.size), stream);
            if item.part.0 == 1 && !falls_here {
                return Ok(None);
            }
            item.part.1 = if item.part.0 == 1 { 0 } else { stream };
            session.send(&item, Contents::Zeros(*size))?;
        }
        Source::Path(path) => {
            if !falls_here {
                // A divided file has a part here too. Asking for the size costs less than opening
                // the file.
                let metadata = path.metadata().map_err(unreadable)?;
                if !metadata.is_file() || gathering.parts(Some(metadata.len())) == 1 {
                    return Ok(None);
                }
            }
            let (file, metadata) = open_without_waiting(path).map_err(unreadable)?;
            if metadata.is_dir() {
                return Err(failed("it is a directory".into()));
            }
            item.mode = plan.keep_mode.then(|| mode(&metadata)).flatten();
            item.modified = plan.keep_times.then(|| modified(&metadata)).flatten();
            let Some(size) = believable_size(&file, &metadata) else {
                session.send(&item, Contents::Stream(&file))?;
                return Ok(Some(1));
            };
            item.size = Some(size);
            item.resume = plan.resume;
            let parts = gathering.parts(item.size);
            if parts == 1 && !falls_here {
                return Ok(None);
            }
            item.part = (parts, if parts == 1 { 0 } else { stream });
            let before = gathering.first_state(id, parts, state_of(&metadata));
            session.send_if_still(Ok(Some(before)), &item, Contents::File(&file))?;
        }
    }
    Ok(Some(item.part.0))
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
