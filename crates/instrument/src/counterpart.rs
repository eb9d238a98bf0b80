//! The values that runs on two operating systems have in common.

use crate::point::Point;

/// The value of another operating system with which a value may be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counterpart {
    /// The value of the same point: both systems run one source, which asks neither for what is timed.
    Same,
    /// The value of a point that has the same purpose there.
    Like {
        /// That point. It may be the same one.
        point: Point,
        /// The difference of the two for readers, as sentences.
        difference: &'static str,
    },
    /// None, for this reason, which continues a sentence after a colon.
    Missing(&'static str),
}
