//! The list of labs.

use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::lab::labs as all;

/// All labs, with their experiments and the time that they take.
pub fn labs(style: &Style) -> String {
    let lab = |lab: &crate::lab::Lab| {
        let what = format!(
            "{} questions, measures {} for {} s",
            lab.questions.len(),
            lab.experiments().join(" and "),
            lab.seconds()
        );
        title(&format!("{}: {}", lab.name, lab.title), style)
            + &paragraph("  ", &lab.about, style)
            + &paragraph("  ", &style.paint(Role::Faint, &what), style)
    };
    all().iter().map(lab).collect::<Vec<_>>().join("\n")
}
