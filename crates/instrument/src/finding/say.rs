//! Values that can be part of a sentence.

use super::Sentence;
use crate::estimate::Estimate;
use crate::quantity::{Bytes, Count, Quantity};

/// A value that a sentence can contain. Bare numbers do not implement it because they lack a unit.
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
