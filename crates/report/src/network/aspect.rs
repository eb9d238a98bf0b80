//! The aspects in which ports and links are judged.

use crate::lists::joined;
use instrument::quantity::{Bytes, Unit};
use network::{Latency, Protocol};
use schemars::JsonSchema;
use serde::Serialize;

/// An aspect of a port or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// Round trips on an idle link.
    RoundTrip,
    /// Round trips while a stream goes over the link.
    Loaded,
    /// The throughput from a port.
    Sending,
    /// The throughput to a port.
    Receiving,
}

impl Aspect {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 4] = [
        Self::RoundTrip,
        Self::Loaded,
        Self::Sending,
        Self::Receiving,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::RoundTrip => "round trips",
            Self::Loaded => "round trips under load",
            Self::Sending => "sending",
            Self::Receiving => "receiving",
        }
    }

    /// True if it is the same in both directions.
    pub fn is_mutual(self) -> bool {
        matches!(self, Self::RoundTrip | Self::Loaded)
    }

    /// True if a matrix of this aspect shows what is odd in `other`: throughput is sent and received.
    pub fn concerns(self, other: Self) -> bool {
        self == other || !self.is_mutual() && !other.is_mutual()
    }

    /// The unit of its values.
    pub(super) fn unit(self) -> Unit {
        if self.is_mutual() {
            Unit::Nanoseconds
        } else {
            Unit::BytesPerSecond
        }
    }

    /// The logarithm of a value, signed so that more is better.
    pub(super) fn merit(self, value: f64) -> f64 {
        if self.is_mutual() {
            -value.ln()
        } else {
            value.ln()
        }
    }
}

/// A metric of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Metric {
    /// The aspect of links; [`Aspect::Sending`] for throughput, which is received as well.
    pub aspect: Aspect,
    pub name: &'static str,
    /// The size of its messages, if they are all of one size.
    pub message_bytes: Option<u64>,
}

impl Metric {
    /// Throughput by TCP.
    pub(super) const THROUGHPUT: Self = Self {
        aspect: Aspect::Sending,
        name: "TCP throughput",
        message_bytes: None,
    };

    /// Round trips of messages of one size, by their median.
    pub(super) fn round_trip(measured: &Latency) -> Self {
        let (aspect, name) = match (measured.loaded, measured.protocol) {
            (false, Protocol::Tcp) => (Aspect::RoundTrip, "TCP round trip"),
            (false, Protocol::Udp) => (Aspect::RoundTrip, "UDP round trip"),
            (true, Protocol::Tcp) => (Aspect::Loaded, "TCP round trip under load"),
            (true, Protocol::Udp) => (Aspect::Loaded, "UDP round trip under load"),
        };
        Self {
            aspect,
            name,
            message_bytes: Some(measured.message_bytes),
        }
    }

    /// `TCP round trip, 1 B`.
    pub(super) fn title(self) -> String {
        let size = self.message_bytes.map(|bytes| Bytes(bytes).to_string());
        joined(", ", [self.name, size.as_deref().unwrap_or_default()])
    }
}
