//! A pass over memory.

/// Stores the word everywhere, one after the other.
#[inline(never)]
pub fn write(words: &mut [u64], word: u64) {
    let mut at = 0;
    while at < words.len() {
        words[at] = word;
        at += 1;
    }
}
