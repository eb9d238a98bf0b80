//! A finding as the page shows it.

use crate::show;
use instrument::finding::{Finding, Grade, Number};

/// A finding, ready for its template.
pub(super) struct FindingView {
    /// How sure it is, as a class.
    pub(super) class: &'static str,
    /// How sure it is, in words.
    pub(super) grade: &'static str,
    /// The sentence in pieces.
    pub(super) pieces: Vec<Piece>,
    /// Id and title of the experiment that it comes from, where it stands apart from it.
    pub(super) from: Option<(String, String)>,
}

/// A piece of a sentence.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    /// Words.
    Text(String),
    /// A number with its unit, and its interval where that says more.
    Number {
        centre: String,
        range: Option<String>,
    },
}

impl FindingView {
    pub(super) fn new(finding: &Finding) -> Self {
        let class = match finding.grade {
            Grade::Certain => "certain",
            Grade::Likely => "likely",
            Grade::CannotBeTold => "open",
        };
        Self {
            class,
            grade: show::grade(finding.grade),
            pieces: pieces(finding),
            from: None,
        }
    }
}

/// The sentence of `finding`, cut where its numbers stand; a name without a number stays as it is.
fn pieces(finding: &Finding) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = finding.template.as_str();
    while let Some((before, number, after)) = next_number(rest, &finding.numbers) {
        text.push_str(before);
        if let Some(number) = number {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(piece(number));
        } else {
            text.push('{');
        }
        rest = after;
    }
    text.push_str(rest);
    pieces.push(Piece::Text(text));
    pieces.retain(|piece| *piece != Piece::Text(String::new()));
    pieces
}

/// What stands before the next brace, the number that it names, and what follows.
fn next_number<'t, 'n>(
    text: &'t str,
    numbers: &'n [Number],
) -> Option<(&'t str, Option<&'n Number>, &'t str)> {
    let (before, from_name) = text.split_once('{')?;
    let named = from_name.split_once('}').and_then(|(name, after)| {
        Some((numbers.iter().find(|number| number.name == name)?, after))
    });
    Some(match named {
        Some((number, after)) => (before, Some(number), after),
        None => (before, None, from_name),
    })
}

fn piece(number: &Number) -> Piece {
    let Number { value, unit, .. } = *number;
    let Some(interval) = number.interval else {
        return Piece::Number {
            centre: show::round(unit, value),
            range: None,
        };
    };
    let range = show::range(unit, interval, value);
    Piece::Number {
        centre: show::value(unit, value, number.interval),
        range: range.contains(" to ").then_some(range),
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};
    use instrument::finding::Finding;
    use instrument::quantity::Unit;
    use instrument::statistics::Interval;

    #[test]
    fn a_sentence_is_cut_at_its_numbers() {
        let finding = Finding::new("k", "From {a} on, {b} and {a} {stay.").estimated(
            "a",
            512.0,
            Interval::new(256.0, 1024.0),
            Unit::Bytes,
        );
        let text = |text: &str| Piece::Text(text.into());
        let a = || Piece::Number {
            centre: "512 B".into(),
            range: Some("256 to 1024 B".into()),
        };
        assert_eq!(
            pieces(&finding),
            [
                text("From "),
                a(),
                text(" on, {b} and "),
                a(),
                text(" {stay.")
            ]
        );
    }
}
