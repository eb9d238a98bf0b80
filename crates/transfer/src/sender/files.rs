//! Many files to one receiver, over one connection or several.

use super::session::{State as FileState, state_of};
use super::{Contents, Item, Options, Session};
use crate::clock::thread_cpu;
use crate::error::{Error, Result};
use crate::outcome::{Outcome, Timing};
use crate::protocol::{FileName, Times, Verdict};
use crate::random;
use platform::directory::mode;
use platform::file::{open_without_waiting, standard_input};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Something to be sent, and its name at the receiver.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its name, one component.
    pub name: Vec<u8>,
    /// What it is.
    pub source: Source,
}

/// Something to be sent.
#[derive(Clone, Debug)]
pub enum Source {
    /// What lies at a path.
    Path(PathBuf),
    /// What comes in on standard input.
    StandardInput,
    /// So many zeros out of memory.
    Zeros(u64),
}

/// How files are divided and what is kept of them.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of connections, if the receiver has room for them all, else fewer; at least 1.
    pub streams: u16,
    /// Whether what the receiver has of a file is kept if it agrees.
    pub resume: bool,
    /// Whether permission bits are kept.
    pub keep_mode: bool,
    /// Whether times of the last change are kept.
    pub keep_times: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files that arrived.
    pub files: u64,
    /// Files that did not.
    pub failed: u64,
    /// Bytes of those that arrived.
    pub bytes: u64,
    /// From the start until the last byte was received and until it was stored.
    pub timing: Timing,
    /// What the two sides spent.
    pub farewell: Farewell,
}

/// What a transfer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Farewell {
    /// CPU time of the sender's threads.
    pub sender_cpu: Duration,
    /// CPU time of the receiver's threads.
    pub receiver_cpu: Duration,
}

/// A part that has less than this to do is not worth a connection of its own.
const SMALLEST_PART: u64 = 1 << 20;

/// Sends `jobs` to the receiver at `address`, and tells `observer` what became of each.
///
/// # Errors
/// If the receiver cannot be reached or is lost. A file that cannot be sent is no error but an
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
            // Those that it takes will do.
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
    let costs = costs.into_iter().collect::<Result<Vec<_>>>()?;
    let state = gathering
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let mut summary = state.summary;
    // A connection that found a file smaller than others did may have left its part to those.
    for (_, mut outcome) in state.pending.into_values() {
        let changed = || "it changed while it was sent".to_owned();
        outcome.failure.get_or_insert_with(changed);
        summary.failed += 1;
        observer(&outcome);
    }
    for cost in costs {
        summary.farewell.sender_cpu += cost.sender_cpu;
        summary.farewell.receiver_cpu += cost.receiver_cpu;
    }
    Ok(summary)
}

/// What all connections of a transfer report to.
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
    /// Files of which some parts are settled: how many, and what came of them so far.
    pending: BTreeMap<u64, (u16, Outcome)>,
    /// Files of which parts are sent: the state of which all parts have to be.
    divided: BTreeMap<u64, FileState>,
}

impl Gathering<'_> {
    /// Takes in what became of a part of file `id`, which has `parts`.
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
        // The last file's own account tells what of the time went into storing it.
        let storing = so_far.timing.stored.saturating_sub(so_far.timing.received);
        summary.timing = Timing {
            received: elapsed.saturating_sub(storing),
            stored: elapsed,
        };
        (self.observer)(&so_far);
    }

    /// In which state the first connection found a file that this one finds in `state` and divides into
    /// so many parts. Once it was divided, it has to stay what it was.
    fn first_state(&self, id: u64, parts: u16, state: FileState) -> FileState {
        let mut gathered = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if parts == 1 {
            return gathered.divided.get(&id).copied().unwrap_or(state);
        }
        *gathered.divided.entry(id).or_insert(state)
    }

    /// How many parts a file of this size has.
    fn parts(&self, size: Option<u64>) -> u16 {
        // What the receiver has is one part from the start.
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

/// Sends over one connection what falls to it.
fn one_stream(stream: u16, mut session: Session, gathering: &Gathering<'_>) -> Result<Farewell> {
    let before = thread_cpu();
    let mut parts_of = BTreeMap::new();
    for (id, job) in (0..).zip(gathering.jobs) {
        match one_file(stream, id, job, &mut session, gathering) {
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
    let (_, receiver_cpu) = session.finish()?;
    Ok(Farewell {
        sender_cpu: thread_cpu().saturating_sub(before),
        receiver_cpu,
    })
}

/// Sends what of a file falls to this connection; tells how many parts the file has, or `None` if
/// nothing of it falls here.
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
                // Unless it is divided. To ask costs less than to open it.
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
            if !metadata.is_file() {
                session.send(&item, Contents::Stream(&file))?;
                return Ok(Some(1));
            }
            item.size = Some(metadata.len());
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
