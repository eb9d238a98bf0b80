//! The axes, levels and metrics of `transfer.file`.

use crate::estimates::{ratios, ratios_within, value_at};
use crate::prelude::*;
use ::transfer::method::{ReceiveMethod, SendMethod};

/// The receiver on another machine; points over loopback have no level here.
pub(super) const TO: AxisOf<Address> = AxisOf::new("to", "receiver at");
pub(super) const SENDER: AxisOf<SendMethod> = AxisOf::new("sender", "sender");
pub(super) const RECEIVER: AxisOf<ReceiveMethod> = AxisOf::new("receiver", "receiver");
pub(super) const READING: AxisOf<Reading> = AxisOf::new("reading", "reading");
pub(super) const SIZE: AxisOf<Bytes> = AxisOf::new("size", "file size");

/// In version 1 contents were summed as a whole, and never encrypted.
const VERSION: u32 = 2;

pub(super) const TIME: Metric = Metric::time("time", "time of a file").in_version(VERSION);
/// The time of the same file by read and write on both sides, in turn with the point's own methods.
pub(super) const PLAIN_TIME: Metric = Metric::fact(
    "plain_time",
    "by read and write, in turn",
    Unit::Nanoseconds,
);
pub(super) const RECEIVED_TIME: Metric = Metric::fact(
    "received_time",
    "receiver's time to the last byte",
    Unit::Nanoseconds,
)
.in_version(VERSION);
pub(super) const RECEIVER_TIME: Metric =
    Metric::time("receiver_time", "receiver's time").in_version(VERSION);

/// The address at which the receiver on another machine listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address(pub(super) String);

impl LevelOf for Address {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.0.clone())
    }

    fn of(level: &Level) -> Option<Self> {
        match level {
            Level::Choice(address) => Some(Self(address.clone())),
            Level::Number(_) => None,
        }
    }
}

/// The state and the order in which the sender finds its file.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Closed; it is opened, and mapped.
    First,
    /// Open, and mapped with its pages in place.
    Again,
    /// As `Again`, in blocks of a page in random order.
    RandomOrder,
}

/// The methods by which the two sides move a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) sender: SendMethod,
    pub(super) receiver: ReceiveMethod,
}

const fn pair(sender: SendMethod, receiver: ReceiveMethod) -> Pair {
    Pair { sender, receiver }
}

/// Read and write on both sides, to which everything is compared.
pub(super) const PLAIN: Pair = pair(SendMethod::File, ReceiveMethod::File);
pub(super) const FROM_MAPPING: Pair = pair(SendMethod::Mmap, ReceiveMethod::File);
pub(super) const INTO_MAPPING: Pair = pair(SendMethod::File, ReceiveMethod::Mmap);
pub(super) const MAPPED: Pair = pair(SendMethod::Mmap, ReceiveMethod::Mmap);

/// The pairs of the report, pairs that avoid copies, and rings. The quick profile measures the
/// first five.
pub(super) const PAIRS: [Pair; 9] = [
    PLAIN,
    FROM_MAPPING,
    INTO_MAPPING,
    MAPPED,
    pair(SendMethod::SendFile, ReceiveMethod::File),
    pair(SendMethod::Splice, ReceiveMethod::File),
    pair(SendMethod::ZeroCopy, ReceiveMethod::File),
    pair(SendMethod::SendFile, ReceiveMethod::Splice),
    pair(SendMethod::Uring, ReceiveMethod::Uring),
];
pub(super) const QUICK_PAIRS: usize = 5;
/// The pairs of the report.
pub(super) const REPORTED: [Pair; 4] = [PLAIN, FROM_MAPPING, INTO_MAPPING, MAPPED];

impl Pair {
    /// The pair of a point.
    pub(super) fn of(point: &Point) -> Result<Self, MeasureError> {
        Ok(pair(point.level(SENDER)?, point.level(RECEIVER)?))
    }

    /// The pairs that take turns at its points: itself, and [`PLAIN`] if that is another.
    pub(super) fn in_turn(self) -> Vec<Self> {
        let mut pairs = vec![self, PLAIN];
        pairs.dedup();
        pairs
    }

    /// The levels of its points.
    pub(super) fn levels(self, reading: Reading) -> [(&'static str, Level); 3] {
        [
            SENDER.at(self.sender),
            RECEIVER.at(self.receiver),
            READING.at(reading),
        ]
    }

    /// Its name for people.
    pub(super) fn label(self) -> String {
        format!("{} to {}", self.sender, self.receiver)
    }

    /// Its point for a file of `size`, in addition to the levels of `start`.
    pub(super) fn point(self, start: &Point, reading: Reading, size: Bytes) -> Point {
        let start = start.clone();
        let methods = start.at(SENDER, self.sender).at(RECEIVER, self.receiver);
        methods.at(READING, reading).at(SIZE, size)
    }
}

/// Sound times of a pair by size.
pub(super) fn curve<'r>(
    results: &'r Results<'_>,
    pair: Pair,
    reading: Reading,
) -> Vec<(Bytes, &'r Estimate)> {
    results.along(SIZE, TIME, &pair.levels(reading))
}

/// The time of `above` over that of `below`, by size. [`PLAIN`] took turns with each other pair, so that the speed
/// of the connection cancels. Older runs measured them apart.
pub(super) fn times_over(
    results: &Results<'_>,
    [above, below]: [Pair; 2],
    reading: Reading,
) -> Vec<(Bytes, Quantity)> {
    if above != PLAIN && below != PLAIN {
        let [above, below] = [above, below].map(|pair| times_over(results, [pair, PLAIN], reading));
        let of =
            |(size, one): &(Bytes, Quantity)| Some((*size, one.over(value_at(&below, *size)?)?));
        return above.iter().filter_map(of).collect();
    }
    let other = if above == PLAIN { below } else { above };
    if !is_in_turn(results, other, reading) {
        let [above, below] = [above, below].map(|pair| curve(results, pair, reading));
        return ratios(&above, &below);
    }
    let [above, below] = [above, below].map(|pair| match pair {
        PLAIN => results.along(SIZE, PLAIN_TIME, &other.levels(reading)),
        other => curve(results, other, reading),
    });
    ratios_within(&above, &below)
}

/// True if a run measured `pair` in turn with [`PLAIN`].
pub(super) fn is_in_turn(results: &Results<'_>, pair: Pair, reading: Reading) -> bool {
    let plain = results.along(SIZE, PLAIN_TIME, &pair.levels(reading));
    !plain.is_empty()
}
