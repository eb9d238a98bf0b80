//! The command line of `oscope history`.

use clap::{ArgGroup, Args};
use instrument::point::Level;
use instrument::quantity::Bytes;

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("what").args(["metric", "changes"])))]
#[command(after_help = "\
Examples:
  oscope history
  oscope history --changes
  oscope history --changes --last 30 --json
  oscope history process.calls
  oscope history process.calls.rate --at call=getpid
  oscope history memory.bandwidth.read --at block_size=1MiB --last 200 --json")]
pub struct History {
    /// An experiment, or one of its metrics, such as `process.calls.rate`
    #[arg(value_name = "METRIC")]
    pub metric: Option<String>,
    /// Look for changes in all metrics at once
    #[arg(long)]
    pub changes: bool,
    /// Only points with this level; can be repeated
    #[arg(long, value_name = "AXIS=LEVEL", value_parser = parse_level, requires = "metric")]
    pub at: Vec<(String, Level)>,
    /// The machine, by the beginning of its fingerprint
    #[arg(long, value_name = "FINGERPRINT", requires = "what")]
    pub machine: Option<String>,
    /// Number of runs to use, from the newest [default: 1000 for a metric, 100 for `--changes`]
    #[arg(long, value_name = "COUNT", requires = "what")]
    pub last: Option<usize>,
}

/// A level on the command line: a number, a size, a time (in µs, as the axes have it) or a name.
pub(super) fn parse_level(text: &str) -> Result<(String, Level), String> {
    let (axis, level) = text
        .split_once('=')
        .ok_or("a level is AXIS=LEVEL, as in block_size=4KiB")?;
    let number = level.parse().ok();
    let bytes = || level.parse::<Bytes>().ok().map(|bytes| bytes.0);
    let level = match number.or_else(bytes).or_else(|| microseconds(level)) {
        Some(number) => Level::Number(number),
        None => Level::Choice(level.to_owned()),
    };
    Ok((axis.to_owned(), level))
}

/// A time like `16ms`, in µs.
fn microseconds(text: &str) -> Option<u64> {
    let units = [("ms", 1000), ("us", 1), ("µs", 1), ("s", 1_000_000)];
    units.into_iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        number.checked_mul(factor)
    })
}

#[cfg(test)]
mod tests {
    use super::parse_level;
    use instrument::point::Level;

    #[test]
    fn a_level_is_a_number_a_size_or_a_name() {
        let level = |text: &str| parse_level(text).map(|(_, level)| level);
        assert_eq!(level("threads=4"), Ok(Level::Number(4)));
        assert_eq!(level("block_size=4KiB"), Ok(Level::Number(4096)));
        assert_eq!(level("call=getpid"), Ok(Level::Choice("getpid".into())));
        assert!(level("getpid").is_err());
    }
}
