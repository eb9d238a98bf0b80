//! `oscope compare`: the differences of other runs from the first.

use crate::arguments::{Common, Compare, FailOn};
use crate::exit::{Exit, WrongUse, refuse};
use crate::target::{Target, publish};
use crate::{output, selection, stored, style};
use anyhow::Result;
use record::Run;
use report::comparison::{self, Basis, Comparison, Question, Side};
use report::{markdown, page, terminal, view};

pub fn execute(arguments: &Compare, common: &Common) -> Result<Exit> {
    let page = Target::if_named(arguments.page.as_ref(), arguments.force, common)?;
    let first = side(&arguments.first, &arguments.only, common)?;
    let others = arguments.others.iter();
    let others = others
        .map(|name| side(name, &arguments.only, common))
        .collect::<Result<Vec<Side>>>()?;
    let baseline = arguments.baseline.as_ref();
    let baseline = baseline.map(|name| stored::side(common, name));
    let baseline = baseline.transpose()?;
    for other in &others {
        apart(&first, other)?;
    }
    if let Some(baseline) = &baseline {
        for side in others.iter().chain([&first]) {
            apart(side, baseline)?;
        }
    }
    let comparisons = others
        .iter()
        .map(|other| {
            Ok(Comparison::new(Question {
                a: &first,
                b: other,
                baseline: baseline.as_ref(),
                margin: arguments.margin,
            })?)
        })
        .collect::<Result<Vec<_>>>()?;
    if arguments.fail_on.is_some() && comparisons.iter().any(|one| one.basis != Basis::Sessions) {
        refuse!(
            "--fail-on needs verdicts, and there are none without several sessions on a side: \
             `oscope run --sessions 3` measures them"
        );
    }
    let text = if arguments.markdown {
        markdown::paint(&view::comparison(&comparisons), 3)
    } else {
        shown(&comparisons, arguments.all, common)?
    };
    publish(
        page.as_ref(),
        || {
            let data = comparison::json(&comparisons);
            page::paint(&view::comparison(&comparisons), Some(&data))
        },
        &text,
        common,
    )?;
    Ok(Exit::found_if(comparisons.iter().any(|comparison| {
        let counts = comparison.counts();
        is_found(counts.slower > 0, counts.faster > 0, arguments.fail_on)
    })))
}

/// True if `fail_on` names one of the verdicts that are there.
pub fn is_found(is_slower: bool, is_faster: bool, fail_on: Option<FailOn>) -> bool {
    match fail_on {
        None => false,
        Some(FailOn::Slower) => is_slower,
        Some(FailOn::Different) => is_slower || is_faster,
    }
}

/// The comparisons as text or as JSON.
pub fn shown(comparisons: &[Comparison<'_>], all: bool, common: &Common) -> Result<String> {
    if common.json {
        return output::json(&comparison::json(comparisons));
    }
    let document = view::comparison(comparisons);
    Ok(terminal::paint(&document, &style::of_stdout(common), all))
}

/// Refuses sides that share a run: a shared run cannot differ.
fn apart(one: &Side, other: &Side) -> Result<(), WrongUse> {
    let is_in_both = |run: &Run| {
        let id = &run.header.id;
        other.runs.iter().any(|known| known.header.id == *id)
    };
    if one.runs.iter().any(is_in_both) {
        refuse!(
            "'{}' and '{}' share a run; what is on both sides cannot differ",
            one.label,
            other.label
        );
    }
    Ok(())
}

/// The side called `name`, restricted to the experiments that `only` names.
fn side(name: &str, only: &[String], common: &Common) -> Result<Side> {
    let mut side = stored::side(common, name)?;
    if only.is_empty() {
        return Ok(side);
    }
    for run in &mut side.runs {
        run.experiments
            .retain(|record| selection::is_among(&record.definition.id, only));
    }
    if side.runs.iter().all(|run| run.experiments.is_empty()) {
        let only = only.join(", ");
        refuse!("{name} has no {only}; `oscope show` names what it has");
    }
    Ok(side)
}
