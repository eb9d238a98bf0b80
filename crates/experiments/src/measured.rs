//! Points that are really measured on this machine: `tests/measured.txt` says how they are written.

use crate::cases::with_levels;
use crate::file::testing::{can_be_cold, scratch};
use crate::find;
use crate::made_up::measure;
use crate::other_core::cpu_of_another_core;
use instrument::experiment::Experiment;
use instrument::point::Point;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;

#[test]
fn each_point_of_the_table_gives_its_metrics_and_no_others() {
    let scratch = scratch();
    let has_disk = can_be_cold(scratch.path());
    let has_cores = matches!(cpu_of_another_core(), Ok(Some(_)));
    let mut wrong = Vec::new();
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/measured.txt");
    let table = fs::read_to_string(table).expect("a text");
    let is_row = |line: &&str| !line.is_empty() && !line.starts_with('#');
    for line in table.lines().filter(is_row) {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [subject, levels, expected] = cells[..] else {
            panic!("{line}");
        };
        let (needs, id) = subject.split_once(' ').unwrap_or(("", subject));
        if needs == "disk" && !has_disk || needs == "cores" && !has_cores {
            println!("skipped: {line}");
            continue;
        }
        let experiment = find(id).expect(line);
        let point = with_levels(experiment.design(), Point::new(), levels);
        let found = metrics(experiment, &point, scratch.path());
        let is_wanted = match (&found, expected.strip_prefix("refused: ")) {
            (Ok(found), None) => {
                let wanted = expected.split(' ').map(|name| name.trim_end_matches('?'));
                let wanted: BTreeSet<&str> = wanted.collect();
                let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
                let mut differing = found.symmetric_difference(&wanted);
                differing.all(|name| expected.contains(&format!("{name}?")))
            }
            (Err(error), Some(words)) => error.contains(words),
            (Err(error), None) if needs == "maybe" => {
                println!("skipped: {line}: {error}");
                true
            }
            _ => false,
        };
        if !is_wanted {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The metrics that `experiment` gives at `point`, or its error. It has a thread of its own, since it may pin it.
fn metrics(
    experiment: &dyn Experiment,
    point: &Point,
    scratch: &Path,
) -> Result<Vec<String>, String> {
    let measured = thread::scope(|scope| {
        let measured = scope.spawn(|| measure(experiment, point, scratch));
        measured.join().expect("it does not panic")
    });
    let (samples, _) = measured.map_err(|error| error.to_string())?;
    Ok(samples.into_iter().map(|sample| sample.metric).collect())
}
