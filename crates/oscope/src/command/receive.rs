//! `oscope receive`: receives files from `oscope send`.

use super::transfer::{FORMAT, MOST_LISTED, cost, line, totals, value, warn_of_cover};
use crate::arguments::Common;
use crate::arguments::transfer::Receive as Arguments;
use crate::exit::Exit;
use crate::progress::{Voice, bar_of_bytes, while_drawn};
use crate::{leftovers, output, token_file};
use anyhow::Result;
use choice::Choice;
use instrument::quantity::{Nanoseconds, counted};
use instrument::removal::REMOVAL;
use platform::scratch::Scratch;
use platform::signal::{Interrupt, ignore_sigpipe};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use transfer::receiver::{Event, Options, Receiver};
use transfer::{Cover, Limits, Outcome, Timing};

pub fn execute(arguments: &Arguments, common: &Common) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    ignore_sigpipe();
    let voice = Voice::new(common, || bar_of_bytes(None));
    let named = arguments.dir.as_ref().or(arguments.into.as_ref());
    let dir = named.map_or(Path::new("."), PathBuf::as_path);
    let scratch = arguments.measure.then(|| scratch(dir, common));
    let scratch = scratch.transpose()?;
    let directory = match &scratch {
        Some(scratch) => Some(scratch.path().to_owned()),
        None => (!arguments.discard).then(|| dir.to_owned()),
    };
    let options = Options {
        allow_hidden: named.is_some() || arguments.allow_hidden,
        ..options(arguments, directory, interrupt)?
    };
    let progress = Arc::clone(&options.progress);
    let (has_token, is_insecure) = (options.token.is_some(), options.insecure);
    let receiver = Receiver::bind(&arguments.listen, options)?;
    let address = receiver.address()?;
    voice.say(&format!("listening on {address}"));
    if is_insecure {
        voice.warn(&format!(
            "insecure: everyone who reaches {address} can send files here, and others on the \
             network can read and change them"
        ));
    }
    let reported = Reported {
        voice: &voice,
        has_token,
        is_json: common.json,
        state: Mutex::default(),
    };
    let position = || progress.load(Ordering::Relaxed);
    while_drawn(voice.bar(), position, || {
        receiver.serve(arguments.once, &|event| reported.take_in(event))
    })?;
    reported.finish()?;
    let state = reported
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    Ok(match interrupt.signal() {
        Some(signal) => Exit::Stopped(signal),
        None => Exit::incomplete_if(state.failed > 0),
    })
}

/// A directory for measured files, removed at the end; if this process is killed, the next start
/// removes it.
fn scratch(dir: &Path, common: &Common) -> Result<Scratch> {
    leftovers::clear_and_report(None, dir, common)?;
    Ok(Scratch::create(dir, &REMOVAL)?)
}

fn options(
    arguments: &Arguments,
    directory: Option<PathBuf>,
    interrupt: Interrupt,
) -> Result<Options> {
    Ok(Options {
        method: arguments.method,
        directory,
        measures: arguments.measure,
        token: token_file::read(arguments.token_file.as_deref())?,
        insecure: arguments.insecure,
        unsealed: arguments.unsealed,
        allow_hidden: arguments.allow_hidden,
        max_size: arguments.max_size.0,
        max_files: arguments.max_files,
        max_partial: arguments.max_partial.0,
        max_connections: arguments.max_connections,
        fsync: arguments.fsync,
        force: arguments.force,
        limits: Limits {
            patience: arguments.timeout,
            stop: interrupt.flag(),
        },
        progress: Arc::default(),
    })
}

/// The transfer so far, as reported.
struct Reported<'t> {
    voice: &'t Voice,
    has_token: bool,
    is_json: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Arrival of the first sender.
    began: Option<Instant>,
    files: u64,
    failed: u64,
    bytes: u64,
    timing: Timing,
    cpu: Duration,
    /// The weakest protection of any contents.
    cover: Option<Cover>,
    /// For JSON output only; text output is immediate.
    outcomes: Vec<Value>,
}

impl Reported<'_> {
    fn take_in(&self, event: &Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Began { cover, .. } => {
                state.began.get_or_insert_with(Instant::now);
                let least = state.cover.map_or(*cover, |before| before.min(*cover));
                state.cover = Some(least);
            }
            Event::Settled { peer, outcome } => self.settled(&mut state, *peer, outcome),
            Event::Ended { cpu, .. } => state.cpu += *cpu,
            Event::GivenUp { peer, reason } => self.voice.warn(&format!("{peer}: {reason}")),
        }
    }

    fn settled(&self, state: &mut State, peer: SocketAddr, outcome: &Outcome) {
        let elapsed = state.began.map_or(Duration::ZERO, |began| began.elapsed());
        let storing = outcome
            .timing
            .stored
            .saturating_sub(outcome.timing.received);
        state.timing = Timing {
            received: elapsed.saturating_sub(storing),
            stored: elapsed,
        };
        if outcome.failure.is_some() {
            state.failed += 1;
            self.voice.warn(&format!("{peer}: {}", line(outcome)));
        } else {
            state.files += 1;
            state.bytes += outcome.size;
            if state.files <= MOST_LISTED {
                self.voice.say(&format!("{peer}: {}", line(outcome)));
            }
        }
        if self.is_json {
            state.outcomes.push(value(outcome));
        }
    }

    /// Prints the totals.
    fn finish(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cover) = state.cover.filter(|_| self.has_token) {
            warn_of_cover(self.voice, cover);
        }
        if self.is_json {
            let mut total = totals(state.files, state.failed, state.bytes, state.timing);
            total["contents"] = json!(state.cover.map(Cover::name));
            total["receiver_cpu_ns"] = json!(state.cpu.as_nanos() as u64);
            let outcomes = std::mem::take(&mut state.outcomes);
            let all = json!({ "format": FORMAT, "files": outcomes, "total": total });
            return output::show_json(&all);
        }
        if state.began.is_none() {
            return Ok(());
        }
        output::show(&format!(
            "{}, {}; CPU {:.3}\n",
            counted(state.files, "file"),
            cost(state.bytes, state.timing),
            Nanoseconds::from(state.cpu)
        ))
    }
}
