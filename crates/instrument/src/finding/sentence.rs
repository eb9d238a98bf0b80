//! Sentences in pieces: text, and numbers that each reader formats in its own way. Also the values that can be part
//! of a sentence, and the names that are part of the code.

use crate::estimate::Estimate;
use crate::quantity::{Bytes, Count, Quantity};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A sentence, made by [`sentence!`](super::sentence).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sentence(Vec<Piece>);

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A number.
    Number(Number),
}

/// A number and the name that identifies it to programs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// Its name in the sentence, the same in every run.
    #[serde(deserialize_with = "deserialize_name")]
    pub name: Name,
    /// Its value, unit and interval.
    pub quantity: Quantity,
}

impl Sentence {
    /// The pieces in order; two text pieces are never adjacent.
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The pieces for readers: a range whose ends look alike is one number.
    pub fn shown(&self) -> Vec<Piece> {
        let mut shown = Self::default();
        for piece in &self.0 {
            match piece {
                Piece::Number(number) if shown.ends_in_range_from(number) => {
                    shown.0.pop();
                }
                Piece::Number(number) => shown.0.push(Piece::Number(*number)),
                Piece::Text(text) => shown.push_text(text),
            }
        }
        shown.0
    }

    /// True if this ends in a number that looks like `last`, and in the word between the ends of a range.
    fn ends_in_range_from(&self, last: &Number) -> bool {
        let [rest @ .., Piece::Number(first), Piece::Text(word)] = &self.0[..] else {
            return false;
        };
        let is_journey = matches!(rest.last(), Some(Piece::Text(text)) if text.ends_with("from "));
        word == " to " && !is_journey && looks(&first.quantity) == looks(&last.quantity)
    }

    /// The numbers in order; a repeated number appears repeatedly.
    pub fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Number(number) => Some(number),
        })
    }

    /// Appends text.
    pub fn push_text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Piece::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.0.push(Piece::Text(text.to_owned())),
        }
    }

    /// Appends a number.
    pub fn push_number(&mut self, name: &'static str, quantity: Quantity) {
        self.0.push(Piece::Number(Number { name, quantity }));
    }

    /// Appends all pieces of another sentence.
    pub fn push_sentence(&mut self, other: &Self) {
        for piece in &other.0 {
            match piece {
                Piece::Text(text) => self.push_text(text),
                Piece::Number(number) => self.0.push(Piece::Number(*number)),
            }
        }
    }

    /// The sentence with `words` in front; its own first letter becomes lower case.
    #[must_use]
    pub fn after(&self, words: &str) -> Self {
        let mut whole = Self::default();
        whole.push_text(words);
        let mut rest = self.clone();
        if let Some(Piece::Text(text)) = rest.0.first_mut() {
            let mut letters = text.chars();
            if let Some(first) = letters.next() {
                *text = format!("{}{}", first.to_lowercase(), letters.as_str());
            }
        }
        whole.push_sentence(&rest);
        whole
    }

    /// The sentence as a line of text, with each number formatted by `show`.
    pub fn text(&self, show: impl Fn(&Quantity) -> String) -> String {
        let pieces = self.shown().into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Number(number) => show(&number.quantity),
        });
        pieces.collect()
    }
}

/// The value and the ends of its interval as they are printed.
fn looks(quantity: &Quantity) -> [Option<String>; 3] {
    let ends = quantity
        .interval
        .map(|interval| [interval.low, interval.high]);
    let [low, high] = [0, 1].map(|index| ends.map(|ends| ends[index]));
    [Some(quantity.value), low, high].map(|value| Some(quantity.unit.show(value?, 3)))
}

/// Numbers have three significant digits and no intervals, for logs and tests.
impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(|quantity| quantity.unit.show(quantity.value, 3)))
    }
}

/// A name that is part of the code. The alias keeps Serde from borrowing it from the input.
pub type Name = &'static str;

/// Names read so far. Each stays in memory once, as those in the code do.
static READ: Mutex<BTreeSet<Name>> = Mutex::new(BTreeSet::new());

