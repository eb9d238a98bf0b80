//! The catalogue: the experiments, each in full, the published reports, and the reference machines.

use crate::document::{Blocks, Document, Item, Piece, Text, text};
use crate::lists::{and, joined};
use crate::machines::Located;
use crate::show;
use experiments::programs::{Program, programs};
use instrument::experiment::{Definition, Metric};
use instrument::point::{Axis, AxisKind};
use record::Run;

/// All experiments with their questions, grouped, in the given order.
pub fn list<'d>(definitions: impl IntoIterator<Item = &'d Definition>) -> Document<'static> {
    let definitions: Vec<&Definition> = definitions.into_iter().collect();
    let lengths = definitions.iter().map(|it| it.id.len());
    let width = lengths.max().unwrap_or(0);
    let item = |it: &&Definition| {
        let lead = format!("  {:<width$}", it.id);
        Item::new(lead, [it.question.as_str().into()])
    };
    let groups = definitions.chunk_by(|one, next| one.group() == next.group());
    let groups = groups.fold(Blocks::default(), |blocks, group| {
        let items = Blocks::default().items(group.iter().map(item));
        blocks.section(group[0].group(), items)
    });
    groups.document("")
}

/// An experiment's question, axes, metrics, method and requirements. `levels` has the levels of each axis, and `needs`
/// is the text on the requirements that this machine does not meet.
pub fn explain(definition: &Definition, levels: &[String], needs: &str) -> Document<'static> {
    let blocks = Blocks::default;
    let isolation = show::isolation(definition.isolation);
    let programs = programs(&definition.id).map(program);
    blocks()
        .say([definition.question.as_str()])
        .section("How", blocks().say([definition.method.as_str(), isolation]))
        .section(
            "What is varied",
            blocks().facts(definition.axes.iter().zip(levels).map(axis)),
        )
        .section(
            "What is measured",
            blocks().facts(definition.metrics.iter().map(metric)),
        )
        .section("What it needs", blocks().say([needs]))
        .section(
            "Programs of the reports, and the commands that do the same",
            blocks().list(programs),
        )
        .section(
            "Where it comes from",
            blocks().say([definition.source.as_str()]),
        )
        .document(named(definition))
}

/// The title of an experiment with its name.
pub(crate) fn named(definition: &Definition) -> Text {
    text![
        definition.title.as_str(),
        "  ",
        Piece::faint(definition.id.as_str())
    ]
}

/// A program as its author ran it, and the command.
fn program(program: &Program) -> Text {
    let place = format!("Report {}, {}: ", program.report, program.place);
    let command = Piece::command(format!("oscope {}", program.command()));
    text![Piece::faint(place), program.run(), ": ", command]
}

fn axis((axis, levels): (&Axis, &String)) -> (String, Text) {
    let kind = match axis.kind {
        AxisKind::Bytes => "bytes",
        AxisKind::Count => "a number",
        AxisKind::Choice => "named choices",
    };
    let levels = match levels.as_str() {
        "" => String::new(),
        levels => format!(": {levels}"),
    };
    (
        axis.name.clone(),
        format!("{}, {kind}{levels}", axis.title).into(),
    )
}

fn metric(metric: &Metric) -> (String, Text) {
    let facts = [
        Some(show::unit(metric.unit).to_owned()),
        Some(show::better(metric.better).to_owned()),
        metric
            .bound
            .map(|bound| format!("bound {}", show::round(metric.unit, bound))),
        (metric.version > 1).then(|| format!("version {}", metric.version)),
    ];
    let facts = joined(", ", facts.into_iter().flatten());
    let facts = format!("{}: {facts}", metric.title);
    (metric.name.clone(), facts.into())
}

/// The published reports with machine, source and experiments.
pub fn references(references: &[Run]) -> Document<'static> {
    let more = "`oscope show reference:NAME` shows the numbers, `oscope compare reference:NAME latest` compares a \
                run with them.";
    let references = references.iter().fold(Blocks::default(), |blocks, run| {
        let name = run.header.name.as_deref().unwrap_or("");
        blocks.section(format!("reference:{name}"), reference(run))
    });
    let more = Blocks::default().say([more]);
    references.section("More", more).document("")
}

fn reference(run: &Run) -> Blocks<'static> {
    let tag = |name: &str| run.header.tags.get(name).map_or("", String::as_str);
    let machine = format!(
        "{}; {}, year {}",
        tag("reported"),
        tag("source"),
        tag("year")
    );
    let ids = run
        .experiments
        .iter()
        .map(|record| record.definition.id.as_str());
    let (known, others): (Vec<&str>, Vec<&str>) =
        ids.partition(|id| experiments::find(id).is_some());
    let facts = [("can be compared", known), ("as reported", others)].into_iter();
    let facts = facts.filter(|(_, ids)| !ids.is_empty());
    let facts = facts.map(|(name, ids)| (name, ids.join(", ")));
    Blocks::default().say([machine]).facts(facts)
}

/// Reference machines with their conditions and their files.
pub fn machines(machines: &[Located]) -> Document<'static> {
    let more = "`oscope reference add` makes one of a run. A run is compared with the others that have its processor, \
                hypervisor and system, once there are three.";
    let machines = machines.iter().fold(Blocks::default(), |blocks, located| {
        let name = located.machine.file_name();
        let name = name.trim_end_matches(".json").to_owned();
        blocks.section(name, machine(located))
    });
    let more = Blocks::default().say([more]);
    machines.section("More", more).document("")
}

fn machine(located: &Located) -> Blocks<'static> {
    let it = &located.machine;
    let run = [
        show::moment(it.started),
        format!("{} profile", it.profile),
        format!("oscope {}", it.version),
    ];
    let file = located.file.as_ref().map(|file| file.display().to_string());
    let disturbed = (!it.disturbed.is_empty()).then(|| and(&it.disturbed));
    let facts = [
        ("machine", Some(it.machine.clone())),
        ("run", Some(run.join(", "))),
        (
            "conditions",
            (!it.conditions.is_empty()).then(|| it.conditions.join(" ")),
        ),
        ("values", Some(it.values.len().to_string())),
        ("left out, disturbed", disturbed),
        ("file", file.or_else(|| Some("part of oscope".into()))),
    ];
    let facts = facts.into_iter();
    Blocks::default().facts(facts.filter_map(|(name, value)| Some((name, value?))))
}
