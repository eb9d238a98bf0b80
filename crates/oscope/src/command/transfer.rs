//! Shared parts of `send` and `receive`: progress and results of a transfer; and `oscope token`.

use crate::arguments::Common;
use crate::arguments::transfer as arguments;
use crate::exit::Exit;
use crate::output;
use crate::progress::Voice;
use anyhow::{Context, Result};
use files::names_standard_output;
use indicatif::{ProgressBar, ProgressStyle};
use instrument::quantity::{BytesPerSecond, Nanoseconds, Unit};
use platform::file::create_secret;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use transfer::{Cover, Outcome, Timing, Token};

/// The version of the JSON format; its schema is `schema/transfer-1.schema.json` in this crate.
pub(super) const FORMAT: u32 = 1;

/// Messages on standard error during a transfer, and a live line of the transferred bytes, out of `total`
/// if known. Without a terminal, `total` is not called.
pub(super) fn voice(common: &Common, total: impl FnOnce() -> Option<u64>) -> Voice {
    Voice::new(common, || {
        let total = total();
        let template = match total {
            Some(_) => "[{bar:24}] {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            None => "{bytes} {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template)
            .expect("the template is well formed")
            .progress_chars("━╸ ");
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        bar.with_style(style)
    })
}

/// Shows progress until it is dropped.
pub(super) struct Watch {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Shows the growth of `progress` on the live line of `voice`.
    pub(super) fn new(voice: &Voice, progress: &Arc<AtomicU64>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        // Without a thread only the progress line is missing.
        let thread = voice.bar().cloned().and_then(|bar| {
            let (is_over, progress) = (Arc::clone(&is_over), Arc::clone(progress));
            let thread = std::thread::Builder::new().name("progress".into());
            let started = thread.spawn(move || {
                while !is_over.load(Ordering::Acquire) {
                    bar.set_position(progress.load(Ordering::Relaxed));
                    std::thread::park_timeout(Duration::from_millis(200));
                }
                bar.finish_and_clear();
            });
            started.ok()
        });
        Self { is_over, thread }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic in the drawing thread is no reason to fail.
            let _ = thread.join();
        }
    }
}

/// Warns of contents that are sent unprotected between peers with a token.
pub(super) fn warn_of_cover(voice: &Voice, cover: Cover) {
    if cover != Cover::Sealed {
        voice.warn("contents were not sealed: others on the network could read and change them");
    }
}

/// A name as printable text.
pub(super) fn legible(name: &[u8]) -> String {
    output::on_one_line(&String::from_utf8_lossy(name))
}

/// The outcome of a file, in one line.
pub(super) fn line(outcome: &Outcome) -> String {
    let name = legible(&outcome.name);
    match &outcome.failure {
        Some(failure) => format!("{name}: failed: {failure}"),
        None => format!("{name}: {}", cost(outcome.size, outcome.timing)),
    }
}

/// Size, times and speed.
pub(super) fn cost(bytes: u64, timing: Timing) -> String {
    format!(
        "{} in {:.3} to the last byte received, {:.3} to the last byte stored, {:.3}",
        Unit::Bytes.show(bytes as f64, 3),
        Nanoseconds::from(timing.received),
        Nanoseconds::from(timing.stored),
        BytesPerSecond(speed(bytes, timing.stored)),
    )
}

fn speed(bytes: u64, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64().max(1e-9)
}

/// The outcome of a file, as JSON. A name that is not UTF-8 is given as bytes, too.
pub(super) fn value(outcome: &Outcome) -> Value {
    let mut value = json!({
        "name": String::from_utf8_lossy(&outcome.name),
        "size_bytes": outcome.size,
        "received_ns": outcome.timing.received.as_nanos() as u64,
        "stored_ns": outcome.timing.stored.as_nanos() as u64,
        "failure": outcome.failure,
    });
    if std::str::from_utf8(&outcome.name).is_err() {
        value["name_bytes"] = json!(outcome.name);
    }
    value
}

/// Totals of a transfer, as JSON.
pub(super) fn totals(files: u64, failed: u64, bytes: u64, timing: Timing) -> Value {
    json!({
        "files": files,
        "failed": failed,
        "size_bytes": bytes,
        "received_ns": timing.received.as_nanos() as u64,
        "stored_ns": timing.stored.as_nanos() as u64,
        "bytes_per_second": speed(bytes, timing.stored),
    })
}

/// `oscope token`.
pub fn token(arguments: &arguments::Token) -> Result<Exit> {
    let token = Token::random_text()? + "\n";
    match &arguments.output {
        Some(path) if !names_standard_output(path) => {
            let written = create_secret(path).and_then(|mut file| {
                file.write_all(token.as_bytes())?;
                file.sync_all()
            });
            written.with_context(|| format!("cannot write a token to {}", path.display()))?;
        }
        _ => output::show(&token)?,
    }
    Ok(Exit::Done)
}
