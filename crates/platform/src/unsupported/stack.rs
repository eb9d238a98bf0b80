pub(crate) fn left_bytes() -> Option<u64> {
    None
}
