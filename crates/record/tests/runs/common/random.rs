//! Random runs within the limits of real ones. They are made by the schema of an exported run, so that every
//! field of every type has values.

use oscope_record::{Run, file};
use proptest::collection::vec;
use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::LazyLock;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| file::schema().to_value());

/// Bound of times and counts that keeps their sums within a 64-bit integer.
const LARGE: i64 = 1 << 40;

/// A whole run.
pub fn run() -> impl Strategy<Value = Run> {
    definition("Run").prop_map(|mut run| {
        mend(&mut run);
        serde_json::from_value(run).expect("the schema describes runs")
    })
}

fn definition(name: &str) -> BoxedStrategy<Value> {
    any_of(&SCHEMA["$defs"][name], name)
}

/// Any value of a schema: that of a type, or of a field as `Type.field`.
fn any_of(schema: &Value, name: &str) -> BoxedStrategy<Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        let (_, name) = reference.rsplit_once('/').expect("a path");
        return definition(name);
    }
    if let Some(only) = schema.get("const") {
        return Just(only.clone()).boxed();
    }
    if let Some(values) = schema["enum"].as_array() {
        return select(values.clone()).boxed();
    }
    if let Some(choices) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
        return Union::new(choices.iter().map(|choice| any_of(choice, name))).boxed();
    }
    let types = schema["type"].as_array().cloned();
    let types = types.unwrap_or_else(|| vec![schema["type"].clone()]);
    let of_type = |kind: Value| match kind.as_str() {
        Some("null") => Just(Value::Null).boxed(),
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("integer") => integer(schema, name),
        Some("number") => number(name).prop_map(Value::from).boxed(),
        Some("string") => text(name).prop_map(Value::from).boxed(),
        Some("array") => array(schema, name),
        Some("object") => object(schema, name),
        _ => panic!("{name} has the type {kind}"),
    };
    Union::new(types.into_iter().map(of_type)).boxed()
}

fn integer(schema: &Value, name: &str) -> BoxedStrategy<Value> {
    match schema["format"].as_str() {
        Some("int64") => (-LARGE..LARGE).prop_map(Value::from).boxed(),
        Some("uint64") => match name {
            "Header.seed" | "Level" | "Storage.total_bytes" => {
                any::<u64>().prop_map(Value::from).boxed()
            }
            "Batch.started_ns" | "Sample.at_ns" => {
                let moment = prop_oneof![0..=i64::MAX, Just(i64::MAX), Just(0)];
                moment.prop_map(Value::from).boxed()
            }
            _ => (0..LARGE).prop_map(Value::from).boxed(),
        },
        Some("uint8") => any::<u8>().prop_map(Value::from).boxed(),
        Some("uint32") => any::<u32>().prop_map(Value::from).boxed(),
        // An index or a number of processors.
        Some("uint") => (0..4096_u32).prop_map(Value::from).boxed(),
        other => panic!("{name} has the format {other:?}"),
    }
}

fn number(name: &str) -> BoxedStrategy<f64> {
    let amounts = POSITIVE | NORMAL | SUBNORMAL | ZERO;
    match name {
        "Reading.value"
        | "Warning.change"
        | "Warning.centres"
        | "Environment.load_average"
        | "Metric.bound" => (amounts | NEGATIVE).boxed(),
        // It is divided by these.
        _ if name.starts_with("FullSpeed.") => (1e-9..1e9_f64).boxed(),
        _ => amounts.boxed(),
    }
}

fn text(name: &str) -> BoxedStrategy<String> {
    match name {
        "Header.id" => "[0-9a-f]{32}".boxed(),
        "Header.started" | "Header.ended" => {
            let time = (-9_000_000_000_i64..9_000_000_000, 0..1_000_000_000_i32);
            let time = time.prop_map(|(s, ns)| jiff::Timestamp::new(s, ns).unwrap_or_default());
            time.prop_map(|time| time.to_string()).boxed()
        }
        "Definition.id" | "Axis.name" | "Metric.name" => "[a-z]{1,6}(\\.[a-z_]{1,6})?".boxed(),
        _ => prop_oneof![
            "[ -~]{0,20}",
            any::<String>(),
            Just("NUL \0, \"quotes\", 'these', \u{1b}[31m, \r\n; ü ☃ 💾".to_owned()),
            Just("4096".to_owned()),
        ]
        .boxed(),
    }
}

