//! The numbers of the page as JSON.

use crate::{Analysis, json};
use serde_json::{Number, Value};

/// Digits kept of a measured number: more than any interval supports, at a third of the space.
const DIGITS: usize = 6;

/// What `oscope show --json` prints, without missing fields and with rounded measurements.
pub(super) fn json(analysis: &Analysis<'_>) -> Value {
    let mut value = json::analysis(analysis);
    shrink(&mut value);
    value
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
    use super::shrink;
    use serde_json::json;

    #[test]
    fn measured_numbers_are_rounded_and_whole_ones_kept() {
        let mut data = json!({ "a": 1.234_567_89, "b": null, "c": [u64::MAX, 1e300] });
        shrink(&mut data);
        assert_eq!(data, json!({ "a": 1.23457, "c": [u64::MAX, 1e300] }));
    }
}
