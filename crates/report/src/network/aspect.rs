//! The aspects in which ports and links are judged.

use instrument::quantity::{Bytes, Unit};
use network::Protocol;
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

    /// The place of the aspect among all.
    pub(super) fn index(self) -> usize {
        self as usize
    }
}

/// A metric of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    /// Round trips of messages of one size, by their median.
    RoundTrip {
        loaded: bool,
        protocol: Protocol,
        message_bytes: u64,
    },
    /// Throughput by TCP.
    Throughput,
    /// Half a round trip of a message by MPI.
    MpiLatency { message_bytes: u64 },
    /// Throughput of messages of one size by MPI.
    MpiThroughput { message_bytes: u64 },
}

impl Metric {
    /// The aspect of links; [`Aspect::Sending`] for throughput, which is received as well.
    pub(super) fn aspect(self) -> Aspect {
        match self {
            Self::RoundTrip { loaded: false, .. } | Self::MpiLatency { .. } => Aspect::RoundTrip,
            Self::RoundTrip { loaded: true, .. } => Aspect::Loaded,
            Self::Throughput | Self::MpiThroughput { .. } => Aspect::Sending,
        }
    }

    /// `TCP round trip, 1 B`.
    pub(super) fn title(self) -> String {
        match self {
            Self::RoundTrip {
                loaded,
                protocol,
                message_bytes,
            } => {
                let protocol = match protocol {
                    Protocol::Tcp => "TCP",
                    Protocol::Udp => "UDP",
                };
                let load = if loaded { " under load" } else { "" };
                format!("{protocol} round trip{load}, {}", Bytes(message_bytes))
            }
            Self::Throughput => "TCP throughput".into(),
            Self::MpiLatency { message_bytes } => format!("MPI latency, {}", Bytes(message_bytes)),
            Self::MpiThroughput { message_bytes } => {
                format!("MPI throughput, {}", Bytes(message_bytes))
            }
        }
    }

    pub(super) fn unit(self) -> Unit {
        if self.aspect().is_mutual() {
            Unit::Nanoseconds
        } else {
            Unit::BytesPerSecond
        }
    }

    /// The logarithm of a value, signed so that more is better.
    pub(super) fn merit(self, value: f64) -> f64 {
        if self.aspect().is_mutual() {
            -value.ln()
        } else {
            value.ln()
        }
    }
}
