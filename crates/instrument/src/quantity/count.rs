//! Numbers of things.

use std::fmt;

/// A number of things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count(pub u64);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
/// `count` with its noun: `1 point`, `2 points`.
pub fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn only_one_is_singular() {
        let all = ["0", "1", "1.5", "2"].map(|count| counted(count, "core"));
        assert_eq!(all, ["0 cores", "1 core", "1.5 cores", "2 cores"]);
    }
}
