//! The measurement of a link before a run.

use super::endpoint::{Endpoint, failed};
use super::levels::PLAIN;
use super::link::Link;
use ::transfer::Error;
use ::transfer::sender::Contents;
use instrument::experiment::MeasureError;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Requests for the round trip; the fastest counts.
const QUESTIONS: u32 = 5;
/// Transfers of each size. The fastest counts, since the others waited for other work.
const FILES: u32 = 3;
/// File sizes grow by fours, from one that suits a slow link, until a transfer takes this long.
const LONG_ENOUGH: Duration = Duration::from_millis(100);
const SMALLEST: u64 = 4 << 10;
const LARGEST: u64 = 64 << 20;

/// Measures the link to the receiver at `address`: round trip, speed of a file, and room for
/// files. Raising `stop` ends that.
///
/// # Errors
/// The reason why nothing can be measured there, as a sentence.
pub fn link(
    address: &str,
    token_file: Option<&Path>,
    stop: &'static AtomicBool,
) -> Result<Link, String> {
    let unready = |error: Error| match error {
        Error::Connect { .. } => error.to_string(),
        other => format!("the receiver at {address}: {other}"),
    };
    let endpoint = Endpoint::elsewhere(address, token_file, stop).map_err(unready)?;
    let mut connection = endpoint.connect().map_err(unready)?;
    let mut round_trip = Duration::MAX;
    let mut room_bytes = 0;
    for _ in 0..QUESTIONS {
        let asked = Instant::now();
        room_bytes = connection.prepare(PLAIN).map_err(unready)?;
        round_trip = round_trip.min(asked.elapsed());
    }
    let mut send = |size| -> Result<Duration, MeasureError> {
        let mut fastest = Duration::MAX;
        for _ in 0..FILES {
            connection.prepare(PLAIN).map_err(failed)?;
            let began = Instant::now();
            connection.transfer(size, Contents::Zeros(size))?;
            fastest = fastest.min(began.elapsed());
        }
        Ok(fastest)
    };
    let mut size = SMALLEST;
    let time = loop {
        let time = send(size).map_err(|error| format!("the receiver at {address}: {error}"))?;
        if time >= LONG_ENOUGH || size * 4 > LARGEST.min(room_bytes) {
            break time;
        }
        size *= 4;
    };
    connection.close();
    let data = time.saturating_sub(round_trip).max(Duration::from_nanos(1));
    Ok(Link {
        address: address.to_owned(),
        token_file: token_file.map(Path::to_owned),
        round_trip,
        bytes_per_second: size as f64 / data.as_secs_f64(),
        room_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::link;
    use std::net::TcpListener;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn who_is_not_there_or_is_no_receiver_is_told() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it listens").to_string();
        // A file has no entries.
        let nowhere = Some(Path::new("/dev/null/nowhere"));
        let reason = link(&address, nowhere, &STOP).expect_err("no token");
        assert!(reason.contains("/nowhere"), "{reason}");
        let stranger = std::thread::spawn(move || drop(listener.accept()));
        let reason = link(&address, None, &STOP).expect_err("it hangs up");
        assert!(reason.contains(&address), "{reason}");
        testing::joined("the stranger", stranger);
        let reason = link(&address, None, &STOP).expect_err("nobody listens");
        assert!(reason.contains("cannot connect"), "{reason}");
    }
}
