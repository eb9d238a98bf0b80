//! The link to another machine that receives files.

use ::transfer::Cover;
use instrument::given::{Given, Taken};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A receiver on another machine, and the speed of the connection measured before the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Address of the receiver: `HOST:PORT`.
    pub address: String,
    /// File with the shared token.
    #[serde(with = "instrument::any_path::optional")]
    pub token_file: Option<PathBuf>,
    /// Time from a request to its answer.
    pub round_trip: Duration,
    /// Throughput of a file transfer.
    pub bytes_per_second: f64,
    /// The largest file that fits on the receiver, in bytes.
    pub room_bytes: u64,
}

impl Given for Link {
    const TAKEN: Taken = Taken {
        option: "--to",
        purpose: "names where `transfer.file` sends its files",
        example: "oscope run transfer --to HOST:PORT",
        without: None,
    };
}

impl Link {
    /// Approximate transfer time of a file of `size` bytes.
    pub(super) fn time_of(&self, size: u64) -> Duration {
        // An upper bound keeps the duration finite if the throughput is close to zero.
        let longest = Duration::from_hours(24);
        let seconds = size as f64 / self.bytes_per_second;
        let data = Duration::try_from_secs_f64(seconds).unwrap_or(longest);
        self.round_trip + data.min(longest)
    }

    /// The protection of contents on their way: a seal where there is a token.
    pub(super) fn cover(&self) -> Cover {
        if self.token_file.is_some() {
            Cover::Sealed
        } else {
            Cover::Summed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Link;
    use std::time::Duration;

    #[test]
    fn a_file_takes_a_round_trip_and_the_time_of_its_bytes() {
        let link = |bytes_per_second| Link {
            address: "there:5735".into(),
            token_file: None,
            round_trip: Duration::from_millis(2),
            bytes_per_second,
            room_bytes: 0,
        };
        assert_eq!(link(1000.0).time_of(500), Duration::from_millis(502));
        assert!(link(0.0).time_of(1) >= Duration::from_hours(1));
    }
}
