pub(crate) fn had_standard_output() -> bool {
    true
}
