//! The stored runs: the list, a metric over them, and the changes in all metrics.

use crate::changes::{Cause, Changes, Event, Kind, Moved};
use crate::comparison::FALSE_DISCOVERY_RATE;
use crate::document::{Blocks, Document, Piece, Table, Text};
use crate::history::{Entry, History};
use crate::lists::joined;
use crate::show::{self, Tone};
use instrument::experiment::Better;
use instrument::quantity::{Unit, counted};
use instrument::statistics::changes::{Change, LEAST};
use instrument::statistics::summary::median;
use record::store::RunSummary;
use std::cmp::Reverse;
use std::iter;

/// More runs than this add nothing to a line of bars.
const BARS: usize = 60;

/// The runs in the given order, or a sentence if there are none.
pub fn runs(runs: &[RunSummary]) -> Document<'static> {
    let tags = |run: &RunSummary| {
        let tags = run.tags.iter().map(|(key, value)| format!("{key}={value}"));
        joined(" ", tags)
    };
    let table = Table::of("stored runs", runs)
        .count("run", |run| run.number.to_string())
        .name("name", |run| run.name.as_deref().unwrap_or(""))
        .group()
        .words("started", |run| show::moment(run.started))
        .number("took", took)
        .group()
        .words("profile", |run| run.profile.to_string())
        .number("experiments", |run| run.experiments.to_string())
        .number("points", |run| run.points.to_string())
        .number("samples", |run| run.samples.to_string())
        .group()
        .words("machine", |run| run.machine_fingerprint.as_str())
        .words("tags", |run| Piece::from(tags(run)));
    let nothing = runs.is_empty().then_some("No run has been stored yet.");
    Blocks::default().table(table).say(nothing).document("")
}

fn took(run: &RunSummary) -> Text {
    let doubtful = |words: &str| Piece::toned(Tone::Doubtful, words).into();
    match run.ended {
        _ if run.damaged => Piece::toned(Tone::Bad, "damaged").into(),
        None => doubtful("unfinished"),
        Some(_) if run.interrupted => doubtful("interrupted"),
        Some(ended) => {
            let ns = ended.duration_since(run.started).as_nanos();
            show::length(ns as f64).into()
        }
    }
}

/// A single history in full; several as one line each, the latest changes first.
pub fn histories(histories: &[History]) -> Document<'static> {
    match histories {
        [] => Blocks::default().say(["No run has it."]).document(""),
        [history] => single(history),
        several => overview(several),
    }
}

fn overview(histories: &[History]) -> Document<'static> {
    let mut ordered: Vec<&History> = histories.iter().collect();
    ordered.sort_by_key(|it| Reverse(it.changes.last().map(|change| it.runs[change.at].run)));
    let newest = |it: &History| {
        let newest = it.runs.last();
        newest.map_or_else(String::new, |entry| {
            show::value(it.metric.unit, entry.value, entry.interval)
        })
    };
    let table = Table::of("histories", &ordered)
        .name("point", |it| place(it))
        .name("metric", |it| it.metric.name.as_str())
        .number("runs", |it| it.runs.len().to_string())
        .number("newest", |it| newest(it))
        .number("changes", |it| it.changes.len().to_string())
        .words("last change", |it| changed(it, it.changes.last()));
    Blocks::default().table(table).document("")
}

fn single(history: &History) -> Document<'static> {
    let (id, metric) = (&history.definition.id, &history.metric.name);
    let counted = |count: usize, words: &str| {
        (count > 0).then(|| format!("{}{words}", counted(count, "run")))
    };
    let runs = history.runs.len();
    let few = format!(": changes are looked for from {LEAST} runs on.");
    let left_out =
        " left out: of another version of the metric, measured in another way, or not sound.";
    let damaged = " left out: damaged. `oscope verify` names the damage.";
    Blocks::default()
        .say([bars(history)])
        .say(counted(runs, &few).filter(|_| runs < LEAST))
        .table(levels(history))
        .say(counted(history.left_out, left_out))
        .say(counted(history.damaged, damaged))
        .document(format!("{id} {metric}: {}", place(history)))
}

/// One row for each stretch between changes.
fn levels(history: &History) -> Table {
    let changes = iter::once(None).chain(history.changes.iter().map(Some));
    let stretches = history.levels().into_iter().zip(changes);
    let rows: Vec<_> = stretches
        .map(|(range, change)| (&history.runs[range], change))
        .collect();
    let level = |entries: &[Entry]| {
        let values: Vec<f64> = entries.iter().map(|entry| entry.value).collect();
        let level = median(&values);
        level.map_or_else(String::new, |it| show::value(history.metric.unit, it, None))
    };
    Table::of("levels", &rows)
        .name("runs", |(runs, _)| {
            format!("{} to {}", runs[0].run, runs[runs.len() - 1].run)
        })
        .words("since", |(runs, _)| show::moment(runs[0].started))
        .number("median", |(runs, _)| level(runs))
        .words("change", |(_, change)| changed(history, *change))
        .into()
}

