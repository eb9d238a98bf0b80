//! The words that may stay: those of oscope's own messages, and those that kernels, distributions
//! and processor vendors use for things that every machine has.

use std::collections::HashSet;
use std::sync::LazyLock;

static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let lists = [include_str!("program.txt"), include_str!("system.txt")];
    let lines = lists.into_iter().flat_map(str::lines);
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// True if `word`, in upper or lower case, identifies no machine.
pub(super) fn is_known(word: &str) -> bool {
    WORDS.contains(word.to_ascii_lowercase().as_str())
}
