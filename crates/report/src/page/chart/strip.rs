//! The small chart in a table row: the interval as a bar and each process as a dot, as deviations
//! from the centre. It makes the noise of rows of any magnitude comparable.

use super::svg::{Dots, Svg, px};
use instrument::results::Estimate;

/// Width and height in pixels.
const WIDTH: f64 = 132.0;
const HEIGHT: f64 = 16.0;
/// Largest deviation that a strip shows, to either side, divided by the centre.
const WIDEST: f64 = 0.5;

/// The common scale of all strips of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strip {
    /// Deviation at either edge, divided by the centre.
    pub(crate) reach: f64,
}

impl Strip {
    /// A scale that fits 75 % of `estimates`; larger deviations are clipped to its ends.
    pub(crate) fn for_all<'e>(estimates: impl Iterator<Item = &'e Estimate>) -> Self {
        let mut furthest: Vec<f64> = estimates.filter_map(furthest).collect();
        furthest.sort_by(f64::total_cmp);
        // A few noisy rows must not flatten all others.
        let most = furthest.get(furthest.len() * 3 / 4).copied().unwrap_or(0.0);
        let nice = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
        Self {
            reach: nice
                .into_iter()
                .find(|reach| most <= *reach)
                .unwrap_or(WIDEST),
        }
    }

    /// The strip of one estimate; `None` if it has no centre.
    pub(crate) fn draw(self, estimate: &Estimate) -> Option<String> {
        let x = |value: f64| {
            let deviation = deviation(estimate, value)?;
            let part = (deviation / self.reach).clamp(-1.0, 1.0);
            Some(WIDTH / 2.0 + part * (WIDTH / 2.0 - 3.0))
        };
        x(estimate.centre)?;
        let mut svg = Svg::new(WIDTH);
        svg.open(
            "svg",
            &[
                ("class", &"strip"),
                ("viewBox", &format!("0 0 {} {}", px(WIDTH), px(HEIGHT))),
                ("aria-hidden", &"true"),
            ],
        );
        let ends = estimate
            .interval
            .and_then(|interval| Some((x(interval.low)?, x(interval.high)?)));
        if let Some((from, to)) = ends {
            let bar = format!(
                "M{} 3H{}V13H{}z",
                px(from),
                px(to.max(from + 1.0)),
                px(from)
            );
            svg.path("iv", &bar);
        }
        let mut dots = Dots::default();
        for at in estimate.by_process.iter().filter_map(|value| x(*value)) {
            dots.add(at, HEIGHT / 2.0);
        }
        svg.path("dots", &dots);
        svg.close("svg");
        Some(svg.finish())
    }
}

fn deviation(estimate: &Estimate, value: f64) -> Option<f64> {
    let deviation = (value - estimate.centre) / estimate.centre.abs();
    deviation.is_finite().then_some(deviation)
}

fn furthest(estimate: &Estimate) -> Option<f64> {
    let ends = estimate
        .interval
        .into_iter()
        .flat_map(|interval| [interval.low, interval.high]);
    let values = ends.chain(estimate.by_process.iter().copied());
    values
        .filter_map(|value| deviation(estimate, value))
        .map(f64::abs)
        .reduce(f64::max)
}
