//! A run as Markdown: findings, then one table for each experiment.

use crate::comparison::escaped;
use crate::show::words::DOUBTFUL;
use crate::{Analysis, ExperimentAnalysis, show};
use std::fmt::Write as _;

/// Findings with their grades, and all estimates with their intervals.
pub fn markdown(analysis: &Analysis<'_>) -> String {
    let run = analysis.run;
    let named = run
        .header
        .name
        .as_deref()
        .or(run.machine.cpu.model.as_deref());
    let mut text = format!(
        "# {}\n\n{}, {} profile, oscope {}\n",
        escaped(named.unwrap_or("A run of oscope")),
        show::moment(run.header.started),
        run.header.profile,
        escaped(&run.header.version)
    );
    let findings = analysis.findings();
    if !findings.is_empty() {
        text += "\n## Findings\n\n";
        for (_, finding) in findings {
            let sentence = escaped(&show::sentence(finding));
            let _ = writeln!(text, "- {sentence} *({})*", show::grade(finding.grade).text);
        }
    }
    for experiment in &analysis.experiments {
        text += &of_experiment(experiment);
    }
    text
}

fn of_experiment(experiment: &ExperimentAnalysis<'_>) -> String {
    let definition = experiment.definition;
    let mut text = format!(
        "\n## {} (`{}`)\n\n{}\n",
        escaped(&definition.title),
        definition.id.replace('`', ""),
        escaped(&definition.question)
    );
    if let Some(reason) = experiment.skipped {
        let _ = writeln!(text, "\nNot measured: {}", escaped(reason));
    }
    if experiment.points.is_empty() {
        return text;
    }
    text += "\n| point | metric | value | 95 % interval | |\n| --- | --- | ---: | --- | --- |\n";
    for point in &experiment.points {
        for estimate in &point.estimates {
            let Some(metric) = definition.metric(&estimate.metric) else {
                continue;
            };
            let (value, interval) = if estimate.is_sound() {
                let value = show::value(metric.unit, estimate.centre, estimate.interval);
                let range = |ends| show::range(metric.unit, ends, estimate.centre);
                (value, estimate.interval.map_or_else(String::new, range))
            } else {
                (show::estimate(metric.unit, estimate), String::new())
            };
            let doubtful = if point.is_doubtful(&metric.name) {
                DOUBTFUL.text
            } else {
                ""
            };
            let place = show::point(definition, &point.point);
            let cells = [&place, &metric.title, &value, &interval, doubtful];
            let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    text
}
