//! Words with typed pieces.

use crate::show::{self, Tone, Word};
use instrument::finding::{self, Sentence};
use instrument::statistics::Interval;

/// Words with typed pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(pub Vec<Piece>);

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words, with the reason for a colour.
    Words(Tone, String),
    /// A number with its unit, and its interval if that adds information.
    Number(String, Option<String>),
    /// A verdict.
    Verdict(Word),
    /// A command to type.
    Command(String),
    /// Words that lead to the section with that title.
    Link(String),
}

/// A text of these pieces.
macro_rules! text {
    ($($piece:expr),* $(,)?) => {
        $crate::document::Text(vec![$($crate::document::Piece::from($piece)),*])
    };
}
pub(crate) use text;

impl Piece {
    /// Words in a tone.
    pub fn toned(tone: Tone, words: impl Into<String>) -> Self {
        Self::Words(tone, words.into())
    }

    /// Words to notice.
    pub fn strong(words: impl Into<String>) -> Self {
        Self::toned(Tone::Strong, words)
    }

    /// Words for reference.
    pub fn faint(words: impl Into<String>) -> Self {
        Self::toned(Tone::Faint, words)
    }

    /// A command to type.
    pub fn command(words: impl Into<String>) -> Self {
        Self::Command(words.into())
    }

    /// A ratio with its interval: `1.052 × (1.031 to 1.074 ×)`.
    pub fn ratio(ratio: f64, interval: Option<Interval>) -> Self {
        let (ratio, range) = show::ratio_parts(ratio, interval);
        Self::Number(ratio, range)
    }

    /// The same, marked if a warning concerns it.
    pub(crate) fn doubtful_ratio(
        ratio: f64,
        interval: Option<Interval>,
        is_doubtful: bool,
    ) -> Self {
        if is_doubtful {
            Self::toned(Tone::Doubtful, show::ratio_with_range(ratio, interval))
        } else {
            Self::ratio(ratio, interval)
        }
    }

    /// The reason for its colour.
    pub(crate) fn tone(&self) -> Tone {
        match self {
            Self::Words(tone, _) => *tone,
            Self::Verdict(word) => word.tone,
            Self::Number(..) | Self::Command(_) | Self::Link(_) => Tone::Plain,
        }
    }

    /// The words alone, as a reader without colours reads them.
    pub fn plain(&self) -> String {
        match self {
            Self::Words(_, words) | Self::Link(words) => words.clone(),
            Self::Number(value, None) => value.clone(),
            Self::Number(value, Some(range)) => format!("{value} ({range})"),
            Self::Verdict(word) => word.text.to_owned(),
            Self::Command(command) => format!("`{command}`"),
        }
    }
}

impl Text {
    /// The words alone.
    pub fn plain(&self) -> String {
        self.pieces().map(|(_, words)| words).collect()
    }

    /// Each piece with its tone.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Tone, String)> {
        let last = self.0.len().saturating_sub(1);
        self.0
            .iter()
            .enumerate()
            .map(move |(index, piece)| match piece {
                // At the end it needs no marks, and is copied with less trouble.
                Piece::Command(command) if index == last => (Tone::Plain, command.clone()),
                _ => (piece.tone(), piece.plain()),
            })
    }

    /// The same with `more` after it.
    #[must_use]
    pub fn then(mut self, more: impl Into<Self>) -> Self {
        self.0.extend(more.into().0);
        self
    }

    /// True without any words.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| piece.plain().is_empty())
    }

    /// The tone of its first piece that has one.
    pub fn tone(&self) -> Tone {
        let mut tones = self.0.iter().map(Piece::tone);
        tones.find(|tone| *tone != Tone::Plain).unwrap_or_default()
    }
}

impl<W: Into<String>> From<W> for Piece {
    fn from(words: W) -> Self {
        Self::toned(Tone::Plain, words)
    }
}

impl From<Word> for Piece {
    fn from(word: Word) -> Self {
        Self::Verdict(word)
    }
}

/// Commands are in backquotes. One backquote without another is a letter.
impl From<&str> for Text {
    fn from(words: &str) -> Self {
        if words.matches('`').count() % 2 == 1 {
            return text![words];
        }
        let parts = words.split('`').enumerate();
        let pieces = parts.map(|(index, part)| match index % 2 {
            0 => Piece::from(part),
            _ => Piece::command(part),
        });
        Self(pieces.filter(|it| !it.plain().is_empty()).collect())
    }
}

impl From<&String> for Text {
    fn from(words: &String) -> Self {
        words.as_str().into()
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        words.as_str().into()
    }
}

impl From<Word> for Text {
    fn from(word: Word) -> Self {
        text![word]
    }
}

impl From<Piece> for Text {
    fn from(piece: Piece) -> Self {
        Self(vec![piece])
    }
}

impl From<&Sentence> for Text {
    fn from(sentence: &Sentence) -> Self {
        let pieces = sentence.shown().into_iter().flat_map(|piece| match piece {
            finding::Piece::Text(words) => Self::from(&*words).0,
            finding::Piece::Number(number) => {
                let (centre, range) = show::parts(&number.quantity);
                vec![Piece::Number(centre, range)]
            }
        });
        Self(pieces.collect())
    }
}
