//! What the terminal can show. The caller looks at the terminal; nothing here does.

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: usize,
    /// Whether it understands colours and they are wanted.
    pub colour: bool,
    /// Whether it shows more than ASCII.
    pub unicode: bool,
}

/// Why a text stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// Titles.
    Strong,
    /// What is only looked for.
    Faint,
    /// What the eye should find first.
    Accent,
    /// A number that a warning touches.
    Doubtful,
    /// A number that must not be used, and failures.
    Broken,
    /// One of several lines of a chart.
    Series(usize),
}

impl Style {
    /// `text` in the colour of its role.
    pub(super) fn paint(&self, role: Role, text: &str) -> String {
        // Yellow and red are for doubt and failure alone.
        const SERIES: [&str; 5] = ["36", "35", "32", "34", "0"];
        let code = match role {
            _ if !self.colour || text.is_empty() => return text.to_owned(),
            Role::Plain => return text.to_owned(),
            Role::Strong => "1",
            Role::Faint => "2",
            Role::Accent => "36",
            Role::Doubtful => "33",
            Role::Broken => "31",
            Role::Series(index) => SERIES[index % SERIES.len()],
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// `text` in the characters that the terminal has.
    pub(super) fn text(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        text.replace('±', "+-")
            .replace('µ', "u")
            .replace('×', "x")
            .replace('–', "-")
    }

    /// The one of two texts that the terminal can show.
    pub(super) fn choose<'t>(&self, unicode: &'t str, ascii: &'t str) -> &'t str {
        if self.unicode { unicode } else { ascii }
    }
}
