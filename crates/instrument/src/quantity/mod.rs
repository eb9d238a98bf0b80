//! Quantities: numbers with their units, read and printed in the field's standard notation.
//!
//! `{}` prints a quantity exactly: parsing the text gives the same value back. `{:.3}` rounds it to
//! that many significant digits, for readers.

mod bytes;
mod count;
mod duration;
mod rate;
mod scale;
mod unit;
mod value;

pub use bytes::Bytes;
pub use count::{Count, counted};
pub use duration::Nanoseconds;
pub use rate::{BytesPerSecond, OperationsPerSecond};
pub use scale::{ParseQuantityError, significant};
pub use unit::Unit;
pub use value::Quantity;
