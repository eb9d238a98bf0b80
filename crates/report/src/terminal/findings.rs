//! Findings as sentences, each with its grade.

use super::style::{Role, Style};
use super::text::paragraph;
use crate::show;
use instrument::finding::Finding;

/// A finding as a paragraph: followed by its experiment if `source` is given, else by the evidence for
/// its grade.
pub(super) fn finding(finding: &Finding, source: Option<&str>, style: &Style) -> String {
    let sentence = show::sentence(finding);
    let trust = finding.trust.as_ref();
    let beside = match source {
        Some(source) => Some(source.to_owned()),
        None => trust.map(|trust| show::trust(finding, trust)),
    };
    let text = match beside {
        Some(beside) => {
            let beside = style.paint(Role::Faint, &format!("[{beside}]"));
            format!("{sentence} {beside}")
        }
        None => sentence,
    };
    paragraph(&style.judged(show::grade(finding.grade)), &text, style)
}
