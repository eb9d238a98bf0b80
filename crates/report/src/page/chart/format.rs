//! The two widths in which every chart is drawn, since text in a chart that is scaled down to a
//! phone could not be read.

/// For which width of the page a chart is drawn. The page shows the one that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A desk's screen, and paper.
    Wide,
    /// A phone.
    Narrow,
}

impl Format {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::Wide, Self::Narrow];

    /// As a class.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Wide => "wide",
            Self::Narrow => "narrow",
        }
    }

    /// Width of a chart, in its own pixels.
    pub(super) fn width(self) -> f64 {
        match self {
            Self::Wide => 860.0,
            Self::Narrow => 360.0,
        }
    }

    /// Size of the text.
    pub(super) fn font_size(self) -> f64 {
        match self {
            Self::Wide => 13.0,
            Self::Narrow => 12.0,
        }
    }

    /// Height of the plot of a figure that has one panel.
    pub(super) fn plot_height(self) -> f64 {
        match self {
            Self::Wide => 320.0,
            Self::Narrow => 240.0,
        }
    }

    /// Panels side by side, and the height of the plot in each.
    pub(super) fn panels(self) -> (usize, f64) {
        match self {
            Self::Wide => (3, 140.0),
            Self::Narrow => (2, 110.0),
        }
    }
}