/// Reads a name.
pub(super) fn deserialize_name<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Name, D::Error> {
    let name = Cow::<str>::deserialize(deserializer)?;
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read.get(name.as_ref()) {
        return Ok(known);
    }
    let name: Name = Box::leak(name.into_owned().into_boxed_str());
    read.insert(name);
    Ok(name)
}

/// A value that a sentence can contain. Bare numbers do not implement it because they have no unit.
/// A choice appears by its name.
pub trait Say {
    /// Appends the value to `sentence`; `name` identifies a number to programs.
    fn say(&self, name: &'static str, sentence: &mut Sentence);
}

impl Say for Quantity {
    fn say(&self, name: &'static str, sentence: &mut Sentence) {
        sentence.push_number(name, *self);
    }
}

impl Say for Estimate {
    fn say(&self, name: &'static str, sentence: &mut Sentence) {
        sentence.push_number(name, self.quantity());
    }
}

impl Say for Bytes {
    fn say(&self, name: &'static str, sentence: &mut Sentence) {
        sentence.push_number(name, Quantity::from(*self));
    }
}

impl Say for Count {
    fn say(&self, name: &'static str, sentence: &mut Sentence) {
        sentence.push_number(name, Quantity::from(*self));
    }
}

impl Say for Sentence {
    fn say(&self, _name: &'static str, sentence: &mut Sentence) {
        sentence.push_sentence(self);
    }
}

impl Say for str {
    fn say(&self, _name: &'static str, sentence: &mut Sentence) {
        sentence.push_text(self);
    }
}

impl Say for String {
    fn say(&self, _name: &'static str, sentence: &mut Sentence) {
        sentence.push_text(self);
    }
}

impl<T: Say + ?Sized> Say for &T {
    fn say(&self, name: &'static str, sentence: &mut Sentence) {
        (**self).say(name, sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::Piece;
    use crate::finding::sentence;
    use crate::quantity::{Bytes, Quantity, Unit};

    #[test]
    fn a_range_whose_ends_look_alike_is_one_number() {
        let range = |high: f64| {
            let [low, high] = [1.0, high].map(|times| Quantity::exact(times, Unit::Ratio));
            let sentence = sentence!("It takes {low} to {high} as long.");
            assert_eq!(sentence.numbers().count(), 2);
            sentence.to_string()
        };
        assert_eq!(range(1.001), "It takes 1.00 × as long.");
        assert_eq!(range(1.01), "It takes 1.00 × to 1.01 × as long.");
        let same = Quantity::exact(1.0, Unit::Ratio);
        let sentence = sentence!("It falls from {same} to {same}.");
        assert_eq!(sentence.to_string(), "It falls from 1.00 × to 1.00 ×.");
    }

    #[test]
    fn numbers_stay_numbers_and_words_become_one_text() {
        let (name, gain) = ("read", Quantity::exact(0.25, Unit::Share));
        let sentence = sentence!("{name} of {size} gains {gain}.", size = Bytes(65_536));
        assert_eq!(sentence.to_string(), "read of 64 KiB gains 25.0 %.");
        assert_eq!(sentence.pieces().len(), 5);
        assert_eq!(sentence.pieces()[0], Piece::Text("read of ".into()));
        let names: Vec<_> = sentence.numbers().map(|number| number.name).collect();
        assert_eq!(names, ["size", "gain"]);
    }

    #[test]
    fn a_sentence_goes_on_after_other_words() {
        let sentence = sentence!("Blocks of {size} do.", size = Bytes(4096));
        let whole = sentence.after("To there, ");
        assert_eq!(whole.to_string(), "To there, blocks of 4 KiB do.");
    }

    #[test]
    fn a_sentence_says_another_with_its_numbers() {
        let size = Bytes(4096);
        let rest = sentence!(", from {size} on");
        let sentence = sentence!("It holds{rest}.");
        assert_eq!(sentence.to_string(), "It holds, from 4 KiB on.");
        assert_eq!(sentence.numbers().count(), 1);
    }
}
