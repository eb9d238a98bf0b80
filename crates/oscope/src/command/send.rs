//! `oscope send`: sends files to an `oscope receive`.

use super::transfer::{FORMAT, MOST_LISTED, cost, legible, line, totals, value, warn_of_cover};
use crate::arguments::Common;
use crate::arguments::transfer::Send as Arguments;
use crate::exit::{Exit, WrongUse};
use crate::progress::{Voice, bar_of_bytes, while_drawn};
use crate::{output, token_file};
use anyhow::{Context, Result};
use choice::Choice;
use instrument::quantity::{Nanoseconds, counted};
use platform::file::standard_input;
use platform::signal::{Interrupt, ignore_sigpipe};
use serde_json::json;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use transfer::method::SendMethod;
use transfer::sender::{self, Job, Options, Plan, Source, Summary};
use transfer::{Cover, Error, Limits, Outcome};

/// From this number of files on, a second connection is faster.
const MANY: usize = 100;

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    ignore_sigpipe();
    let jobs = jobs(arguments)?;
    let options = options(arguments, interrupt)?;
    let plan = Plan {
        streams: arguments.streams.unwrap_or_else(|| streams(&jobs)),
        resume: arguments.resume,
        keep: arguments.keep,
    };
    let voice = Voice::new(common, || bar_of_bytes(total_size(&jobs)));
    let outcomes = Mutex::new(Vec::new());
    let observe = |outcome: &Outcome| {
        if outcome.failure.is_some() {
            voice.warn(&line(outcome));
        }
        let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.push(outcome.clone());
    };
    if options.insecure {
        voice.warn(
            "insecure: the receiver is not checked, and others on the network can read and change \
             the files",
        );
    }
    let position = || options.progress.load(Ordering::Relaxed);
    let sent = while_drawn(voice.bar(), position, || {
        sender::send(&arguments.to, &jobs, plan, &options, &observe)
    });
    let outcomes = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let summary = match (sent, interrupt.signal()) {
        (Err(Error::Interrupted), Some(signal)) => {
            voice.warn(&format!(
                "interrupted; {}",
                arrived(&outcomes, &jobs, options.cover)
            ));
            return Ok(Exit::Stopped(signal));
        }
        (Err(error), _) if !outcomes.is_empty() => {
            voice.warn(&arrived(&outcomes, &jobs, options.cover));
            return Err(error.into());
        }
        (sent, _) => sent?,
    };
    if options.token.is_some() {
        warn_of_cover(&voice, options.cover);
    }
    output::show(&present(&summary, &outcomes, options.cover, common)?)?;
    Ok(Exit::incomplete_if(summary.failed > 0))
}

/// The files that arrived before the transfer ended early, and the way to send the rest.
fn arrived(outcomes: &[Outcome], jobs: &[Job], cover: Cover) -> String {
    let arrived = outcomes.iter().filter(|outcome| outcome.failure.is_none());
    let names: Vec<_> = arrived.map(|outcome| legible(&outcome.name)).collect();
    let mut text = match &names[..] {
        [] => "no file arrived".to_owned(),
        names if names.len() as u64 > MOST_LISTED => format!("{} files arrived", names.len()),
        names => format!("arrived: {}", names.join(", ")),
    };
    let can_be_read_again = |job: &Job| !matches!(job.source, Source::StandardInput);
    let has_kept = outcomes.iter().any(|outcome| outcome.is_kept) || !names.is_empty();
    if has_kept && cover != Cover::Bare && jobs.iter().all(can_be_read_again) {
        text += "; the same with --resume sends only what is missing";
    }
    text
}

fn present(
    summary: &Summary,
    outcomes: &[Outcome],
    cover: Cover,
    common: &Common,
) -> Result<String> {
    if common.json {
        let mut total = totals(summary.files, summary.failed, summary.bytes, summary.timing);
        total["contents"] = json!(cover.name());
        total["sender_cpu_ns"] = json!(summary.sender_cpu.as_nanos() as u64);
        total["receiver_cpu_ns"] = json!(summary.receiver_cpu.as_nanos() as u64);
        let files: Vec<_> = outcomes.iter().map(value).collect();
        let all = json!({ "format": FORMAT, "files": files, "total": total });
        return output::json(&all);
    }
    let mut text = String::new();
    let arrived = outcomes.iter().filter(|outcome| outcome.failure.is_none());
    if outcomes.len() as u64 <= MOST_LISTED {
        arrived.for_each(|outcome| text += &(line(outcome) + "\n"));
    }
    let sum = format!(
        "{}, {}; CPU {:.3} here, {:.3} there\n",
        counted(summary.files, "file"),
        cost(summary.bytes, summary.timing),
        Nanoseconds::from(summary.sender_cpu),
        Nanoseconds::from(summary.receiver_cpu),
    );
    Ok(text + &sum)
}

fn options(arguments: &Arguments, interrupt: Interrupt) -> Result<Options> {
    let token = token_file::read(arguments.token_file.as_deref())?;
    let is_sealed = token.is_some() && !arguments.unsealed;
    let cover = match (is_sealed, arguments.no_checksum) {
        (true, true) => {
            let text = "sealed contents are always checked: --no-checksum needs --unsealed";
            return Err(WrongUse(text.into()).into());
        }
        (true, false) => Cover::Sealed,
        (false, false) => Cover::Summed,
        (false, true) => Cover::Bare,
    };
    Ok(Options {
        method: arguments.method.unwrap_or_else(|| SendMethod::usual(cover)),
        cover,
        token,
        insecure: arguments.insecure,
        limits: Limits {
            patience: arguments.timeout,
            stop: interrupt.flag(),
        },
        progress: Arc::default(),
    })
}

