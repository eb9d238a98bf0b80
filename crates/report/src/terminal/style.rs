//! The terminal's capabilities, as determined by the caller; this module never queries the
//! terminal.

/// The terminal's capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Width in columns.
    pub width: usize,
    /// True if the terminal supports colours and the user wants them.
    pub colour: bool,
    /// True if the terminal shows Unicode.
    pub unicode: bool,
}

/// The reason why a text is highlighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// Titles.
    Strong,
    /// Text for reference.
    Faint,
    /// Text to notice first.
    Accent,
    /// A number with a warning.
    Doubtful,
    /// A number that must not be used, or a failure.
    Broken,
    /// One of several series of a chart.
    Series(usize),
}

impl Style {
    /// `text` in the colour of its role.
    pub(super) fn paint(&self, role: Role, text: &str) -> String {
        // Yellow and red are reserved for doubt and failure.
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

    /// `text` reduced to the characters that the terminal supports.
    pub(super) fn text(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        text.replace('±', "+-")
            .replace('µ', "u")
            .replace('×', "x")
            .replace('–', "-")
    }

    /// The text that the terminal supports.
    pub(super) fn choose<'t>(&self, unicode: &'t str, ascii: &'t str) -> &'t str {
        if self.unicode { unicode } else { ascii }
    }
}
