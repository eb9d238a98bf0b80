/// The numbers in a list such as `0-3,8`, ascending; for a stride such as `0-6:2` every second
/// number. An empty text is an empty list. `None` if the text is not such a list.
///
/// The format is in the kernel's `Documentation/admin-guide/cputopology.rst` and `bitmap_parselist`.
pub(in crate::linux) fn cpu_list(text: &str) -> Option<Vec<usize>> {
    /// Far above any machine; prevents a corrupt range from exhausting the memory.
    const LIMIT: usize = 1 << 20;
    let text = text.trim();
    if text.is_empty() {
        return Some(Vec::new());
    }
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (range, stride) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse().ok()?, last.parse::<usize>().ok()?);
        let stride: usize = stride.parse().ok().filter(|stride| *stride > 0)?;
        if last >= LIMIT || first > last {
            return None;
        }
        numbers.extend((first..=last).step_by(stride));
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_ranges_single_numbers_and_strides() {
        assert_eq!(cpu_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(cpu_list("5"), Some(vec![5]));
        assert_eq!(cpu_list("0-6:2,1"), Some(vec![0, 1, 2, 4, 6]));
        assert_eq!(cpu_list("\n"), Some(vec![]));
    }

    #[test]
    fn refuses_what_is_no_list() {
        for text in ["a", "3-1", "1-", "-1", "1,,2", "0-3:0", "0-99999999999"] {
            assert_eq!(cpu_list(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9,:-]{0,20}|.{0,20}") {
            let _ = cpu_list(&text);
        }

        #[test]
        fn reads_what_was_written(numbers in prop::collection::btree_set(0_usize..5000, 0..50)) {
            let text: Vec<String> = numbers.iter().map(usize::to_string).collect();
            let numbers: Vec<usize> = numbers.into_iter().collect();
            prop_assert_eq!(cpu_list(&text.join(",")), Some(numbers));
        }
    }
}
