//! Parses limits from the command line.

use super::Limits;
use crate::quantity::{Bytes, BytesPerSecond};
use std::str::FromStr;

/// The keys, each with an example.
pub const KEYS: &str = "processor=25%, cpus=1, memory=512MiB, disk=512MiB, written=4GiB, rate=32MiB/s, \
                        io=idle or io=usual";

pub(super) const IDLE: &str = "idle";
pub(super) const USUAL: &str = "usual";

/// The least memory in which a worker can run at all.
const LEAST_MEMORY: Bytes = Bytes(64 << 20);
/// With a smaller share, the rest after a burst takes minutes.
const LEAST_PERCENT: f64 = 1.0;
const LEAST_RATE: BytesPerSecond = BytesPerSecond(64.0 * 1024.0);

/// A text that is no list of limits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; the limits are {KEYS}")]
pub struct ParseLimitsError {
    problem: String,
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, ParseLimitsError> {
    Err(ParseLimitsError {
        problem: problem.into(),
    })
}

/// The syntax of `processor=25%,memory=512MiB`.
impl FromStr for Limits {
    type Err = ParseLimitsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut limits = Self::default();
        for pair in text.split(',') {
            let Some((key, value)) = pair.split_once('=') else {
                return wrong(format!("'{}' is not KEY=VALUE", pair.trim()));
            };
            let (key, value) = (key.trim(), value.trim());
            let is_new = match key {
                "processor" => set(&mut limits.processor_percent, percent(value)?),
                "cpus" => set(&mut limits.cpus, cpus(value)?),
                "memory" => set(&mut limits.memory_bytes, memory(value)?),
                "disk" => set(&mut limits.disk_bytes, bytes(value)?),
                "written" => set(&mut limits.written_bytes, bytes(value)?),
                "rate" => set(&mut limits.bytes_per_second, rate(value)?),
                "io" => set(&mut limits.idle_io, io(value)?),
                _ => return wrong(format!("'{key}' cannot be limited")),
            };
            if !is_new {
                return wrong(format!("'{key}' is limited twice"));
            }
        }
        Ok(limits)
    }
}

/// False if the key already had a value.
fn set<T>(place: &mut Option<T>, value: T) -> bool {
    place.replace(value).is_none()
}

fn percent(text: &str) -> Result<f64, ParseLimitsError> {
    let number = text.strip_suffix('%').map(str::trim_end);
    match number.and_then(|number| number.parse::<f64>().ok()) {
        Some(percent) if percent.is_finite() && percent >= LEAST_PERCENT => Ok(percent),
        Some(_) => wrong(format!(
            "'{text}' is less than {LEAST_PERCENT}%, or not a number"
        )),
        None => wrong(format!(
            "'{text}' is not a share of a processor, such as 25%"
        )),
    }
}

fn cpus(text: &str) -> Result<u64, ParseLimitsError> {
    match text.parse() {
        Ok(0) | Err(_) => wrong(format!("'{text}' is not a number of processors")),
        Ok(cpus) => Ok(cpus),
    }
}

fn bytes(text: &str) -> Result<u64, ParseLimitsError> {
    match text.parse::<Bytes>() {
        Ok(bytes) => Ok(bytes.0),
        Err(error) => wrong(error.to_string()),
    }
}

fn memory(text: &str) -> Result<u64, ParseLimitsError> {
    match bytes(text)? {
        few if few < LEAST_MEMORY.0 => wrong(format!(
            "'{text}' of memory is too little: a worker needs {LEAST_MEMORY}"
        )),
        enough => Ok(enough),
    }
}

fn rate(text: &str) -> Result<f64, ParseLimitsError> {
    match text.parse::<BytesPerSecond>() {
        Ok(rate) if rate >= LEAST_RATE => Ok(rate.0),
        Ok(_) => wrong(format!("'{text}' is less than {LEAST_RATE}")),
        Err(error) => wrong(error.to_string()),
    }
}

fn io(text: &str) -> Result<bool, ParseLimitsError> {
    match text {
        IDLE => Ok(true),
        USUAL => Ok(false),
        _ => wrong(format!("'{text}' is not a priority at disks")),
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::Limits;
    use proptest::option;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Limits, String> {
        text.parse::<Limits>().map_err(|error| error.to_string())
    }

    #[test]
    fn limits_are_read_as_people_write_them() {
        let all = "processor=12.5 %, cpus=2,memory=1GiB,disk=0,written=2G,rate=50MiB/s,io=idle";
        let expected = Limits {
            processor_percent: Some(12.5),
            cpus: Some(2),
            memory_bytes: Some(1 << 30),
            disk_bytes: Some(0),
            written_bytes: Some(2 << 30),
            bytes_per_second: Some(50.0 * 1024.0 * 1024.0),
            idle_io: Some(true),
        };
        assert_eq!(read(all), Ok(expected));
        let one = Limits {
            cpus: Some(3),
            ..Limits::default()
        };
        assert_eq!(read("cpus=3"), Ok(one));
        assert!(!one.is_none() && Limits::default().is_none());
    }

    #[test]
    fn what_is_no_limit_is_refused_with_the_list_of_all() {
        for (text, problem) in [
            ("", "is not KEY=VALUE"),
            ("processor", "is not KEY=VALUE"),
            ("cpus=1,", "is not KEY=VALUE"),
            ("power=5W", "'power' cannot be limited"),
            ("cpus=1,cpus=2", "'cpus' is limited twice"),
            ("cpus=0", "is not a number of processors"),
            ("cpus=-1", "is not a number of processors"),
            ("processor=25", "is not a share of a processor"),
            ("processor=0.5%", "less than 1%"),
            ("processor=NaN%", "not a number"),
            ("processor=inf%", "not a number"),
            ("memory=1MiB", "a worker needs 64 MiB"),
            ("memory=much", "must begin with a number"),
            ("disk=1 sheep", "'sheep'"),
            ("rate=5", "less than 64 KiB/s"),
            ("rate=5 MiB", "'MiB'"),
            ("io=fast", "is not a priority at disks"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
            assert!(error.contains("processor=25%, cpus=1"), "{error}");
        }
    }

    prop_compose! {
        fn limits()(
            processor_percent in option::of(1.0_f64..3200.0),
            cpus in option::of(1_u64..1000),
            memory_bytes in option::of(64_u64 << 20..1 << 50),
            disk_bytes in option::of(0_u64..1 << 50),
            written_bytes in option::of(any::<u64>()),
            bytes_per_second in option::of(65536.0_f64..1e15),
            idle_io in option::of(any::<bool>()),
        ) -> Limits {
            Limits {
                processor_percent,
                cpus,
                memory_bytes,
                disk_bytes,
                written_bytes,
                bytes_per_second,
                idle_io,
            }
        }
    }

    proptest! {
        #[test]
        fn limits_that_are_printed_read_back_the_same(limits in limits()) {
            prop_assume!(!limits.is_none());
            prop_assert_eq!(read(&limits.to_string()), Ok(limits));
        }

        #[test]
        fn no_text_of_limits_panics(text in "[a-z]{0,9}=?[-0-9.%]{0,5}[A-Za-z/]{0,6},?") {
            let _ = read(&text);
        }
    }
}
