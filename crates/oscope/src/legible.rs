//! Sanitises text from elsewhere: names, tags and reasons in files from other people could contain
//! control sequences for the terminal.

use crate::output::{harmless, is_harmless};
use anyhow::Result;
use record::Run;
use record::store::RunSummary;
use report::history::History;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// A run with sanitised text.
pub fn run(run: Run) -> Result<Run> {
    let mut run = legible(run)?;
    if let Some(name) = &mut run.header.name {
        *name = on_one_line(name);
    }
    let tags = std::mem::take(&mut run.header.tags).into_iter();
    let tags = tags.map(|(key, value)| (on_one_line(&key), on_one_line(&value)));
    run.header.tags = tags.collect();
    Ok(run)
}

/// A summary with sanitised text.
pub fn summary(mut run: RunSummary) -> RunSummary {
    run.name = run.name.map(|name| on_one_line(&name));
    let tags = run.tags.into_iter();
    let tags = tags.map(|(key, value)| (on_one_line(&key), on_one_line(&value)));
    run.tags = tags.collect();
    run.machine_fingerprint = on_one_line(&run.machine_fingerprint);
    run.directory = on_one_line(&run.directory.to_string_lossy()).into();
    run
}

/// A history with sanitised text.
pub fn history(history: History) -> Result<History> {
    Ok(History {
        definition: Arc::new(legible((*history.definition).clone())?),
        point: Arc::new(legible((*history.point).clone())?),
        metric: legible(history.metric.clone())?,
        ..history
    })
}

/// True if JSON has no text that would be sanitised.
pub fn is(json: &str) -> bool {
    // JSON escapes some of the harmful characters.
    let mut escapes = json.split('\\').skip(1);
    !escapes.any(|escape| escape.starts_with(['b', 'f', 'r', 't', 'u'])) && is_harmless(json)
}

/// `text` on a single line.
fn on_one_line(text: &str) -> String {
    harmless(text).replace('\n', "\u{fffd}")
}

/// `value` with all its text sanitised. Nearly always there is nothing to do.
fn legible<T: Serialize + DeserializeOwned>(value: T) -> Result<T> {
    let json = serde_json::to_string(&value)?;
    if is(&json) {
        return Ok(value);
    }
    let mut tree = serde_json::to_value(&value)?;
    make_harmless(&mut tree);
    Ok(serde_json::from_value(tree)?)
}

fn make_harmless(value: &mut Value) {
    match value {
        Value::String(text) => *text = harmless(text),
        Value::Array(values) => values.iter_mut().for_each(make_harmless),
        Value::Object(fields) => {
            let all = std::mem::take(fields).into_iter();
            *fields = all
                .map(|(name, mut value)| {
                    make_harmless(&mut value);
                    (harmless(&name), value)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
