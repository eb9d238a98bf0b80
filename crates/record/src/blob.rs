//! A batch as the bytes that a store keeps of it.
//!
//! The first byte is the version of the layout, 1. The fields of [`Batch`] follow in the order of
//! its declaration, without names, in the [wire format of
//! postcard](https://postcard.jamesmunns.com/wire-format): a whole number has seven bits in a byte,
//! the lowest first, a signed one zigzag-encoded before; a real number has eight bytes, the lowest
//! first; a text or a list begins with its length, and an optional value with 0 or 1.
//!
//! | field | content |
//! | --- | --- |
//! | version | 1 |
//! | samples | list of: metric (text), reading, usage (six whole numbers), `at_ns` |
//! | remarks | list of texts |
//! | `warm` | 0 or 1 |
//! | `cpu` | optional whole number |
//! | `started_ns`, `wall_ns` | whole numbers |
//! | disturbance | stolen and other time, each optional |
//! | `pass`, 0, full speed | `pass` and full speed are optional |
//!
//! A reading begins with its kind:
//!
//! | kind | content |
//! | --- | --- |
//! | 0, legs | iterations, work, list of `wall_ns`, list of `reference_ns`, list of around, iterations of a short leg, list of `short_wall_ns` |
//! | 1, once | work, `wall_ns`, optional `reference_ns`, optional around |
//! | 2, latencies | count, percentiles 50, 5, 95 and 99 in ns, optional `reference_ns`, optional around |
//! | 3, value | a real number |
//!
//! Work and percentiles are real numbers. *Around* a timing are the wall time of the multiply chain before and
//! after it, the change of the width's (signed), the involuntary context switches, and optionally the CPU.
//!
//! A change of any of these types is a new version, and so a new version of the store.

use instrument::sample::Batch;

const VERSION: u8 = 1;

/// Bytes that are no batch of this version.
#[derive(Debug, thiserror::Error)]
#[error("a batch cannot be read")]
pub(crate) struct NotABatch;

pub(crate) fn encode(batch: &Batch) -> Vec<u8> {
    postcard::to_extend(batch, vec![VERSION]).expect("a batch is plain data")
}

/// # Errors
/// If the bytes are not those of exactly one batch.
pub(crate) fn decode(blob: &[u8]) -> Result<Batch, NotABatch> {
    let Some((&VERSION, content)) = blob.split_first() else {
        return Err(NotABatch);
    };
    match postcard::take_from_bytes(content) {
        Ok((batch, [])) => Ok(batch),
        _ => Err(NotABatch),
    }
}

#[cfg(test)]
mod tests {
    use super::encode;
    use instrument::sample::{Batch, Disturbance, Legs, Reading, Sample};
    use platform::usage::Usage;

    #[test]
    fn a_batch_has_this_layout() {
        let sample = Sample {
            metric: "ab".into(),
            reading: Reading::Legs(Legs {
                iterations: 300,
                work: 1.0,
                wall_ns: vec![5, 6],
                ..Legs::default()
            }),
            usage: Usage {
                user_ns: 1,
                ..Usage::default()
            },
            at_ns: 128,
        };
        let batch = Batch {
            samples: vec![sample],
            remarks: vec!["c".into()],
            warm: true,
            cpu: Some(3),
            started_ns: 7,
            wall_ns: 8,
            disturbance: Disturbance {
                stolen_ns: None,
                others_ns: Some(-1),
            },
            pass: Some(9),
            full_speed_ns: None,
            full_speed: None,
        };
        let one = 1.0_f64.to_le_bytes();
        let expected = [
            &[1, 1, 2, b'a', b'b'][..],
            &[0, 0xac, 2],
            &one,
            &[2, 5, 6, 0, 0, 0, 0],
            &[1, 0, 0, 0, 0, 0, 0x80, 1],
            &[1, 1, b'c', 1, 1, 3, 7, 8],
            &[0, 1, 1, 1, 9, 0, 0],
        ];
        assert_eq!(encode(&batch), expected.concat());
    }
}
