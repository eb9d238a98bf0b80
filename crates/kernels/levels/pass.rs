//! A pass over memory.

/// Stores `word` into each element, in ascending order.
#[inline(never)]
pub fn write(words: &mut [u64], word: u64) {
    let mut at = 0;
    while at < words.len() {
        words[at] = word;
        at += 1;
    }
}
