//! Lists and words in sentences, and things in groups.

use std::borrow::Borrow;

/// The values of each key, in the order in which the keys occur first.
pub(crate) fn by_key<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The things, each once, in the order in which they occur first.
pub(crate) fn distinct<T: PartialEq>(things: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for thing in things {
        if !distinct.contains(&thing) {
            distinct.push(thing);
        }
    }
    distinct
}

/// The words whose count is not zero: `2 slower, 40 equivalent`.
pub(crate) fn counts<W: AsRef<str>>(parts: impl IntoIterator<Item = (usize, W)>) -> String {
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, words)| format!("{count} {}", words.as_ref()));
    joined(", ", parts)
}

/// Those of the words that say something, with `between` them.
pub(crate) fn joined<W: Borrow<str>>(between: &str, words: impl IntoIterator<Item = W>) -> String {
    let words = words
        .into_iter()
        .filter(|it| !Borrow::<str>::borrow(it).is_empty());
    words.collect::<Vec<W>>().join(between)
}

/// `a, b and c`.
pub(crate) fn and<W: AsRef<str>>(words: &[W]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// `a, b and c`, or `a, b, c, d and 7 more` for many.
pub(crate) fn first_of<W: AsRef<str>>(words: &[W]) -> String {
    const MOST: usize = 4;
    if words.len() <= MOST {
        return and(words);
    }
    let first: Vec<&str> = words[..MOST].iter().map(AsRef::as_ref).collect();
    format!("{} and {} more", first.join(", "), words.len() - MOST)
}

/// `words` with a capital letter first.
pub(crate) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::{by_key, counts, distinct, first_of};

    #[test]
    fn groups_and_distinct_things_are_in_the_order_of_their_first_ones() {
        let names = [("memory", "a"), ("file", "a"), ("memory", "b")];
        let expected = [("memory", vec!["a", "b"]), ("file", vec!["a"])];
        assert_eq!(by_key(names), expected);
        assert_eq!(distinct([2, 1, 2]), [2, 1]);
    }

    #[test]
    fn long_lists_are_cut_and_zeros_left_out() {
        let names = ["a", "b", "c", "d", "e", "f"];
        assert_eq!(first_of(&names[..0]), "");
        assert_eq!(first_of(&names[..1]), "a");
        assert_eq!(first_of(&names[..4]), "a, b, c and d");
        assert_eq!(first_of(&names), "a, b, c, d and 2 more");
        assert_eq!(
            counts([(2, "slower"), (0, "faster"), (1, "alike")]),
            "2 slower, 1 alike"
        );
    }
}
