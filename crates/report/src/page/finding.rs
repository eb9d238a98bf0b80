//! The page's view of a finding.

use crate::show;
use instrument::finding::{self, Finding, Sentence};

/// A finding, ready for its template.
pub(super) struct FindingView {
    /// CSS class of the grade.
    pub(super) class: &'static str,
    /// The grade as text.
    pub(super) grade: &'static str,
    /// The sentence in pieces.
    pub(super) pieces: Vec<Piece>,
    /// The evidence for the grade; `None` for printed values.
    pub(super) trust: Option<String>,
    /// Id and title of its experiment, if the finding is shown elsewhere.
    pub(super) from: Option<(String, String)>,
}

/// A piece of a sentence.
pub(super) enum Piece {
    /// Plain text.
    Text(String),
    /// A number with its unit, and its interval if that adds information.
    Number {
        centre: String,
        range: Option<String>,
    },
}

impl FindingView {
    pub(super) fn new(finding: &Finding) -> Self {
        let grade = show::grade(finding.grade);
        Self {
            class: grade.class,
            grade: grade.text,
            pieces: pieces(&finding.sentence),
            trust: finding
                .trust
                .as_ref()
                .map(|trust| show::trust(finding, trust)),
            from: None,
        }
    }
}

/// The pieces of the sentence, with its numbers as text.
fn pieces(sentence: &Sentence) -> Vec<Piece> {
    let piece = |piece: &finding::Piece| match piece {
        finding::Piece::Text(text) => Piece::Text(text.clone()),
        finding::Piece::Number(number) => {
            let (centre, range) = show::parts(&number.quantity);
            Piece::Number { centre, range }
        }
    };
    sentence.pieces().iter().map(piece).collect()
}
