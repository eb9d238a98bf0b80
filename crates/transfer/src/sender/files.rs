//! Sends many files to one receiver, over one connection or several.

use super::gathering::Gathering;
use super::job::{Job, Plan, Source, Summary};
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
    directories(&mut sessions[0], &gathering)?;
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
    let mut summary = gathering.finish(costs.as_ref().err());
    let costs = costs?;
    for (here, there) in costs {
        summary.sender_cpu += here;
        summary.receiver_cpu += there;
    }
    Ok(summary)
}

/// Sends this connection's share of the files; returns the CPU time of the thread here and of that at the receiver.
fn one_stream(
    stream: u16,
    mut session: Session,
    gathering: &Gathering<'_>,
) -> Result<(Duration, Duration)> {
    let before = thread_cpu();
    if let Err(error) = share(stream, &mut session, gathering) {
        // The reason of the loss is reported already, and what arrived before it counts.
        while let Ok(Some(settled)) = session.known() {
            gathering.settle(settled);
        }
        for lost in session.lost(&error.to_string()) {
            gathering.settle(lost);
        }
        return Err(error);
    }
    let (_, receiver_cpu) = session.finish()?;
    Ok((thread_cpu().saturating_sub(before), receiver_cpu))
}

/// Sends this connection's share of the files, and waits for their outcomes. The last connection to
/// do so also sends what must come last.
fn share(stream: u16, session: &mut Session, gathering: &Gathering<'_>) -> Result<()> {
    for (id, job) in (0..).zip(gathering.jobs) {
        if !matches!(job.source, Source::Directory(_)) {
            attempt((stream, gathering.plan), (id, job), session, gathering)?;
        }
    }
    settle_all(session, gathering)?;
    let Some(again) = gathering.end_share() else {
        return Ok(());
    };
    // A file that filled the device and failed is gone by now.
    let alone = Plan {
        streams: 1,
        ..gathering.plan
    };
    for id in again {
        let job = &gathering.jobs[id as usize];
        attempt((0, alone), (id, job), session, gathering)?;
    }
    complete_directories(session, gathering)?;
    settle_all(session, gathering)
}

/// Sends this connection's share of a file, and settles what is known by now.
fn attempt(
    (stream, plan): (u16, Plan),
    (id, job): (u64, &Job),
    session: &mut Session,
    gathering: &Gathering<'_>,
) -> Result<()> {
    match one_file((stream, plan), (id, job), session, gathering) {
        Ok(()) => {}
        Err(Error::Source { reason, .. }) => {
            let is_mine = id % u64::from(plan.streams) == u64::from(stream);
            if is_mine {
                gathering.fail(id, reason);
            }
        }
        Err(error) => return Err(error),
    }
    while let Some(settled) = session.known()? {
        gathering.settle(settled);
    }
    Ok(())
}

/// Waits for all outcomes.
fn settle_all(session: &mut Session, gathering: &Gathering<'_>) -> Result<()> {
    while let Some(settled) = session.settled()? {
        gathering.settle(settled);
    }
    Ok(())
}

/// The permission bits of a source, which the receiver sets exactly or gives to a new file.
fn mode_of(metadata: &Metadata, is_kept: bool) -> Option<Mode> {
    mode(metadata).map(|bits| Mode { bits, is_kept })
}

/// Makes all directories at the receiver, so that every connection finds them.
fn directories(session: &mut Session, gathering: &Gathering<'_>) -> Result<()> {
    let all = (0..).zip(gathering.jobs);
    send_directories(all, Kind::Directory, session, gathering)?;
    settle_all(session, gathering)
}

/// Sets permissions and times of directories, the innermost first: what arrives in a directory changes
/// its time, and may need rights that it then loses.
fn complete_directories(session: &mut Session, gathering: &Gathering<'_>) -> Result<()> {
    if !gathering.plan.keep_mode && !gathering.plan.keep_times {
        return Ok(());
    }
    let all = gathering.jobs.iter().enumerate().rev();
    let all = all.map(|(id, job)| (id as u64, job));
    send_directories(all, Kind::CompleteDirectory, session, gathering)
}