fn array(schema: &Value, name: &str) -> BoxedStrategy<Value> {
    if let Some(items) = schema["prefixItems"].as_array() {
        let items: Vec<_> = items.iter().map(|item| any_of(item, name)).collect();
        return items.prop_map(Value::from).boxed();
    }
    let least = match name {
        "Definition.axes" | "Definition.metrics" => 1,
        _ => schema["minItems"].as_u64().unwrap_or(0) as usize,
    };
    let most = schema["maxItems"].as_u64().unwrap_or(4) as usize;
    let items = vec(any_of(&schema["items"], name), least..=most);
    items.prop_map(Value::from).boxed()
}

fn object(schema: &Value, name: &str) -> BoxedStrategy<Value> {
    if let Some(fields) = schema["properties"].as_object() {
        let (owner, _) = name.split_once('.').unwrap_or((name, ""));
        let fields = fields.iter().map(|(field, of)| {
            let value = any_of(of, &format!("{owner}.{field}"));
            let key = field.clone();
            value.prop_map(move |value| (key.clone(), value))
        });
        let fields: Vec<_> = fields.collect();
        return fields.prop_map(|all| all.into_iter().collect()).boxed();
    }
    let field = (text("key"), any_of(&schema["additionalProperties"], name));
    let fields = vec(field, 0..3);
    fields.prop_map(|all| all.into_iter().collect()).boxed()
}

/// Makes what the schema cannot require hold: names are unique, points have a level on each axis, samples are of a
/// metric, and legs go with their reference loops.
fn mend(run: &mut Value) {
    for (number, experiment) in (0..).zip(list(&mut run["experiments"])) {
        let definition = &mut experiment["definition"];
        number_name(&mut definition["id"], number);
        let [axes, metrics] = ["axes", "metrics"].map(|field| {
            for (number, it) in (0..).zip(list(&mut definition[field])) {
                number_name(&mut it["name"], number);
            }
            let all = list(&mut definition[field]).iter();
            all.map(|it| it["name"].clone()).collect::<Vec<_>>()
        });
        let points = list(&mut experiment["points"]);
        for point in &mut *points {
            let levels = list(&mut point["point"]);
            levels.resize(axes.len(), json!(["", 7]));
            levels
                .iter_mut()
                .zip(&axes)
                .for_each(|(level, axis)| level[0] = axis.clone());
            for batch in list(&mut point["batches"]) {
                mend_batch(batch, &metrics);
            }
        }
        let mut seen = HashSet::new();
        points.retain(|point| seen.insert(point["point"].to_string()));
        if experiment["skipped"].is_string() {
            experiment["points"] = json!([]);
        }
    }
}

fn mend_batch(batch: &mut Value, metrics: &[Value]) {
    if batch["pass"].is_null() {
        batch["pass"] = 0.into();
    }
    for (number, sample) in list(&mut batch["samples"]).iter_mut().enumerate() {
        sample["metric"] = metrics[number % metrics.len()].clone();
        mend_reading(&mut sample["reading"]);
    }
}

/// Gives a reading both reference loops around each timing, or none.
fn mend_reading(reading: &mut Value) {
    if let Some(legs) = reading.get_mut("legs") {
        let timed = list(&mut legs["wall_ns"]).len();
        let both = ["reference_ns", "around"];
        let is_empty = both.iter().any(|field| legs[*field] == json!([]));
        for field in both {
            fit(list(&mut legs[field]), if is_empty { 0 } else { timed });
        }
    }
    for kind in ["once", "latencies"] {
        if let Some(timed) = reading.get_mut(kind)
            && (timed["reference_ns"].is_null() || timed["around"].is_null())
        {
            timed["reference_ns"] = Value::Null;
            timed["around"] = Value::Null;
        }
    }
}

/// Repeats the first value of a list to this length.
fn fit(values: &mut Vec<Value>, len: usize) {
    let first = values.first().cloned();
    values.clear();
    values.extend(first.into_iter().cycle().take(len));
}

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().expect("a list")
}

fn number_name(name: &mut Value, number: u32) {
    *name = format!("{}{number}", name.as_str().expect("a name")).into();
}
