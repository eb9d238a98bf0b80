//! The doctor's checks of a machine, and the proofs of stored runs.

use crate::document::{Blocks, Document, Item, Table};
use crate::show::Word;
use crate::show::words::{
    DAMAGED, DISTURBS, FINE, LIMITS, PROVEN, SHAPES, UNPROVEN, UNREADABLE, WOULD_SUFFER,
};
use instrument::fitness::{Check, Effect};
use instrument::quantity::counted;
use record::Proof;
use record::store::{Verification, VerifiedRun};

const OLDER: &str = "it comes from a file without checksums.";

/// The verdict on the machine, then each check, in the given order.
pub fn checks(checks: &[Check]) -> Document<'static> {
    let disturbing = checks.iter().filter(|it| it.effect == Effect::Disturbs);
    let mut verdict = match disturbing.count() {
        0 => "This machine is fit to be measured.".to_owned(),
        1 => "One thing disturbs measurements here.".to_owned(),
        count => format!("{count} things disturb measurements here."),
    };
    if checks.iter().any(|check| check.effect == Effect::Hurts) {
        verdict += " A run may hurt other work.";
    }
    let items = checks.iter().map(|check| {
        let advice = check.advice.as_ref();
        let advice = advice.map_or_else(String::new, |advice| format!(": {advice}"));
        let line = format!("{}: {}{advice}", check.subject, check.found);
        Item::new(effect(check.effect), [line.into()])
    });
    Blocks::default().items(items).document(verdict)
}

fn effect(effect: Effect) -> Word {
    match effect {
        Effect::Hurts => WOULD_SUFFER,
        Effect::Disturbs => DISTURBS,
        Effect::Shapes => SHAPES,
        Effect::Limits => LIMITS,
        Effect::None => FINE,
    }
}

/// The runs of a store, the damage in detail, and a sentence on the store's structure.
pub fn verification(found: &Verification) -> Document<'static> {
    let runs = &found.runs;
    let table = Table::of("stored runs", runs)
        .count("run", |run| run.number.to_string())
        .name("name", |run| run.name.as_deref().unwrap_or(""))
        .words("", |run| word(&run.proof));
    let damage = |run: &VerifiedRun| damage(&format!("run {}", run.number), &run.proof);
    let unproven = runs
        .iter()
        .filter(|run| run.proof == Proof::Unproven)
        .count();
    let unproven =
        (unproven > 0).then(|| format!("{} unproven: {OLDER}", counted(unproven, "run")));
    let structure = match found.structure.as_slice() {
        [] => "The structure of the store is sound.",
        _ => "The structure of the store is damaged:",
    };
    Blocks::default()
        .table(table)
        .with(runs.iter().flat_map(damage))
        .say(unproven)
        .say([structure])
        .list(&found.structure)
        .document("")
}

/// The proof of the exported file called `name`.
pub fn proof(name: &str, proof: &Proof) -> Document<'static> {
    let reason = (*proof == Proof::Unproven).then(|| format!("The reason: {OLDER}"));
    Blocks::default()
        .say([format!("{name} is {}.", word(proof).text)])
        .with(damage(name, proof))
        .say(reason)
        .document("")
}

fn word(proof: &Proof) -> Word {
    match proof {
        Proof::Proven => PROVEN,
        Proof::Unproven => UNPROVEN,
        Proof::Damaged { .. } => DAMAGED,
        Proof::Unreadable { .. } => UNREADABLE,
    }
}

/// One line for each damaged part.
fn damage(what: &str, proof: &Proof) -> Blocks<'static> {
    match proof {
        Proof::Proven | Proof::Unproven => Blocks::default(),
        Proof::Damaged { parts } => Blocks::default()
            .say([format!("Of {what}, this does not agree with its checksum:")])
            .list(parts.iter().map(ToString::to_string)),
        Proof::Unreadable { reason } => {
            Blocks::default().say([format!("{what} cannot be read: {reason}")])
        }
    }
}