fn send_directories<'j>(
    jobs: impl Iterator<Item = (u64, &'j Job)>,
    kind: Kind<'_>,
    session: &mut Session,
    gathering: &Gathering<'_>,
) -> Result<()> {
    let keeps = |wish: bool| wish && kind == Kind::CompleteDirectory;
    for (id, job) in jobs {
        let Source::Directory(metadata) = &job.source else {
            continue;
        };
        if gathering.has_failed(id) {
            continue;
        }
        match FileName::new(&job.name) {
            Ok(name) => {
                let keeps_times = keeps(gathering.plan.keep_times);
                let item = Part {
                    kind,
                    mode: mode_of(metadata, keeps(gathering.plan.keep_mode)),
                    modified: keeps_times.then(|| modified(metadata)).flatten(),
                    ..Part::file(id, name, Some(0))
                };
                session.send_empty(&item)?;
            }
            Err(wrong) => gathering.fail(id, wrong.to_string()),
        }
    }
    Ok(())
}

/// Sends this connection's share of a file, if it has one.
fn one_file(
    (stream, plan): (u16, Plan),
    (id, job): (u64, &Job),
    session: &mut Session,
    gathering: &Gathering<'_>,
) -> Result<()> {
    let failed = |reason: String| Error::Source {
        name: String::from_utf8_lossy(&job.name).into_owned(),
        reason,
    };
    let unreadable = |error: std::io::Error| failed(error.to_string());
    let falls_here = id % u64::from(plan.streams) == u64::from(stream);
    let name = || FileName::new(&job.name).map_err(|wrong| failed(wrong.to_string()));
    let mut item = Part::file(id, name()?, None);
    match &job.source {
        Source::StandardInput if falls_here => {
            let input = standard_input().map_err(|error| failed(error.to_string()))?;
            session.send(&item, Contents::Stream(&input))
        }
        Source::Link(target) if falls_here => {
            item.size = Some(0);
            item.resume = plan.resume;
            item.kind = Kind::Link(target);
            session.send_empty(&item)
        }
        Source::StandardInput | Source::Link(_) | Source::Directory(_) => Ok(()),
        Source::Skipped(reason) => Err(failed(reason.clone())),
        Source::Zeros(size) => {
            let parts = parts(plan, Some(*size));
            if parts == 1 && !falls_here {
                return Ok(());
            }
            (item.size, item.parts) = (Some(*size), parts);
            let part = if parts == 1 { 0 } else { stream };
            session.send_part(&item, part, Ok(None), Contents::Zeros)
        }
        Source::Path { size, .. } | Source::Beneath { size, .. } => {
            // The listed size decides, so that all connections agree about a file that grows.
            let parts = parts(plan, *size);
            if parts == 1 && !falls_here {
                return Ok(());
            }
            let (file, metadata) = match &job.source {
                Source::Beneath { root, path, .. } => {
                    let opened = root.open_beneath(path);
                    opened.map_err(|error| failed(error.to_string()))?
                }
                Source::Path { path, .. } => open_without_waiting(path).map_err(unreadable)?,
                _ => unreachable!("the arm is for these two"),
            };
            if metadata.is_dir() {
                return Err(failed("it is a directory".into()));
            }
            // A new file at the receiver is never open to more users than the source.
            item.mode = mode_of(&metadata, plan.keep_mode);
            item.modified = plan.keep_times.then(|| modified(&metadata)).flatten();
            let Some(size) = believable_size(&file, &metadata) else {
                if !falls_here {
                    return Ok(());
                }
                return session.send(&item, Contents::Stream(&file));
            };
            (item.size, item.parts) = (Some(size), parts);
            item.resume = plan.resume;
            let part = if parts == 1 { 0 } else { stream };
            let before = gathering.first_state(id, parts, state_of(&metadata));
            session.send_part(&item, part, Ok(Some(before)), Contents::File(&file))
        }
    }
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
