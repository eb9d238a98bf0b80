//! The link to another machine, where files are sent to.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// A receiver on another machine that measures with this one, and the way there as it was found
/// before the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Where it listens: `HOST:PORT`.
    pub address: String,
    /// File with the token that it knows too.
    #[serde(with = "crate::any_path::optional")]
    pub token_file: Option<PathBuf>,
    /// From a question until its answer is here.
    pub round_trip: Duration,
    /// How fast a file goes there.
    pub bytes_per_second: f64,
    /// The largest file there is room for, in bytes.
    pub room_bytes: u64,
}

impl Link {
    /// How long a file of `size` bytes takes, about.
    pub fn time_of(&self, size: u64) -> Duration {
        // A file that takes longer than this is as good as one that never comes.
        let longest = Duration::from_hours(24);
        let seconds = size as f64 / self.bytes_per_second;
        let data = Duration::try_from_secs_f64(seconds).unwrap_or(longest);
        self.round_trip + data.min(longest)
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
