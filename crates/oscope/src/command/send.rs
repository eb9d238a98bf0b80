//! `oscope send`: sends files to an `oscope receive`.

use super::transfer::{FORMAT, Voice, cost, line, told_of_cover, totals, value};
use crate::arguments::Common;
use crate::arguments::transfer::Send as Arguments;
use crate::exit::{Exit, WrongUse};
use crate::output;
use anyhow::{Context, Result};
use instrument::quantity::Nanoseconds;
use platform::file::standard_input;
use platform::signal::{Interrupt, ignore_sigpipe};
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use transfer::method::SendMethod;
use transfer::sender::{self, Job, Options, Plan, Source, Summary};
use transfer::{Cover, Error, Limits, Outcome, Token};

/// Beyond this number, files are reported only in total.
const TOLD_SINGLY: usize = 20;
/// From this number of files on, a second connection is faster.
const MANY: usize = 100;

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    ignore_sigpipe();
    let jobs = jobs(arguments)?;
    let options = options(arguments, interrupt)?;
    let plan = Plan {
        streams: arguments
            .streams
            .unwrap_or_else(|| streams(&jobs, arguments.resume)),
        resume: arguments.resume,
        keep_mode: arguments.keep,
        keep_times: arguments.keep,
    };
    let voice = Voice::new(common.quiet, || total_size(&jobs));
    let outcomes = Mutex::new(Vec::new());
    let observe = |outcome: &Outcome| {
        if outcome.failure.is_some() {
            voice.say(&line(outcome));
        }
        let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        outcomes.push(outcome.clone());
    };
    let watch = voice.watch(&options.progress);
    let sent = sender::send(&arguments.to, &jobs, plan, &options, &observe);
    drop(watch);
    let summary = match (sent, interrupt.signal()) {
        (Err(Error::Interrupted), Some(signal)) => {
            let is_all_read_once = jobs
                .iter()
                .all(|job| matches!(job.source, Source::StandardInput));
            voice.say(if is_all_read_once {
                "interrupted"
            } else {
                "interrupted; what arrived can be resumed with --resume"
            });
            return Ok(Exit::Stopped(signal));
        }
        (sent, _) => sent?,
    };
    let outcomes = outcomes
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if options.token.is_some() {
        told_of_cover(&voice, options.cover);
    }
    output::show(&present(&summary, &outcomes, options.cover, common)?)?;
    Ok(Exit::incomplete_if(summary.failed > 0))
}

fn present(
    summary: &Summary,
    outcomes: &[Outcome],
    cover: Cover,
    common: &Common,
) -> Result<String> {
    let cost_of_both = summary.farewell;
    if common.json {
        let mut total = totals(summary.files, summary.failed, summary.bytes, summary.timing);
        total["contents"] = json!(cover.name());
        total["sender_cpu_ns"] = json!(cost_of_both.sender_cpu.as_nanos() as u64);
        total["receiver_cpu_ns"] = json!(cost_of_both.receiver_cpu.as_nanos() as u64);
        let files: Vec<_> = outcomes.iter().map(value).collect();
        let all = json!({ "format": FORMAT, "files": files, "total": total });
        return Ok(serde_json::to_string_pretty(&all)? + "\n");
    }
    let mut text = String::new();
    let arrived = outcomes.iter().filter(|outcome| outcome.failure.is_none());
    if outcomes.len() <= TOLD_SINGLY {
        arrived.for_each(|outcome| text += &(line(outcome) + "\n"));
    }
    let files = match summary.files {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    let sum = format!(
        "{files}, {}; CPU {:.3} here, {:.3} there\n",
        cost(summary.bytes, summary.timing),
        Nanoseconds::from(cost_of_both.sender_cpu),
        Nanoseconds::from(cost_of_both.receiver_cpu),
    );
    Ok(text + &sum)
}

fn options(arguments: &Arguments, interrupt: Interrupt) -> Result<Options> {
    let token = arguments
        .token_file
        .as_deref()
        .map(Token::read)
        .transpose()?;
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
    let inputs = arguments
        .files
        .iter()
        .filter(|file| file.as_path() == Path::new("-"))
        .count();
    if inputs > 1 {
        return wrong("standard input can be sent only once");
    }
    if inputs == 1 {
        standard_input()?;
    }
    if inputs == 1
        && arguments
            .method
            .is_some_and(|method| method != SendMethod::File)
    {
        return wrong("standard input can only be read: --method file");
    }
    if inputs == 1 && arguments.resume {
        return wrong("standard input cannot be resumed, since its beginning is gone");
    }
    if arguments.name.is_some() && arguments.files.len() > 1 {
        return wrong("--name names one file");
    }
    arguments
        .files
        .iter()
        .map(|file| job(file, arguments.name.as_deref()))
        .collect()
}

fn job(file: &Path, name: Option<&str>) -> Result<Job> {
    let (own_name, source) = if file == Path::new("-") {
        ("stdin".as_bytes(), Source::StandardInput)
    } else {
        let name = file
            .file_name()
            .with_context(|| format!("{} names no file", file.display()))?;
        (name.as_encoded_bytes(), Source::Path(file.to_owned()))
    };
    let name = name.map_or(own_name, str::as_bytes).to_vec();
    Ok(Job { name, source })
}

/// The useful number of connections. Creating a file costs the receiver more than sending it costs
/// the sender, so two receiver threads speed up many small files. Zeros need no file, and two
/// threads sum them. A resumed transfer uses one connection.
fn streams(jobs: &[Job], resume: bool) -> u16 {
    let are_zeros = jobs
        .iter()
        .all(|job| matches!(job.source, Source::Zeros(_)));
    if (jobs.len() >= MANY || are_zeros) && !resume {
        2
    } else {
        1
    }
}

/// Total size, if known in advance.
fn total_size(jobs: &[Job]) -> Option<u64> {
    let sizes = jobs.iter().map(|job| match &job.source {
        Source::Path(path) => {
            let metadata = path.metadata().ok()?;
            metadata.is_file().then_some(metadata.len())
        }
        Source::Zeros(size) => Some(*size),
        Source::StandardInput => None,
    });
    sizes.sum()
}
