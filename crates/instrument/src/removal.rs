//! Rules by which oscope removes its scratch directories and what it made for them.

use platform::scratch::Removal;
use std::time::Duration;

/// The rules.
pub const REMOVAL: Removal = Removal {
    exit_wait: Duration::from_secs(5),
    unchanged_for: Duration::from_hours(24),
    is_own_name: begins_with_experiment,
};

/// True if a file's name begins with that of an experiment, such as `group.name 4096`.
fn begins_with_experiment(name: &str) -> bool {
    let is_word = |word: &str| {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        !word.is_empty() && word.bytes().all(is_letter)
    };
    let first = name.split(' ').next().unwrap_or_default();
    first
        .split_once('.')
        .is_some_and(|(group, rest)| is_word(group) && rest.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use super::begins_with_experiment;

    #[test]
    fn names_of_experiments_differ_from_others() {
        for own in ["file.block_size 4096", "threads.io", "file.sync.a 1"] {
            assert!(begins_with_experiment(own), "{own}");
        }
        for other in ["thesis.odt2", "data", "File.sync", "file. 1", ".file", ""] {
            assert!(!begins_with_experiment(other), "{other}");
        }
    }
}
