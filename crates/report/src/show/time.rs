//! Points in time and durations as text.

use super::prefix::DIGITS;
use super::value::rounded;
use instrument::quantity::Unit;
use jiff::Timestamp;
use record::Header;

/// A point in time, to the minute: `2026-03-01 14:05 UTC`.
pub fn moment(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// When and how the values of a run were measured, or the publication that printed them.
pub fn measured(header: &Header) -> String {
    match printed(header) {
        Some(printed) => printed,
        None => format!(
            "Measured {}, by oscope {}.",
            run(header).join(", "),
            header.version
        ),
    }
}

/// When and how the values of a run were measured, fact by fact, or the publication that printed them.
pub fn run(header: &Header) -> Vec<String> {
    if let Some(printed) = printed(header) {
        return vec![printed];
    }
    let limited = header.limited.as_ref();
    let took = header.ended.map(|ended| {
        let took = ended.duration_since(header.started);
        format!("took {}", length(took.as_secs_f64() * 1e9))
    });
    let facts = [
        Some(moment(header.started)),
        Some(format!("{} profile", header.profile)),
        limited.map(|limited| format!("within {}", limited.limits)),
        took,
    ];
    facts.into_iter().flatten().collect()
}

/// The source of values that a publication printed; `None` for a run of oscope.
pub fn printed(header: &Header) -> Option<String> {
    let tag = |key: &str| header.tags.get(key).map(String::as_str);
    let source = tag("source").unwrap_or("a publication");
    let of = tag("year").filter(|year| year.parse::<u16>().is_ok());
    let year = of.map_or_else(String::new, |year| format!(" of {year}"));
    let what = tag("reported").map_or_else(String::new, |what| format!("{what}, "));
    let is_reported = header.is_reported();
    is_reported.then(|| format!("{what}as printed in {source}{year}"))
}

/// A duration for which seconds matter: `350 ms`, `12.3 s`, `4 min 5 s`, `2 h 10 min`.
pub fn length(ns: f64) -> String {
    let seconds = (ns / 1e9).round();
    if seconds < 60.0 || !seconds.is_finite() {
        return rounded(Unit::Nanoseconds, ns, DIGITS);
    }
    let minutes = (seconds / 60.0).floor();
    if minutes < 60.0 {
        format!("{minutes} min {} s", seconds % 60.0)
    } else {
        format!("{} h {} min", (minutes / 60.0).floor(), minutes % 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn lengths_of_time_read_like_a_watch() {
        assert_eq!(length(350e6), "350 ms");
        assert_eq!(length(12.34e9), "12.3 s");
        assert_eq!(length(245.2e9), "4 min 5 s");
        assert_eq!(length(7800e9), "2 h 10 min");
    }
}
