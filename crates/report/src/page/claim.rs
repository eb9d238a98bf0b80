//! The page's view of a claim.

use super::finding::FindingView;
use crate::{Analysis, show};
use instrument::claim::{Claim, Judgement, Ruling};

/// A claim with its judgement, ready for its template.
pub(super) struct ClaimView {
    /// CSS class of the ruling.
    pub(super) class: &'static str,
    /// The ruling as text.
    pub(super) ruling: &'static str,
    pub(super) says: &'static str,
    pub(super) source: &'static str,
    /// The evidence.
    pub(super) because: FindingView,
}

/// The claims that this run decides, confirmed ones first, and the undecided ones.
pub(super) fn claims(
    analysis: &Analysis,
    place_of: impl Fn(&str) -> Option<(String, String)>,
) -> (Vec<ClaimView>, Vec<ClaimView>) {
    let mut claims: Vec<_> = analysis.claims.iter().collect();
    claims.sort_by_key(|(_, judgement)| judgement.ruling);
    let view = |(claim, judgement): &(&'static Claim, Judgement)| ClaimView {
        class: show::ruling(judgement.ruling).class,
        ruling: show::ruling(judgement.ruling).text,
        says: claim.says,
        source: claim.source,
        because: FindingView {
            from: claim.experiments.first().and_then(|id| place_of(id)),
            ..FindingView::new(&judgement.because)
        },
    };
    let (decided, open): (Vec<_>, Vec<_>) = claims
        .into_iter()
        .partition(|(_, judgement)| judgement.ruling != Ruling::CannotBeTold);
    (
        decided.into_iter().map(view).collect(),
        open.into_iter().map(view).collect(),
    )
}
