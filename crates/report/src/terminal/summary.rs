//! A run on two screens.

use super::document::paint;
use super::style::Style;
use crate::Analysis;
use crate::ranking::MOST_FINDINGS;
use crate::view;

/// Lines of two screens of 45: what a reader looks at before asking for more.
const TWO_SCREENS: usize = 90;
/// A finding seldom takes more lines.
const LINES_OF_A_FINDING: usize = 3;
/// A brief summary has room for this many findings, however much else there is to say.
const FEWEST_FINDINGS: usize = 6;

/// A run on two screens. A short run is shown whole; of a longer one there is what matters most, and
/// the commands that print the rest.
pub fn brief(analysis: &Analysis<'_>, style: &Style) -> String {
    let whole = paint(&view::summary(analysis), style, false);
    if whole.lines().count() <= TWO_SCREENS {
        return whole;
    }
    let mut most = MOST_FINDINGS;
    loop {
        let brief = paint(&view::brief(analysis, most), style, false);
        let surplus = brief.lines().count().saturating_sub(TWO_SCREENS);
        if surplus == 0 || most == FEWEST_FINDINGS {
            return brief;
        }
        let fewer = most.saturating_sub(surplus.div_ceil(LINES_OF_A_FINDING));
        most = fewer.max(FEWEST_FINDINGS);
    }
}
