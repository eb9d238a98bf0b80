//! Differences between two sides apart from their numbers, without facts that always differ.

use super::side::Side;
use crate::lists::joined;
use instrument::quantity::Unit;
use record::Run;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A fact that differs between the two sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct Circumstance {
    /// Name of the fact: `environment: kernel release`.
    pub name: String,
    /// Its value on the first side: several values if the sessions differ, empty if the system did
    /// not report it.
    pub a: String,
    /// Its value on the second side.
    pub b: String,
}

/// Facts that change from moment to moment or mean nothing to a reader.
const FLEETING: &[&str] = &[
    "environment.command_line",
    "environment.frequency.current_hz",
    "environment.load_average",
    "environment.memory_available_bytes",
    "environment.memory_pressure",
    "environment.uptime_seconds",
    "machine.installation",
    "storage.free_bytes",
];

/// The facts of some runs by path, each with its values in them.
pub(crate) type Facts<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Differences between the machines and their states.
pub fn circumstances(a: &Side, b: &Side) -> Vec<Circumstance> {
    let either_reported = a.is_reported() || b.is_reported();
    let [a, b] = [a, b].map(|side| side.runs.iter().map(facts_of).collect::<Vec<_>>());
    differing(&united(&a), &united(&b), |a, b| {
        // A published report describes only part of its machine; a missing fact is not a difference.
        let is_missing = a.is_empty() || b.is_empty();
        a != b && !(is_missing && either_reported)
    })
}

/// The known facts that no run of the first group shares with a run of the second.
pub(crate) fn changed(before: &Facts<'_>, after: &Facts<'_>) -> Vec<Circumstance> {
    differing(before, after, |a, b| {
        a.is_disjoint(b) && !a.is_empty() && !b.is_empty()
    })
}

/// The facts of all these runs.
pub(crate) fn united<'a>(
    runs: impl IntoIterator<Item = &'a BTreeMap<String, String>>,
) -> Facts<'a> {
    let mut facts = Facts::new();
    for (path, value) in runs.into_iter().flatten() {
        facts.entry(path).or_default().insert(value);
    }
    facts
}

/// The facts of two groups of runs whose values `differ`. A fact that no run of a group has is empty there.
pub(crate) fn differing(
    a: &Facts<'_>,
    b: &Facts<'_>,
    differ: impl Fn(&BTreeSet<&str>, &BTreeSet<&str>) -> bool,
) -> Vec<Circumstance> {
    let nothing = BTreeSet::new();
    let either = |values: &BTreeSet<&str>| joined(" or ", values.iter().copied());
    let paths: BTreeSet<&str> = a.keys().chain(b.keys()).copied().collect();
    let found = paths.into_iter().filter_map(|path| {
        let [a, b] = [a, b].map(|facts| facts.get(path).unwrap_or(&nothing));
        differ(a, b).then(|| Circumstance {
            name: shown_name(path),
            a: either(a),
            b: either(b),
        })
    });
    found.collect()
}

fn shown_name(path: &str) -> String {
    let name = path.replacen('.', ": ", 1).replace(['.', '_'], " ");
    let name = name.strip_suffix(" bytes").unwrap_or(&name);
    name.strip_suffix(" hz").unwrap_or(name).to_owned()
}

/// All known facts of a run by path.
pub(crate) fn facts_of(run: &Run) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    flatten(String::new(), &described(run), &mut facts);
    facts.retain(|path, _| !FLEETING.contains(&path.as_str()));
    facts
}

fn described(run: &Run) -> Value {
    json!({
        "run": {
            "profile": run.header.profile,
            "version_of_oscope": run.header.version,
            "limits": run.header.limited.map(|limited| limited.limits),
        },
        "machine": run.machine,
        "environment": run.environment,
        "storage": run.storage,
    })
}

/// The leaves of `value` by path. A list of words is one leaf; paths into other lists contain
/// indices.
fn flatten(path: String, value: &Value, leaves: &mut BTreeMap<String, String>) {
    let below = |name: &str| {
        if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        }
    };
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, field) in fields {
                flatten(below(name), field, leaves);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                flatten(below(&item_name(index, item)), item, leaves);
            }
        }
        leaf => {
            let text = shown(&path, leaf);
            if !text.is_empty() {
                leaves.insert(path, text);
            }
        }
    }
}

/// The name of a list item: level and kind for a cache, else its index.
fn item_name(index: usize, item: &Value) -> String {
    match (item["level"].as_u64(), item["kind"].as_str()) {
        (Some(level), Some(kind)) => format!("L{level} {kind}"),
        _ => (index + 1).to_string(),
    }
}

fn shown(path: &str, leaf: &Value) -> String {
    match leaf {
        Value::String(text) => text.clone(),
        Value::Array(items) => joined(" ", items.iter().map(|item| shown("", item))),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.into(),
        Value::Number(number) if path.ends_with("_bytes") => number
            .as_f64()
            .map_or_else(|| number.to_string(), |bytes| Unit::Bytes.show(bytes, 3)),
        Value::Number(number) if path.ends_with("_hz") => number
            .as_f64()
            .map_or_else(|| number.to_string(), |hz| format!("{:.2} GHz", hz / 1e9)),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{flatten, shown_name};
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn facts_are_leaves_with_paths_for_people() {
        let mut leaves = BTreeMap::new();
        let value = json!({
            "machine": { "memory_bytes": 1024, "caches": [{ "level": 1 }], "product": null },
            "environment": { "flags": ["a", "b"] },
        });
        flatten(String::new(), &value, &mut leaves);
        let shown: Vec<_> = leaves
            .iter()
            .map(|(path, value)| (shown_name(path), value.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("environment: flags".into(), "a b"),
                ("machine: caches 1 level".into(), "1"),
                ("machine: memory".into(), "1 KiB"),
            ]
        );
    }
}
