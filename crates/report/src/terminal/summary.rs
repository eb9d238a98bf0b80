//! A run on two screens.

use super::document::paint;
use super::style::Style;
use crate::Analysis;
use crate::ranking::MOST_FINDINGS;
use crate::view;

/// Lines of two screens of 45: what a reader looks at before asking for more.
const TWO_SCREENS: usize = 90;
/// A brief summary has room for this many findings, however much else there is to say.
const FEWEST_FINDINGS: usize = 6;

/// A run on two screens. A short run is shown whole; of a longer one there is what matters most, and
/// the commands that print the rest.
pub fn brief(analysis: &Analysis<'_>, style: &Style) -> String {
    let whole = paint(&view::summary(analysis), style, false);
    if whole.lines().count() <= TWO_SCREENS {
        return whole;
    }
    let brief = |most| paint(&view::brief(analysis, most), style, false);
    let fits = |text: &String| text.lines().count() <= TWO_SCREENS;
    let mut more = (FEWEST_FINDINGS + 1..=MOST_FINDINGS).rev().map(brief);
    more.find(fits).unwrap_or_else(|| brief(FEWEST_FINDINGS))
}
