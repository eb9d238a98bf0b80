//! SVG writer: elements, attributes and text, always escaped.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Write as _};

/// Font size of all charts. At this size in a chart of [`WIDTH`], letters are large enough on a phone.
pub(super) const FONT: f64 = 13.0;
/// Distance of the lines of a label.
pub(super) const LINE: f64 = FONT + 2.0;
/// Width of bold text over regular text.
pub(super) const BOLD: f64 = 1.1;
/// Width of a chart that has a column of the page or the screen of a phone.
pub(super) const WIDTH: f64 = 440.0;

/// SVG under construction. No two labels in it overlap.
pub(super) struct Svg {
    text: String,
    /// Its width in pixels, within which labels stay.
    width: f64,
    /// The boxes of its labels: left, top, right, bottom.
    taken: Vec<[f64; 4]>,
}

/// The attributes of an element, in order.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// The part of a label that is at its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A position for a label: x, the y of the middle of its letters, and what of it is at x.
pub(super) type LabelPosition = (f64, f64, Anchor);

impl Svg {
    /// Empty SVG for a chart of this width.
    pub(super) fn new(width: f64) -> Self {
        Self {
            text: String::new(),
            width,
            taken: Vec::new(),
        }
    }

    /// Opens an element that [`close`](Self::close) must close.
    pub(super) fn open(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.tag(tag, attributes);
        self.text.push('>');
    }

    /// Opens the group of a panel. Its attributes give the page's script the box of the plot (left,
    /// top, width, height) and the positions of the levels on its axis of names.
    pub(super) fn open_panel(
        &mut self,
        class: &str,
        place: [f64; 4],
        at: impl IntoIterator<Item = Option<f64>>,
        subject: Option<usize>,
    ) {
        let place = place.map(|length| px(length).to_string());
        let at = at.into_iter().map(|position| match position {
            Some(position) => px(position).to_string(),
            None => "-".to_owned(),
        });
        let at: Vec<String> = at.collect();
        let subject = subject.map_or_else(String::new, |index| index.to_string());
        self.open(
            "g",
            &[
                ("class", &class),
                ("data-box", &place.join(" ")),
                ("data-at", &at.join(" ")),
                ("data-subject", &subject),
            ],
        );
    }

    /// Closes the innermost element, which must be a `tag`.
    pub(super) fn close(&mut self, tag: &str) {
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push('>');
    }

    pub(super) fn element(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.tag(tag, attributes);
        self.text.push_str("/>");
    }

    /// A path, unless it is empty.
    pub(super) fn path(&mut self, class: &str, d: &impl Display) {
        let d = d.to_string();
        if !d.is_empty() {
            self.element("path", &[("class", &class), ("d", &d)]);
        }
    }

    /// A rectangle: left, top, width, height.
    pub(super) fn rectangle(&mut self, class: &str, [x, y, width, height]: [f64; 4]) {
        self.element(
            "rect",
            &[
                ("class", &class),
                ("x", &px(x)),
                ("y", &px(y)),
                ("width", &px(width.max(0.0))),
                ("height", &px(height.max(0.0))),
            ],
        );
    }

    /// An element that contains text.
    pub(super) fn text(&mut self, tag: &str, attributes: Attributes<'_>, content: &str) {
        self.open(tag, attributes);
        self.text.push_str(&escaped(content));
        self.close(tag);
    }

    /// Writes a label unless another one is in its place; true if it is written.
    pub(super) fn label(&mut self, class: &str, text: &str, place: LabelPosition) -> bool {
        let is_bold = ["title", "direct"].iter().any(|word| class.contains(word));
        let width = text_width(text) * if is_bold { BOLD } else { 1.0 };
        let (x, middle, anchor) = place;
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let left = (x - before).min(self.width - width).max(0.0);
        let half = FONT * 0.45;
        let area = [left, middle - half, left + width, middle + half];
        if text.is_empty() || self.taken.iter().any(|other| overlap(other, &area)) {
            return false;
        }
        self.taken.push(area);
        let x = left + before;
        let (x, y) = (px(x), px(middle + FONT * 0.35));
        let end = match anchor {
            Anchor::Start => None,
            Anchor::Middle => Some("middle"),
            Anchor::End => Some("end"),
        };
        let mut attributes: Vec<(&str, &dyn Display)> =
            vec![("class", &class), ("x", &x), ("y", &y)];
        attributes.extend(end.iter().map(|end| ("text-anchor", end as &dyn Display)));
        self.text("text", &attributes, text);
        true
    }

