//! The catalogue: the list of experiments, and the description of each.

use super::style::{Role, Style};
use super::text::{labelled, paragraph, title};
use crate::show;
use experiments::programs::{Program, programs};
use instrument::experiment::{Definition, Isolation, Metric};
use instrument::point::{Axis, AxisKind};

/// All experiments with their questions, grouped, in the given order.
pub fn list<'a>(definitions: impl IntoIterator<Item = &'a Definition>, style: &Style) -> String {
    let definitions: Vec<&Definition> = definitions.into_iter().collect();
    let width = definitions
        .iter()
        .map(|definition| definition.id.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    let mut group = "";
    for definition in definitions {
        if definition.group() != group {
            if !text.is_empty() {
                text.push('\n');
            }
            group = definition.group();
            text += &title(group, style);
        }
        let id = style.paint(Role::Accent, &format!("{:<width$}", definition.id));
        text += &paragraph(&format!("  {id}  "), &definition.question, style);
    }
    text
}

/// An experiment's question, axes, metrics, method and requirements. `levels` has the levels of each axis, and `needs`
/// is the text on the requirements that this machine does not meet.
pub fn explain(definition: &Definition, levels: &[String], needs: &str, style: &Style) -> String {
    let id = style.paint(Role::Accent, &definition.id);
    let mut text = format!("{}  {id}\n", title(&definition.title, style).trim_end());
    text += &paragraph("", &definition.question, style);
    let section = |name: &str, body: String| format!("\n{}{body}", title(name, style));
    text += &section("How", paragraph("  ", &definition.method, style));
    let isolation = match definition.isolation {
        Isolation::FreshProcess => "Each batch of samples is taken in a fresh process.",
        Isolation::OneProcess => "One process takes all samples of a point.",
    };
    text += &paragraph("  ", isolation, style);
    if !definition.axes.is_empty() {
        text += &section("What is varied", axes(definition, levels, style));
    }
    text += &section("What is measured", metrics(definition, style));
    text += &section("What it needs", paragraph("  ", needs, style));
    let programs: String = programs(&definition.id)
        .map(|it| program(it, style))
        .collect();
    if !programs.is_empty() {
        text += &section(
            "Programs of the reports, and the commands that do the same",
            programs,
        );
    }
    text + &section(
        "Where it comes from",
        paragraph("  ", &definition.source, style),
    )
}

/// A program as its author ran it, and the command, which stays on one line to be copied.
fn program(program: &Program, style: &Style) -> String {
    let place = format!("Report {}, {}: ", program.report, program.place);
    let first = style.paint(Role::Faint, &format!("  {place}"));
    paragraph(&first, program.program, style) + &format!("    oscope {}\n", program.command)
}

fn axes(definition: &Definition, levels: &[String], style: &Style) -> String {
    let kind = |kind| match kind {
        AxisKind::Bytes => "bytes",
        AxisKind::Count => "a number",
        AxisKind::Choice => "named choices",
    };
    let line = |(axis, levels): (&Axis, &String)| {
        let levels = match levels.as_str() {
            "" => String::new(),
            levels => format!(": {levels}"),
        };
        (
            format!("  {}", axis.name),
            format!("{}, {}{levels}", axis.title, kind(axis.kind)),
        )
    };
    lines(definition.axes.iter().zip(levels).map(line), style)
}

fn metrics(definition: &Definition, style: &Style) -> String {
    let line = |metric: &Metric| {
        let mut facts = vec![
            show::unit(metric.unit).to_owned(),
            show::better(metric.better).into(),
        ];
        if let Some(bound) = metric.bound {
            facts.push(format!("bound {}", show::round(metric.unit, bound)));
        }
        if metric.version > 1 {
            facts.push(format!("version {}", metric.version));
        }
        (
            format!("  {}", metric.name),
            format!("{}: {}", metric.title, facts.join(", ")),
        )
    };
    lines(definition.metrics.iter().map(line), style)
}

fn lines(lines: impl Iterator<Item = (String, String)>, style: &Style) -> String {
    let lines: Vec<_> = lines.collect();
    let lines: Vec<_> = lines
        .iter()
        .map(|(label, text)| (label.as_str(), text.clone()))
        .collect();
    labelled(&lines, style)
}
