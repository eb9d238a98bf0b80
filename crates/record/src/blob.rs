//! A batch as the bytes that a store keeps of it.
//!
//! The first byte is the version of the layout, 2. The fields of [`Batch`] follow in the order of
//! its declaration, without names, in the [wire format of
//! postcard](https://postcard.jamesmunns.com/wire-format): a whole number has seven bits in a byte,
//! the lowest first, a signed one zigzag-encoded before; a real number has eight bytes, the lowest
//! first; a text or a list begins with its length, and an optional value with 0 or 1.
//!
//! | field | content |
//! | --- | --- |
//! | version | 2 |
//! | samples | list of: metric (text), reading, usage (six whole numbers), `at_ns` |
//! | remarks | list of texts |
//! | `warm` | 0 or 1 |
//! | `cpu` | optional whole number |
//! | `started_ns`, `wall_ns` | whole numbers |
//! | disturbance | stolen and other time, each optional |
//! | `pass`, full speed | each optional |
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
//! A change of any of these types is a new version, and so a new version of the store: the checksums of
//! `tests/fixtures/run.oscope.json` show it.

use instrument::sample::Batch;

const VERSION: u8 = 2;

pub(crate) fn encode(batch: &Batch) -> Vec<u8> {
    postcard::to_extend(batch, vec![VERSION]).expect("a batch is plain data")
}

/// The batch of these bytes; none if they are not those of exactly one batch of this version.
pub(crate) fn decode(blob: &[u8]) -> Option<Batch> {
    let (&VERSION, content) = blob.split_first()? else {
        return None;
    };
    match postcard::take_from_bytes(content) {
        Ok((batch, [])) => Some(batch),
        _ => None,
    }
}