    /// Writes a label of several lines around the middle of them.
    pub(super) fn lines(
        &mut self,
        class: &str,
        lines: &[String],
        (x, middle, anchor): LabelPosition,
    ) {
        let first = middle - LINE * lines.len().saturating_sub(1) as f64 / 2.0;
        for (index, line) in lines.iter().enumerate() {
            self.label(class, line, (x, first + LINE * index as f64, anchor));
        }
    }

    /// Inserts SVG that was drawn elsewhere.
    pub(super) fn insert(&mut self, drawn: &str) {
        self.text.push_str(drawn);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn tag(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes {
            let value = escaped(&value.to_string());
            // Writing to a String cannot fail.
            let _ = write!(self.text, " {name}=\"{value}\"");
        }
    }
}

fn overlap(one: &[f64; 4], other: &[f64; 4]) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

/// `text` without anything that is markup in SVG or HTML.
pub(in crate::page) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(' '),
            // XML 1.0 forbids all other control characters and these two noncharacters.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// A length in whole tenths of a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tenths(i64);

/// A length in the chart's own pixels, to be printed to a tenth.
pub(super) fn px(pixels: f64) -> Tenths {
    Tenths((pixels * 10.0).round() as i64)
}

impl Tenths {
    fn from(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, tenth) = (self.0.unsigned_abs() / 10, self.0.unsigned_abs() % 10);
        match (whole, tenth) {
            (whole, 0) => write!(f, "{sign}{whole}"),
            (0, tenth) => write!(f, "{sign}.{tenth}"),
            (whole, tenth) => write!(f, "{sign}{whole}.{tenth}"),
        }
    }
}

/// The `d` attribute of a path. Each position is written relative to the previous one, in whole
/// tenths of a pixel, so that rounding errors do not accumulate.
#[derive(Default)]
pub(super) struct Path {
    text: String,
}

impl Path {
    /// A polyline through `places`.
    pub(super) fn line(&mut self, places: impl IntoIterator<Item = (f64, f64)>) {
        let tenths = |(x, y): (f64, f64)| (px(x), px(y));
        let mut last = None;
        for (x, y) in places.into_iter().map(tenths) {
            // Writing to a String cannot fail.
            let _ = match last.replace((x, y)) {
                None => write!(self.text, "M{x} {y}"),
                Some((last_x, last_y)) => match (x.from(last_x), y.from(last_y)) {
                    (across, Tenths(0)) => write!(self.text, "h{across}"),
                    (Tenths(0), down) => write!(self.text, "v{down}"),
                    (across, down) => write!(self.text, "l{across} {down}"),
                },
            };
        }
    }

    /// A polygon with corners at `places`.
    pub(super) fn area(&mut self, places: impl IntoIterator<Item = (f64, f64)>) {
        self.line(places);
        self.text.push('z');
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The `d` attribute of a path of points, which a round line cap draws as dots. There are thousands
/// of them, many in the same place, so each is rounded to a whole pixel and written once.
#[derive(Default)]
pub(super) struct Dots {
    places: BTreeSet<(i64, i64)>,
}

impl Dots {
    pub(super) fn add(&mut self, x: f64, y: f64) {
        self.places.insert((x.round() as i64, y.round() as i64));
    }
}

impl Display for Dots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = (0, 0);
        for &(x, y) in &self.places {
            write!(f, "m{} {}h0", x - last.0, y - last.1)?;
            last = (x, y);
        }
        Ok(())
    }
}

/// The width of `text` in pixels at size [`FONT`], from the advance widths of Debian's default font,
/// which is among the widest fonts that a browser may use. Accurate to about a tenth, which is
/// enough to separate labels.
pub(super) fn text_width(text: &str) -> f64 {
    let ems = text.chars().map(|letter| match letter {
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | 'J' | ' ' | '.' | ',' | ':' | '/' | '(' | ')'
        | '-' => 0.38,
        'm' | 'w' | 'M' | 'W' | '%' | '…' | '×' | '+' | '±' | '–' => 0.95,
        'A'..='Z' => 0.72,
        _ => 0.62,
    });
    ems.sum::<f64>() * FONT
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Svg};

    #[test]
    fn labels_stay_in_the_chart_and_do_not_overlap() {
        let mut svg = Svg::new(100.0);
        assert!(svg.label("a", "one", (0.0, 10.0, Anchor::Middle)));
        assert!(!svg.label("b", "two", (0.0, 12.0, Anchor::Start)));
        assert!(svg.label("c", "three", (90.0, 30.0, Anchor::Start)));
        insta::assert_snapshot!(svg.finish().replace("><", ">\n<"), @r#"
        <text class="a" x="12.1" y="14.6" text-anchor="middle">one</text>
        <text class="c" x="65.9" y="34.6">three</text>
        "#);
    }
}
