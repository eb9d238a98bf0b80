//! The pictures of a machine at a glance: memory, latencies, files, cores.

mod cores;
mod files;
mod ladder;
mod plot;
mod staircase;
mod whole;

pub(in crate::page) use whole::{Lines, whole};

use super::svg::{Px, Svg};
use crate::glance::{Curve, Glance};
use experiments::glance;

/// Size of a picture in its own pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::page) struct Size {
    width: f64,
    height: f64,
    font: f64,
    class: &'static str,
}

/// Half the width of a desktop page.
const WIDE: Size = Size {
    width: 440.0,
    height: 250.0,
    font: 12.0,
    class: "wide",
};
/// A third of the width of a desktop page.
const THIRD: Size = Size {
    width: 288.0,
    ..WIDE
};
/// A phone, or half the width of a small window.
const NARROW: Size = Size {
    width: 340.0,
    height: 250.0,
    font: 12.0,
    class: "narrow",
};

/// One of the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::page) enum Picture {
    Staircase,
    Ladder,
    Files,
    Cores,
}

impl Picture {
    pub(in crate::page) const ALL: [Self; 4] =
        [Self::Staircase, Self::Ladder, Self::Files, Self::Cores];

    pub(in crate::page) fn title(self) -> &'static str {
        match self {
            Self::Staircase => "Memory staircase",
            Self::Ladder => "Latency ladder",
            Self::Files => "Files by block size",
            Self::Cores => "Core to core",
        }
    }

    /// True if the run has nothing to draw in it.
    pub(in crate::page) fn is_empty(self, glance: &Glance) -> bool {
        match self {
            Self::Staircase => {
                glance.staircase.latency.is_none() && glance.staircase.bandwidth.is_none()
            }
            Self::Ladder => glance.ladder.is_empty(),
            Self::Files => glance.files.is_empty(),
            Self::Cores => glance.cores.is_none(),
        }
    }

    /// The experiment that gives most of its numbers.
    pub(in crate::page) fn experiment(self) -> &'static str {
        match self {
            Self::Staircase => glance::LATENCY.experiment,
            Self::Ladder => glance::MOST_RUNGS,
            Self::Files => glance::FILES.experiment,
            Self::Cores => glance::CORES,
        }
    }

    /// The picture as two `svg` elements, for a wide and for a narrow page.
    pub(in crate::page) fn charts(self, glance: &Glance) -> String {
        let chart = |size: Size| {
            let mut svg = Svg::default();
            svg.open(
                "svg",
                &[
                    ("class", &format!("chart glance {}", size.class)),
                    (
                        "viewBox",
                        &format!("0 0 {} {}", Px(size.width), Px(size.height)),
                    ),
                    ("role", &"img"),
                    ("aria-label", &self.title()),
                    ("font-size", &size.font),
                ],
            );
            svg.text("desc", &[], &self.words(glance));
            self.draw(&mut svg, glance, size);
            svg.close("svg");
            svg.finish()
        };
        [self.wide(glance), NARROW].map(chart).concat()
    }

    /// The size on a desktop page. Where all pictures are there, the second row has three columns: files,
    /// cores and settings.
    fn wide(self, glance: &Glance) -> Size {
        let is_in_thirds = matches!(self, Self::Files | Self::Cores) && Self::are_all_in(glance);
        if is_in_thirds { THIRD } else { WIDE }
    }

    /// True if `glance` has something to draw in each picture.
    pub(in crate::page) fn are_all_in(glance: &Glance) -> bool {
        Self::ALL.iter().all(|picture| !picture.is_empty(glance))
    }

    fn draw(self, svg: &mut Svg, glance: &Glance, size: Size) {
        match self {
            Self::Staircase => staircase::draw(svg, &glance.staircase, size),
            Self::Ladder => ladder::draw(svg, &glance.ladder, size),
            Self::Files => files::draw(svg, &glance.files, size),
            Self::Cores => {
                if let Some(figure) = &glance.cores {
                    cores::draw(svg, figure, size);
                }
            }
        }
    }

    /// The picture in words, for who does not see it.
    fn words(self, glance: &Glance) -> String {
        match self {
            Self::Staircase => staircase::words(&glance.staircase),
            Self::Ladder => ladder::words(&glance.ladder),
            Self::Files => files::words(&glance.files),
            Self::Cores => glance.cores.as_ref().map_or_else(String::new, cores::words),
        }
    }
}

/// The first and the last value of a curve that there are.
fn ends(curve: &Curve) -> Option<[(f64, f64); 2]> {
    let sound = || curve.points.iter().filter_map(|(x, y)| Some((*x, (*y)?)));
    Some([sound().next()?, sound().next_back()?])
}