fn jobs(arguments: &Arguments) -> Result<Vec<Job>> {
    let wrong = |text: &str| Err(WrongUse(text.into()).into());
    if let Some(size) = arguments.zeros {
        let name = arguments.name.as_deref().unwrap_or("zeros").into();
        return Ok(vec![Job {
            name,
            source: Source::Zeros(size.0),
        }]);
    }
    let files = arguments.files.iter();
    match files.filter(|file| *file == Path::new("-")).count() {
        0 => {}
        1 => {
            standard_input()?;
            if arguments.method.is_some_and(|it| it != SendMethod::File) {
                return wrong("standard input can only be read: --method file");
            }
            if arguments.resume {
                return wrong("standard input cannot be resumed, since its beginning is gone");
            }
        }
        _ => return wrong("standard input can be sent only once"),
    }
    if arguments.name.is_some() && arguments.files.len() > 1 {
        return wrong("--name names one file");
    }
    all_jobs(&arguments.files, arguments.name.as_deref())
}

/// The jobs of all paths. Many are looked up by two threads, since nothing is sent before.
fn all_jobs(files: &[PathBuf], name: Option<&str>) -> Result<Vec<Job>> {
    if files.len() < MANY {
        return jobs_in_turn(files, name);
    }
    let (first, second) = files.split_at(files.len() / 2);
    thread::scope(|scope| {
        let helper = thread::Builder::new().spawn_scoped(scope, || jobs_in_turn(second, name));
        let mut jobs = jobs_in_turn(first, name)?;
        jobs.extend(match helper.map(ScopedJoinHandle::join) {
            Ok(Ok(found)) => found?,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => jobs_in_turn(second, name)?,
        });
        Ok(jobs)
    })
}

fn jobs_in_turn(files: &[PathBuf], name: Option<&str>) -> Result<Vec<Job>> {
    let mut jobs = Vec::with_capacity(files.len());
    for file in files {
        let job = job(file, name)?;
        match job.source {
            // With everything in it.
            Source::Directory(_) => jobs.append(&mut sender::tree(file, &job.name)?),
            _ => jobs.push(job),
        }
    }
    Ok(jobs)
}

fn job(file: &Path, name: Option<&str>) -> Result<Job> {
    let is_input = file == Path::new("-");
    let name = match name {
        Some(name) => name.into(),
        None if is_input => b"stdin".to_vec(),
        None => own_name(file)?.into_encoded_bytes(),
    };
    // One that cannot be found fails when it is opened.
    let source = match file.metadata() {
        _ if is_input => Source::StandardInput,
        Ok(metadata) if metadata.is_dir() => Source::Directory(Box::new(metadata)),
        found => Source::Path {
            path: file.to_owned(),
            size: found.ok().filter(Metadata::is_file).map(|it| it.len()),
        },
    };
    Ok(Job { name, source })
}

/// The name of a file in its directory, which is not in a path such as `.`.
fn own_name(file: &Path) -> Result<OsString> {
    if let Some(name) = file.file_name() {
        return Ok(name.to_owned());
    }
    let whole = file.canonicalize();
    let whole = whole.with_context(|| format!("cannot read {}", file.display()))?;
    let name = whole.file_name().map(OsStr::to_owned);
    name.with_context(|| format!("{} has no name: give it one with --name", file.display()))
}

/// The useful number of connections. Creating a file costs the receiver more than sending it costs
/// the sender, so two receiver threads speed up many small files. Zeros need no file, and two
/// threads sum them.
fn streams(jobs: &[Job]) -> u16 {
    let are_zeros = jobs
        .iter()
        .all(|job| matches!(job.source, Source::Zeros(_)));
    if jobs.len() >= MANY || are_zeros {
        2
    } else {
        1
    }
}

/// Total size, if known in advance.
fn total_size(jobs: &[Job]) -> Option<u64> {
    let sizes = jobs.iter().map(|job| match &job.source {
        Source::Path { size, .. } | Source::Beneath { size, .. } => *size,
        Source::Zeros(size) => Some(*size),
        Source::Directory(_) | Source::Link(_) | Source::Skipped(_) => Some(0),
        Source::StandardInput => None,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::{Cover, Job, Outcome, Source, arrived};

    fn outcome(name: &str, has_failed: bool, is_kept: bool) -> Outcome {
        Outcome {
            name: name.into(),
            failure: has_failed.then(|| "interrupted".into()),
            is_kept,
            ..Outcome::default()
        }
    }

    #[test]
    fn resume_is_named_only_where_something_was_kept() {
        let job = |source| {
            let name = b"file".to_vec();
            [Job { name, source }]
        };
        let path = job(Source::Path {
            path: "file".into(),
            size: Some(1),
        });
        let input = job(Source::StandardInput);
        let (here, lost) = (outcome("one\n", false, false), outcome("two", true, false));
        let kept = outcome("three", true, true);
        let some = [here.clone(), lost.clone()];
        for (outcomes, jobs, cover, expected) in [
            (&[][..], &path, Cover::Summed, "no file arrived"),
            (&[lost], &path, Cover::Summed, "no file arrived"),
            (
                &[kept],
                &path,
                Cover::Summed,
                "no file arrived; the same with --resume",
            ),
            (
                &some,
                &path,
                Cover::Sealed,
                "arrived: one\u{fffd}; the same with --resume",
            ),
            (&some, &path, Cover::Bare, "arrived: one\u{fffd}"),
            (&some, &input, Cover::Summed, "arrived: one\u{fffd}"),
            (&vec![here; 21], &path, Cover::Bare, "21 files arrived"),
        ] {
            let text = arrived(outcomes, jobs, cover);
            let rest = " sends only what is missing";
            assert_eq!(text.strip_suffix(rest).unwrap_or(&text), expected);
        }
    }
}
