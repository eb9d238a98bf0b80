//! Windows has no ticks, so none is tried again.

#[derive(Default)]
pub(crate) struct Retries(());

impl Retries {
    /// False: there is no series.
    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn end(&self) -> bool {
        false
    }
}
