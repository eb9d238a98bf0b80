//! Writing SVG: elements, attributes and text, always escaped.

use std::fmt::{self, Display, Write as _};

/// SVG under construction.
#[derive(Default)]
pub(super) struct Svg {
    text: String,
}

/// The attributes of an element, in order.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

impl Svg {
    /// Opens an element that [`close`](Self::close) must close.
    pub(super) fn open(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.tag(tag, attributes);
        self.text.push('>');
    }

    /// Closes the innermost element, which is a `tag`.
    pub(super) fn close(&mut self, tag: &str) {
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push('>');
    }

    /// An element without content.
    pub(super) fn element(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.tag(tag, attributes);
        self.text.push_str("/>");
    }

    /// An element with text in it.
    pub(super) fn text(&mut self, tag: &str, attributes: Attributes<'_>, content: &str) {
        self.open(tag, attributes);
        escape_into(&mut self.text, content);
        self.close(tag);
    }

    /// The text of all that was written.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn tag(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            // Writing to a String cannot fail.
            let _ = write!(self.text, " {name}=\"");
            escape_into(&mut self.text, &value.to_string());
            self.text.push('"');
        }
    }
}

fn escape_into(target: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => target.push_str("&amp;"),
            '<' => target.push_str("&lt;"),
            '>' => target.push_str("&gt;"),
            '"' => target.push_str("&quot;"),
            '\t' | '\n' => target.push(' '),
            // XML 1.0 knows no other control characters, and these two are no characters at all.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                target.push(char::REPLACEMENT_CHARACTER);
            }
            c => target.push(c),
        }
    }
}

/// A length in the chart's own pixels, written to a tenth.
#[derive(Clone, Copy)]
pub(super) struct Px(pub(super) f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round();
        if tenths % 10.0 == 0.0 {
            // `+ 0.0` turns a negative zero into a plain one.
            write!(f, "{:.0}", tenths / 10.0 + 0.0)
        } else {
            write!(f, "{:.1}", tenths / 10.0)
        }
    }
}

/// The `d` of a path.
#[derive(Default)]
pub(super) struct Path {
    text: String,
    /// Where the last dot stands.
    last_dot: Option<(i64, i64)>,
}

impl Path {
    /// A polyline through `places`.
    pub(super) fn line(&mut self, places: impl IntoIterator<Item = (f64, f64)>) {
        for (index, (x, y)) in places.into_iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(self.text, "{command}{} {}", Px(x), Px(y));
        }
    }

    /// A polygon with corners at `places`.
    pub(super) fn area(&mut self, places: impl IntoIterator<Item = (f64, f64)>) {
        self.line(places);
        self.text.push('Z');
    }

    /// A point, which a round line cap turns into a dot. Dots come by the thousand, so each is put
    /// on a whole pixel and told by its distance from the last. A path of dots holds nothing else.
    pub(super) fn dot(&mut self, x: f64, y: f64) {
        let (x, y) = (x.round() as i64, y.round() as i64);
        let _ = match self.last_dot.replace((x, y)) {
            None => write!(self.text, "M{x} {y}h0"),
            Some((last_x, last_y)) => write!(self.text, "m{} {}h0", x - last_x, y - last_y),
        };
    }

    /// Whether nothing was drawn.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The width of `text` in pixels at `font_size`, from the average advance of a sans-serif face:
/// good to about a tenth, which is enough to keep labels apart.
pub(super) fn text_width(text: &str, font_size: f64) -> f64 {
    text.chars().count() as f64 * font_size * 0.55
}

#[cfg(test)]
mod tests {
    use super::{Path, Px, Svg};

    #[test]
    fn attributes_and_text_are_escaped() {
        let mut svg = Svg::default();
        svg.text("text", &[("aria-label", &"\"<&>\"")], "<script>\u{0}");
        assert_eq!(
            svg.finish(),
            "<text aria-label=\"&quot;&lt;&amp;&gt;&quot;\">&lt;script&gt;\u{fffd}</text>"
        );
    }

    #[test]
    fn lengths_are_short() {
        let shown = |length| Px(length).to_string();
        assert_eq!(shown(12.0), "12");
        assert_eq!(shown(12.34), "12.3");
        assert_eq!(shown(-0.04), "0");
    }

    #[test]
    fn a_path_begins_with_a_move() {
        let mut path = Path::default();
        path.line([(0.0, 1.0), (2.0, 3.0)]);
        assert_eq!(path.to_string(), "M0 1L2 3");
    }

    #[test]
    fn dots_are_told_by_their_distances_without_drifting() {
        let mut path = Path::default();
        for step in 0..3 {
            path.dot(4.04, 5.04 * f64::from(step));
        }
        assert_eq!(path.to_string(), "M4 0h0m0 5h0m0 5h0");
    }
}
