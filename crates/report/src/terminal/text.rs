//! Text broken into lines for the terminal.

use super::style::Style;
use crate::show::Tone;
use std::borrow::Cow;
use textwrap::{Options, WordSeparator, WordSplitter};

const NO_BREAK: char = '\u{a0}';

/// `text` broken into lines that fit, with `first` before the first line and equal indentation for
/// the others. A number stays on the same line as its unit.
pub(super) fn paragraph(first: &str, text: &str, style: &Style) -> String {
    let indent = " ".repeat(textwrap::core::display_width(first));
    let options = Options::new(style.width.max(indent.len() + 20))
        .initial_indent(first)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(&glued(&style.text(text)), options).replace(NO_BREAK, " ") + "\n"
}

/// The lines of `text`, each of at most `width`.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(Cow::into_owned).collect()
}

/// Lines of label and text, with the texts aligned.
pub(super) fn labelled(lines: &[(&str, String)], style: &Style) -> String {
    let width = lines
        .iter()
        .map(|(label, _)| label.chars().count())
        .max()
        .unwrap_or(0);
    let line = |(label, text): &(&str, String)| {
        let label = style.paint(Tone::Faint, &format!("{label:<width$}"));
        paragraph(&format!("{label}  "), text, style)
    };
    lines.iter().map(line).collect()
}

pub(super) fn title(text: &str, style: &Style) -> String {
    style.paint(Tone::Strong, &style.text(text)) + "\n"
}

/// `text` with all spaces non-breaking.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(' ', &NO_BREAK.to_string())
}

/// `text` with a no-break space after each number.
fn glued(text: &str) -> String {
    let mut previous = ' ';
    let tie = |next: char| {
        let tied = next == ' ' && (previous.is_ascii_digit() || "±-+<>".contains(previous));
        previous = next;
        if tied { NO_BREAK } else { next }
    };
    text.chars().map(tie).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_unit() {
        let text = paragraph(
            "- ",
            "Blocks of at least 512 KiB gain ± 1.2 % or so",
            &crate::made_up::terminal(24),
        );
        assert_eq!(
            text,
            "- Blocks of at least\n  512 KiB gain ± 1.2 %\n  or so\n"
        );
    }
}
