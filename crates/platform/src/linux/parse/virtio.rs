/// True if the features of a virtio device, a text of `0` and `1` from bit 0 on, have bit `bit`. `None` for
/// any other text.
pub(in crate::linux) fn has_feature(features: &str, bit: usize) -> Option<bool> {
    let features = features.trim();
    let is_known = !features.is_empty() && features.bytes().all(|it| matches!(it, b'0' | b'1'));
    is_known.then(|| features.as_bytes().get(bit) == Some(&b'1'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_a_balloon_that_reports_and_one_that_does_not() {
        assert_eq!(has_feature("01100101000000000000\n", 5), Some(true));
        assert_eq!(has_feature("01000001000000000000\n", 5), Some(false));
        assert_eq!(has_feature("011", 5), Some(false));
        assert_eq!(has_feature("", 5), None);
        assert_eq!(has_feature("0x25", 5), None);
    }

    proptest! {
        #[test]
        fn every_bit_is_found_where_it_is(
            bits in prop::collection::vec(any::<bool>(), 1..130),
            bit in 0_usize..200,
        ) {
            let text: String = bits.iter().map(|bit| if *bit { '1' } else { '0' }).collect();
            let expected = bits.get(bit).copied().unwrap_or(false);
            prop_assert_eq!(has_feature(&text, bit), Some(expected));
        }

        #[test]
        fn never_panics(text in "[01é]{0,130}|.{0,40}", bit in any::<usize>()) {
            let _ = has_feature(&text, bit);
        }
    }
}
