//! Claims of reports and common beliefs, judged by the measurements on this machine.

use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::{Analysis, show};
use instrument::claim::{Claim, Judgement, Ruling};
use instrument::quantity::counted;

/// All claims with their rulings and reasons, decided claims first.
pub fn claims(analysis: &Analysis, style: &Style) -> String {
    let mut claims: Vec<_> = analysis.claims.iter().collect();
    claims.sort_by_key(|(_, judgement)| judgement.ruling);
    let told = claims
        .iter()
        .map(|(claim, judgement)| told(claim, judgement, style));
    title("Claims", style) + &tally(analysis, style) + "\n" + &told.collect::<Vec<_>>().join("\n")
}

/// The number of claims that hold, in one line.
pub(super) fn tally(analysis: &Analysis, style: &Style) -> String {
    let of = |ruling| {
        let judged = analysis.claims.iter();
        judged
            .filter(|(_, judgement)| judgement.ruling == ruling)
            .count()
    };
    let line = format!(
        "{} of the reports and of common belief: {} hold here, {} in part, {} do not; {} cannot be \
         told from this run.",
        counted(analysis.claims.len(), "claim"),
        of(Ruling::Holds),
        of(Ruling::HoldsInPart),
        of(Ruling::DoesNotHold),
        of(Ruling::CannotBeTold),
    );
    paragraph("", &line, style)
}

fn told(claim: &Claim, judgement: &Judgement, style: &Style) -> String {
    let ruling = style.judged(show::ruling(judgement.ruling));
    let source = format!("({})", claim.source);
    let said = format!("{} {}", claim.says, style.paint(Role::Faint, &source));
    let rests_on = format!("[{}]", claim.experiments.join(", "));
    let because = format!(
        "{} {}",
        show::sentence(&judgement.because),
        style.paint(Role::Faint, &rests_on)
    );
    let indent = " ".repeat(18);
    paragraph(&ruling, &said, style) + &paragraph(&indent, &because, style)
}
