//! The command line of `oscope compare`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope compare 4 7
  oscope compare 1,2,3 4,5,6 --fail-on slower
  oscope compare before.oscope.json latest --markdown
  oscope compare 1,2,3 4,5,6 --only memory --all --page comparison.html
  oscope compare reference:pentium4-2003-linux latest

Exit code 3: what --fail-on names was found")]
pub struct Compare {
    /// The side to compare with
    #[arg(value_name = "A")]
    pub first: String,
    /// The sides to judge
    #[arg(value_name = "B", required = true)]
    pub others: Vec<String>,
    /// Only these experiments or groups
    #[arg(long, value_name = "WHAT")]
    pub only: Vec<String>,
    /// Show every value, curve beside curve, and not only the largest differences
    #[arg(long)]
    pub all: bool,
    /// Ignore differences up to this
    #[arg(long, value_name = "PERCENT", default_value = "2", value_parser = parse_percent)]
    pub margin: f64,
    /// Sessions of an unchanged machine, separated by commas: differences as large as theirs are
    /// ignored, too
    #[arg(long, value_name = "RUNS")]
    pub baseline: Option<String>,
    /// Print Markdown, for example for a pull request
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Also write the comparison as a page
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Overwrite an existing file that `--page` names
    #[arg(long, requires = "page")]
    pub force: bool,
    /// End with exit code 3 if any value has this verdict
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
}

/// The verdicts that make `oscope compare` fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Something is slower
    Slower,
    /// Something is slower or faster
    Different,
}

pub(super) fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..1000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a margin is a number of per cent, as in `2` or `0.5`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_percent;

    #[test]
    fn a_margin_is_a_number_of_per_cent() {
        assert_eq!(parse_percent("5%"), Ok(0.05));
        assert_eq!(parse_percent("0.5"), Ok(0.005));
        assert!(parse_percent("-1").is_err() && parse_percent("much").is_err());
    }
}
