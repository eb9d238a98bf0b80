//! The doctor's checks.

use super::style::{Role, Style};
use super::text::paragraph;
use instrument::fitness::{Check, Effect};

/// The verdict, then one paragraph for each check, in the given order.
pub fn checks(checks: &[Check], style: &Style) -> String {
    let disturbing = checks
        .iter()
        .filter(|check| check.effect == Effect::Disturbs)
        .count();
    let verdict = match disturbing {
        0 => "This machine is fit to be measured.".to_owned(),
        1 => "One thing disturbs measurements here.".to_owned(),
        count => format!("{count} things disturb measurements here."),
    };
    let width = checks
        .iter()
        .map(|check| check.subject.len())
        .max()
        .unwrap_or(0);
    let is_harmful = checks.iter().any(|check| check.effect == Effect::Hurts);
    let verdict = if is_harmful {
        format!("{verdict} A run may hurt other work.")
    } else {
        verdict
    };
    let mut text = style.paint(Role::Strong, &verdict) + "\n\n";
    for check in checks {
        let (role, mark) = match check.effect {
            Effect::Hurts => (Role::Doubtful, "*"),
            Effect::Disturbs => (Role::Doubtful, "!"),
            Effect::Shapes => (Role::Accent, "~"),
            Effect::Limits => (Role::Accent, "-"),
            Effect::None => (Role::Faint, " "),
        };
        let lead = style.paint(role, &format!("{mark} {:<width$}  ", check.subject));
        let advice = check
            .advice
            .as_ref()
            .map_or_else(String::new, |advice| format!(": {advice}"));
        text += &paragraph(&lead, &format!("{}{advice}", check.found), style);
    }
    text += "\n! disturbs   ~ shapes the numbers   - limits what can be measured";
    if is_harmful {
        text += "   * would suffer from a run";
    }
    text + "\n"
}
