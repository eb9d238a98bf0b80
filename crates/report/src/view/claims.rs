//! Claims of reports and common beliefs, judged by the measurements on this machine.

use super::run::reference;
use crate::document::{Blocks, Document, Item, Piece, Text, text};
use crate::{Analysis, show};
use instrument::claim::{Claim, Judgement, Ruling};
use instrument::quantity::counted;

/// All claims with their rulings and reasons, decided claims first.
pub fn claims<'a>(analysis: &Analysis<'_>) -> Document<'a> {
    judged(analysis).document("Claims")
}

/// The counts, the decided claims, and the others folded.
pub(crate) fn judged<'a>(analysis: &Analysis<'_>) -> Blocks<'a> {
    let mut claims: Vec<_> = analysis.claims.iter().collect();
    claims.sort_by_key(|(_, judgement)| judgement.ruling);
    let is_open = |(_, judgement): &&(_, Judgement)| judgement.ruling == Ruling::Undecided;
    let (open, decided): (Vec<_>, Vec<_>) = claims.into_iter().partition(is_open);
    let item = |(claim, judgement): &(&'static Claim, Judgement)| self::item(claim, judgement);
    let open_title = format!("{} undecided", open.len());
    let open = Blocks::default().items(open.into_iter().map(item));
    Blocks::default()
        .say([tally(analysis)])
        .items(decided.into_iter().map(item))
        .fold(open_title, open)
}

/// A claim with its ruling and the reason.
pub(crate) fn item(claim: &Claim, judgement: &Judgement) -> Item {
    let source = Piece::faint(format!(" ({})", claim.source));
    let because =
        Text::from(&judgement.because.sentence).then(reference(claim.basis.experiments()));
    Item::new(
        show::ruling(judgement.ruling),
        [text![claim.says, source], because],
    )
}

/// The number of claims that hold, in one sentence.
pub(crate) fn tally(analysis: &Analysis<'_>) -> String {
    let of = |ruling| {
        let judged = analysis
            .claims
            .iter()
            .map(|(_, judgement)| judgement.ruling);
        judged.filter(|it| *it == ruling).count()
    };
    format!(
        "{} of the reports and of common belief: {} hold here, {} in part, {} do not; {} undecided.",
        counted(analysis.claims.len(), "claim"),
        of(Ruling::Holds),
        of(Ruling::HoldsInPart),
        of(Ruling::DoesNotHold),
        of(Ruling::Undecided),
    )
}
