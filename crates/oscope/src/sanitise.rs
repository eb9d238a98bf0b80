//! Sanitises text from elsewhere: names, tags and reasons in files from other people could contain
//! control sequences for the terminal.

use crate::output::{harmless, is_harmless, on_one_line};
use anyhow::Result;
use instrument::runner::Ending;
use record::Run;
use record::store::RunSummary;
use report::history::History;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// A run with sanitised text. Names, paths and reasons are on a single line, since they are parts of sentences.
pub fn run(run: Run) -> Result<Run> {
    let mut run = sanitised(run)?;
    run.header = cleaned(&run.header, on_one_line)?;
    run.storage = cleaned(&run.storage, on_one_line)?;
    for experiment in &mut run.experiments {
        if let Some(reason) = &mut experiment.skipped {
            *reason = on_one_line(reason);
        }
        let closings = experiment
            .points
            .iter_mut()
            .filter_map(|it| it.closing.as_mut());
        for closing in closings {
            if let Ending::Failed(reason) = &mut closing.ending {
                *reason = on_one_line(reason);
            }
        }
    }
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
        definition: Arc::new(sanitised((*history.definition).clone())?),
        point: Arc::new(sanitised((*history.point).clone())?),
        metric: sanitised(history.metric.clone())?,
        ..history
    })
}

/// True if JSON has no text that would be sanitised.
pub fn is_clean(json: &str) -> bool {
    // JSON escapes some of the harmful characters.
    let mut escapes = json.split('\\').skip(1);
    !escapes.any(|escape| escape.starts_with(['b', 'f', 'r', 't', 'u'])) && is_harmless(json)
}

/// True if the JSON of a run has no text that [`run`] would change.
pub fn is_clean_run(json: &str) -> bool {
    !json.contains("\\n") && is_clean(json)
}

/// `value` with all its text sanitised. Nearly always there is nothing to do.
fn sanitised<T: Serialize + DeserializeOwned>(value: T) -> Result<T> {
    let json = serde_json::to_string(&value)?;
    if is_clean(&json) {
        return Ok(value);
    }
    cleaned(&value, harmless)
}

/// `value` with `clean` applied to all its text.
fn cleaned<T: Serialize + DeserializeOwned>(value: &T, clean: fn(&str) -> String) -> Result<T> {
    let mut tree = serde_json::to_value(value)?;
    clean_tree(&mut tree, clean);
    Ok(serde_json::from_value(tree)?)
}

fn clean_tree(value: &mut Value, clean: fn(&str) -> String) {
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(values) => values.iter_mut().for_each(|value| clean_tree(value, clean)),
        Value::Object(fields) => {
            let all = std::mem::take(fields).into_iter();
            *fields = all
                .map(|(name, mut value)| {
                    clean_tree(&mut value, clean);
                    (clean(&name), value)
                })
                .collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
