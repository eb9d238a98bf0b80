//! The terminal's capabilities, as determined by the caller; this module never queries the
//! terminal.

use crate::show::Tone;

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
    Toned(Tone),
    /// One of several series of a chart.
    Series(usize),
    /// The background of a value in a matrix, one of [`HEAT`] steps from low to high.
    Heat(usize),
}

/// Number of background colours of a matrix.
pub(super) const HEAT: usize = 7;

impl From<Tone> for Role {
    fn from(tone: Tone) -> Self {
        Self::Toned(tone)
    }
}

impl Style {
    /// `text` in the colour of its role.
    pub(super) fn paint(&self, role: impl Into<Role>, text: &str) -> String {
        // Yellow and red are reserved for doubt and failure.
        const SERIES: [&str; 5] = ["36", "35", "32", "34", "0"];
        // From light yellow over green to dark blue: the lightness falls at each step, so that the order
        // does not rest on hue. Letters are black on the light ones and white on the dark ones.
        const COLOURS: [&str; HEAT] = [
            "38;5;16;48;5;229",
            "38;5;16;48;5;150",
            "38;5;16;48;5;78",
            "38;5;16;48;5;37",
            "38;5;16;48;5;30",
            "38;5;231;48;5;24",
            "38;5;231;48;5;17",
        ];
        let code = match role.into() {
            _ if !self.colour || text.is_empty() => return text.to_owned(),
            Role::Toned(Tone::Plain) => return text.to_owned(),
            Role::Toned(Tone::Strong) => "1",
            Role::Toned(Tone::Faint) => "2",
            Role::Toned(Tone::Good) => "36",
            Role::Toned(Tone::Doubtful) => "33",
            Role::Toned(Tone::Bad) => "31",
            Role::Series(index) => SERIES[index % SERIES.len()],
            Role::Heat(step) => COLOURS[step.min(HEAT - 1)],
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// `text` reduced to the characters that the terminal supports.
    pub(super) fn text(&self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let ascii = |letter: char| match letter {
            '±' => "+-".to_owned(),
            'µ' => "u".to_owned(),
            '×' => "x".to_owned(),
            '–' => "-".to_owned(),
            // Bars by their height.
            '▁'..='█' => (u32::from(letter) - u32::from('▁') + 1).to_string(),
            other => other.to_string(),
        };
        text.chars().map(ascii).collect()
    }

    /// What the terminal supports.
    pub(super) fn choose<T>(&self, unicode: T, ascii: T) -> T {
        if self.unicode { unicode } else { ascii }
    }
}
