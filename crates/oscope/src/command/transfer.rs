//! Shared parts of `send` and `receive`: the results of a transfer; and `oscope token`.

use crate::arguments::transfer as arguments;
use crate::exit::Exit;
use crate::output;
use crate::progress::Voice;
use anyhow::{Context, Result};
use files::names_standard_output;
use instrument::quantity::{BytesPerSecond, Nanoseconds, Unit};
use platform::file::create_secret;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;
use transfer::{Cover, Outcome, Timing, Token};

/// The version of the JSON format; its schema is `schema/transfer-1.schema.json` in this crate.
pub(super) const FORMAT: u32 = 1;

/// Beyond this number, files are reported only in total.
pub(super) const MOST_LISTED: u64 = 20;

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
