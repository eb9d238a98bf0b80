//! The numbers of the page as JSON.

use crate::json::FindingJson;
use crate::{Analysis, ExperimentAnalysis};
use serde::Serialize;
use serde_json::{Number, Value, json};

/// Digits kept of a measured number: more than any interval supports, at a third of the space.
const DIGITS: usize = 6;

/// The run's description and all estimates with the median of each process, compact.
pub(super) fn json(analysis: &Analysis<'_>) -> serde_json::Result<Value> {
    let run = analysis.run;
    let experiments = analysis.experiments.iter().map(|experiment| {
        Ok(json!({
            "definition": experiment.definition,
            "skipped": experiment.skipped,
            "points": compact(&experiment.points)?,
            "failures": experiment.failures,
            "findings": compact(&findings(experiment))?,
        }))
    });
    Ok(json!({
        "header": run.header,
        "machine": run.machine,
        "environment": run.environment,
        "storage": run.storage,
        "calibration": run.calibration,
        "experiments": experiments.collect::<serde_json::Result<Vec<Value>>>()?,
    }))
}

fn findings<'a>(experiment: &'a ExperimentAnalysis<'a>) -> Vec<FindingJson<'a>> {
    let findings = experiment.findings.iter();
    findings
        .map(|finding| FindingJson::new(experiment, finding))
        .collect()
}

/// `data` without missing fields and with rounded measurements.
fn compact(data: &impl Serialize) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(data)?;
    shrink(&mut value);
    Ok(value)
}

/// `value` rounded to the digits that the page keeps.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

fn shrink(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(shrink);
        }
        Value::Array(items) => items.iter_mut().for_each(shrink),
        Value::Number(number) if number.is_f64() => {
            let exact = number.as_f64();
            if let Some(rounded) = exact.and_then(|exact| Number::from_f64(rounded(exact))) {
                *number = rounded;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::compact;
    use serde_json::json;

    #[test]
    fn measured_numbers_are_rounded_and_whole_ones_kept() {
        let data = json!({ "a": 1.234_567_89, "b": null, "c": [u64::MAX, 1e300] });
        let shrunk = compact(&data).expect("plain data");
        assert_eq!(shrunk, json!({ "a": 1.23457, "c": [u64::MAX, 1e300] }));
    }
}