/// `1.21 × (1.18 to 1.24) at run 17, from 16 to 18`.
fn changed(history: &History, change: Option<&Change>) -> Text {
    let Some(change) = change else {
        return Text::default();
    };
    let run = |index: usize| history.runs[index].run;
    let (earliest, latest) = change.between;
    let place = if earliest == latest {
        String::new()
    } else {
        format!(", from {} to {}", run(earliest), run(latest))
    };
    let is_worse = match history.metric.better {
        Better::Higher => change.ratio.centre < 1.0,
        Better::Lower => change.ratio.centre > 1.0,
        Better::Neither => false,
    };
    let ratio = show::ratio_with_range(change.ratio.centre, change.ratio.interval);
    let tone = if is_worse { Tone::Bad } else { Tone::Good };
    Piece::toned(tone, format!("{ratio} at run {}{place}", run(change.at))).into()
}

fn place(history: &History) -> String {
    show::point(&history.definition, &history.point)
}

/// The newest values as a line of bars, scaled from the lowest to the highest.
fn bars(history: &History) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let newest = &history.runs[history.runs.len().saturating_sub(BARS)..];
    let values = newest.iter().map(|entry| entry.value);
    let (low, high) = values
        .clone()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    let height = |value: f64| {
        let part = (value - low) / (high - low);
        HEIGHTS[(part * 7.0).round().clamp(0.0, 7.0) as usize]
    };
    let bars: String = values.map(height).collect();
    let end = |value: f64| show::value(history.metric.unit, value, None);
    format!("{bars}  {} to {}", end(low), end(high))
}

/// The changes, the newest first, each with what else changed there.
pub fn changes(changes: &Changes) -> Document<'static> {
    let runs = counted(changes.runs.len(), "run");
    let searched = Blocks::default().say([searched(changes)]);
    let events = changes.events.iter().fold(searched, |blocks, event| {
        let moved = Blocks::default().say([cause(event)]).table(moved(event));
        blocks.section(heading(event), moved)
    });
    events.document(format!(
        "Changes over {runs} of the machine {}",
        changes.machine
    ))
}

/// The values that were searched, and the promise.
fn searched(changes: &Changes) -> String {
    let short = match changes.too_short {
        0 => String::new(),
        short => format!(
            " {} in fewer than {LEAST} runs, where a change looks like noise.",
            counted(short, "value")
        ),
    };
    let searched = counted(changes.searched, "value");
    match (changes.searched, changes.events.len()) {
        (0, _) => format!(
            "Changes are looked for in values of {LEAST} runs or more; here are {}.{short}",
            counted(changes.runs.len(), "run")
        ),
        (_, 0) => format!("None of {searched} changed.{short}"),
        _ => format!(
            "{searched} were searched together: of the changes reported, at most {} are expected to be \
             false alarms.{short}",
            Unit::Share.show(FALSE_DISCOVERY_RATE, 1)
        ),
    }
}

fn heading(event: &Event) -> String {
    let (earliest, latest) = (event.earliest_run, event.latest_run);
    let moved: usize = event.moved.iter().map(|moved| moved.values.len()).sum();
    let values = counted(moved, "value");
    if event.kind == Kind::Drift {
        return format!("Runs {earliest} to {latest}: {values} drifted");
    }
    let since = show::moment(event.since);
    let range = if earliest == latest {
        String::new()
    } else {
        format!(" (from {earliest})")
    };
    let cause = match event.cause {
        Cause::System => "together",
        Cause::Clock => "with the clock",
        Cause::Conditions => "with the conditions of the runs",
    };
    format!("Run {latest}{range}, {since}: {values} changed {cause}")
}

/// The cause of the change, and the facts that changed with the values.
fn cause(event: &Event) -> String {
    if event.kind == Kind::Drift {
        return "They changed steadily, at no run in particular.".into();
    }
    let facts = event.circumstances.iter();
    let facts = facts.map(|fact| format!("{}: {}, before {}", fact.name, fact.b, fact.a));
    let facts = joined("; ", facts);
    let circumstances = if facts.is_empty() {
        "Nothing else that the runs record changed there.".into()
    } else {
        format!("Changed there too: {facts}.")
    };
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

fn moved(event: &Event) -> Table {
    let (tones, directions) = match event.cause {
        Cause::Clock | Cause::Conditions => ([Tone::Faint; 2], ["not comparable"; 2]),
        Cause::System => ([Tone::Good, Tone::Bad], ["better", "worse"]),
    };
    let place = |moved: &Moved| match &moved.values[..] {
        [only] => show::point(&moved.definition, &only.point),
        _ => String::new(),
    };
    let direction = |moved: &Moved| usize::from(moved.worse);
    Table::of("values that changed", &event.moved)
        .name("experiment", |moved| moved.definition.id.as_str())
        .name("metric", |moved| moved.metric.as_str())
        .number("values", |moved| {
            format!("{} of {}", moved.values.len(), moved.searched)
        })
        .number("new over old", |moved| {
            Piece::toned(tones[direction(moved)], show::ratio(moved.ratio))
        })
        .words("direction", |moved| directions[direction(moved)])
        .words("point", |it| Piece::from(place(it)))
        .into()
}
