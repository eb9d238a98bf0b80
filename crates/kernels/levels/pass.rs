//! A pass over memory.

/// The exclusive or of all words, one after the other.
#[inline(never)]
pub fn read(words: &[u64]) -> u64 {
    let mut sum = 0;
    let mut at = 0;
    while at < words.len() {
        sum ^= words[at];
        at += 1;
    }
    sum
}
