//! The command that repeats a run.

use record::Run;

/// The original command line plus the seed of the run, so that the points come in the same order
/// again.
pub(super) fn repeat(run: &Run) -> String {
    let given = run.header.command_line.iter().skip(1);
    let mut words: Vec<String> = std::iter::once("oscope".to_owned())
        .chain(given.cloned())
        .collect();
    if words.len() == 1 {
        words.push("run".into());
    }
    let is_seed = |word: &String| word == "--seed" || word.starts_with("--seed=");
    if !words.iter().any(is_seed) {
        words.push("--seed".into());
        words.push(run.header.seed.to_string());
    }
    words
        .iter()
        .map(|word| quoted(word))
        .collect::<Vec<_>>()
        .join(" ")
}

/// `word` quoted as a single word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("--dir=/tmp"), "--dir=/tmp");
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
