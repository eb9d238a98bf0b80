//! `oscope show`: shows a stored run.

use crate::arguments::{Common, Show};
use crate::exit::{Exit, WrongUse};
use crate::{output, selection, stored, style};
use anyhow::Result;
use record::Run;
use report::{Analysis, terminal};

pub fn execute(arguments: &Show, common: &Common) -> Result<Exit> {
    let mut run = stored::run_to_share(common, &arguments.run, arguments.sharing)?;
    keep(&mut run, &arguments.what)?;
    let analysis = Analysis::new(&run);
    let style = style::of_stdout();
    let text = if common.json {
        serde_json::to_string_pretty(&report::json::analysis(&analysis))? + "\n"
    } else if arguments.what.is_empty() {
        terminal::summary(&analysis, &style)
    } else {
        let detailed = analysis
            .experiments
            .iter()
            .map(|experiment| terminal::experiment(experiment, &style));
        detailed.collect::<Vec<_>>().join("\n")
    };
    output::show_painted(&text)?;
    Ok(Exit::Done)
}

/// Removes all experiments of `run` that `what` does not name, if it names any. Names refer to the
/// run's own experiments, which this version of oscope may not know.
fn keep(run: &mut Run, what: &[String]) -> Result<(), WrongUse> {
    for name in what {
        let is_there =
            |record: &record::ExperimentRecord| selection::is_meant(&record.definition.id, name);
        if !run.experiments.iter().any(is_there) {
            let ids = run
                .experiments
                .iter()
                .map(|record| record.definition.id.as_str());
            let there = ids.collect::<Vec<_>>().join(", ");
            return Err(WrongUse(format!("the run has no '{name}'; it has {there}")));
        }
    }
    if !what.is_empty() {
        run.experiments.retain(|record| {
            what.iter()
                .any(|name| selection::is_meant(&record.definition.id, name))
        });
    }
    Ok(())
}
