//! Anchors within the page.

use std::collections::BTreeSet;

/// Generates `id` attributes: readable, safe in a URL, and unique.
#[derive(Default)]
pub(super) struct Anchors {
    taken: BTreeSet<String>,
}

impl Anchors {
    /// A unique id derived from `name`.
    pub(super) fn take(&mut self, name: &str) -> String {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '-'
            }
        };
        let base: String = name.chars().map(safe).collect();
        let mut id = base.clone();
        let mut count = 1;
        while !self.taken.insert(id.clone()) {
            count += 1;
            id = format!("{base}-{count}");
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::Anchors;

    #[test]
    fn every_name_is_given_once() {
        let mut anchors = Anchors::default();
        assert_eq!(anchors.take("memory.bandwidth"), "memory.bandwidth");
        assert_eq!(anchors.take("memory.bandwidth"), "memory.bandwidth-2");
        assert_eq!(anchors.take("a b\"<"), "a-b--");
    }
}
