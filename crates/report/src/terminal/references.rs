//! The published reports: their machines and sources, and the experiments that a run can be
//! compared with.

use super::style::{Role, Style};
use super::text::{paragraph, title};
use record::Run;

/// All references with machine, source and experiments.
pub fn references(references: &[Run], style: &Style) -> String {
    let parts: Vec<String> = references.iter().map(|run| reference(run, style)).collect();
    let ask = "`oscope show reference:NAME` shows the numbers, `oscope compare reference:NAME latest` \
               sets a run beside them.";
    parts.join("\n") + "\n" + &paragraph("", ask, style)
}

fn reference(run: &Run, style: &Style) -> String {
    let tag = |name: &str| run.header.tags.get(name).map_or("", String::as_str);
    let name = run.header.name.as_deref().unwrap_or("");
    let mut text = title(&format!("reference:{name}"), style);
    let machine = format!(
        "{}; {}, year {}",
        tag("reported"),
        tag("source"),
        tag("year")
    );
    text += &paragraph("  ", &machine, style);
    let known = |id: &str| experiments::find(id).is_some();
    let ids = |comparable: bool| -> String {
        let ids = run.experiments.iter().map(|record| &record.definition.id);
        let ids: Vec<&str> = ids
            .filter(|id| known(id) == comparable)
            .map(String::as_str)
            .collect();
        ids.join(", ")
    };
    for (label, ids) in [
        ("can be compared: ", ids(true)),
        ("as reported: ", ids(false)),
    ] {
        if !ids.is_empty() {
            let label = format!("  {}", style.paint(Role::Faint, label));
            text += &paragraph(&label, &ids, style);
        }
    }
    text
}
