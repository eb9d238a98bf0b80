//! The two widths of every chart: text in a chart scaled down to a phone would be unreadable.

/// The page width that a chart is drawn for. The page shows the chart that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A desktop screen, or paper.
    Wide,
    /// A phone.
    Narrow,
}

/// The room of a chart, in its own pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) width: f64,
    /// Infinite if the chart may be as high as it needs.
    pub(super) height: f64,
    pub(super) font: f64,
}

impl Format {
    /// Both formats.
    pub(crate) const ALL: [Self; 2] = [Self::Wide, Self::Narrow];

    /// The CSS class.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }

    /// Width of a chart, in the chart's own pixels.
    pub(super) fn width(self) -> f64 {
        match self {
            Self::Wide => 860.0,
            Self::Narrow => 360.0,
        }
    }

    /// The room of a chart that may be as high as it needs.
    pub(super) fn room(self) -> Room {
        Room {
            width: self.width(),
            height: f64::INFINITY,
            font: self.font_size(),
        }
    }

    /// Font size of the text.
    pub(super) fn font_size(self) -> f64 {
        match self {
            Self::Wide => 13.0,
            Self::Narrow => 12.0,
        }
    }

    /// Plot height of a figure with one panel.
    pub(super) fn plot_height(self) -> f64 {
        match self {
            Self::Wide => 320.0,
            Self::Narrow => 240.0,
        }
    }

    /// Number of panels side by side, and the plot height of each.
    pub(super) fn panels(self) -> (usize, f64) {
        match self {
            Self::Wide => (3, 140.0),
            Self::Narrow => (2, 110.0),
        }
    }
}
