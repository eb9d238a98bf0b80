//! The changes in all metrics over the stored runs.

use super::grid::{Cell, Column, Grid};
use super::style::{Role, Style};
use super::text::{paragraph, title};
use crate::changes::{Cause, Changes, Event, Kind, Moved};
use crate::comparison::{FALSE_DISCOVERY_RATE, show_ratio};
use crate::show;
use instrument::quantity::{Unit, counted};
use instrument::statistics::changes::LEAST;

/// The changes, the newest first, each with what else changed there.
pub fn changes(changes: &Changes, style: &Style) -> String {
    let runs = counted(changes.sessions.len(), "run");
    let mut text = title(
        &format!("Changes over {runs} of the machine {}", changes.machine),
        style,
    );
    text += &paragraph("", &searched(changes), style);
    for event in &changes.events {
        text += "\n";
        text += &title(&heading(event, changes), style);
        text += &paragraph("", &cause(event), style);
        text += &table(event, style);
    }
    text
}

/// The values that were searched, and the promise.
fn searched(changes: &Changes) -> String {
    let short = match changes.too_short {
        0 => String::new(),
        short => format!(
            " {} in fewer than {LEAST} runs, where a change cannot be told from noise.",
            counted(short, "value")
        ),
    };
    if changes.searched == 0 {
        return format!(
            "Changes are looked for in values of {LEAST} runs or more; here are {}.{short}",
            counted(changes.sessions.len(), "run")
        );
    }
    let searched = counted(changes.searched, "value");
    if changes.events.is_empty() {
        format!("None of {searched} changed.{short}")
    } else {
        format!(
            "{searched} were searched together: of the changes told, at most {} are expected to be \
             false alarms.{short}",
            Unit::Share.show(FALSE_DISCOVERY_RATE, 1)
        )
    }
}

fn heading(event: &Event, changes: &Changes) -> String {
    let number = |session: usize| changes.sessions[session].number;
    let (earliest, latest) = event.between;
    let moved: usize = event.moved.iter().map(|moved| moved.values.len()).sum();
    let values = counted(moved, "value");
    match event.kind {
        Kind::Drift => format!(
            "Runs {} to {}: {values} drifted",
            number(earliest),
            number(latest)
        ),
        Kind::Step => {
            let since = show::moment(changes.sessions[latest].run.header.started);
            let range = if earliest == latest {
                String::new()
            } else {
                format!(" (from {})", number(earliest))
            };
            let cause = match event.cause {
                Cause::System => "together",
                Cause::Clock => "with the clock",
                Cause::Conditions => "with the conditions of the runs",
            };
            format!(
                "Run {}{range}, {since}: {values} changed {cause}",
                number(latest)
            )
        }
    }
}

/// The cause of the change, and the facts that changed with the values.
fn cause(event: &Event) -> String {
    if event.kind == Kind::Drift {
        return "They changed steadily, at no run in particular.".into();
    }
    let circumstances = circumstances(event);
    match event.cause {
        Cause::Conditions => format!(
            "The runs had different conditions: {}. That may explain all of it, so no change of the \
             system can be seen. {circumstances}",
            event.conditions.join("; ")
        ),
        Cause::Clock => format!(
            "The clock of the processor explains all of it: no change of the system can be seen. \
             {circumstances}"
        ),
        Cause::System => circumstances,
    }
}

fn circumstances(event: &Event) -> String {
    if event.circumstances.is_empty() {
        return "Nothing else that the runs record changed there.".into();
    }
    let facts = event.circumstances.iter();
    let facts: Vec<String> = facts
        .map(|fact| format!("{}: {}, before {}", fact.name, fact.b, fact.a))
        .collect();
    format!("Changed there too: {}.", facts.join("; "))
}

fn table(event: &Event, style: &Style) -> String {
    let column =
        |cell: &dyn Fn(&Moved) -> Cell| -> Vec<Cell> { event.moved.iter().map(cell).collect() };
    let values = |moved: &Moved| format!("{} of {}", moved.values.len(), moved.searched);
    let ratio = |moved: &Moved| Cell {
        text: show_ratio(moved.ratio),
        role: match (event.cause, moved.is_worse()) {
            (Cause::Clock | Cause::Conditions, _) => Role::Faint,
            (Cause::System, true) => Role::Broken,
            (Cause::System, false) => Role::Accent,
        },
    };
    let place = |moved: &Moved| match &moved.values[..] {
        [only] => show::point(&moved.definition, &only.point),
        _ => String::new(),
    };
    let direction = |moved: &Moved| match (event.cause, moved.is_worse()) {
        (Cause::Clock | Cause::Conditions, _) => "not comparable",
        (Cause::System, true) => "worse",
        (Cause::System, false) => "better",
    };
    Grid {
        lead: vec![
            Column::left(
                "experiment",
                column(&|moved| Cell::plain(moved.definition.id.as_str())),
            ),
            Column::left(
                "metric",
                column(&|moved| Cell::plain(moved.metric.as_str())),
            ),
        ],
        groups: vec![
            vec![
                Column::right("values", column(&|moved| Cell::plain(values(moved)))),
                Column::right("new over old", column(&ratio)),
                Column::left("", column(&|moved| Cell::plain(direction(moved)))),
            ],
            vec![Column::left(
                "point",
                column(&|moved| Cell::plain(place(moved))),
            )],
        ],
    }
    .render(style)
}
