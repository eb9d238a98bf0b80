//! The numbers of published reports as runs, so that a current machine can be compared with them.
//! They contain only the printed numbers; units are converted, nothing else.
//!
//! The files are in `reference/`, with the script that generates them from a table.

use record::{Run, file};

/// The numbers of one report on one machine.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Its name on the command line, after `reference:`.
    pub name: &'static str,
    document: &'static str,
}

macro_rules! reference {
    ($name:literal) => {
        Reference {
            name: $name,
            document: include_str!(concat!("../../../reference/", $name, ".oscope.json")),
        }
    };
}

/// All references.
pub const ALL: &[Reference] = &[
    reference!("macbook-air-m1"),
    reference!("razer-blade-2020"),
    reference!("unnamed-files"),
    reference!("unnamed-wsl"),
    reference!("threads-linux"),
    reference!("pentium4-2003-linux"),
    reference!("pentium4-2003-windows"),
    reference!("unnamed-ethernet"),
];

/// The reference called `name`.
pub fn find(name: &str) -> Option<&'static Reference> {
    ALL.iter().find(|reference| reference.name == name)
}

impl Reference {
    /// Its numbers.
    pub fn run(&self) -> Run {
        file::import(self.document.as_bytes()).expect("a test imports every one of these files")
    }
}

#[cfg(test)]
mod tests {
    use super::ALL;
    use instrument::experiment::Metric;

    #[test]
    fn every_reference_is_a_run_with_a_source_and_numbers() {
        for reference in ALL {
            let run = reference.run();
            assert_eq!(run.header.name.as_deref(), Some(reference.name));
            assert!(run.header.tags.contains_key("source"), "{}", reference.name);
            assert!(run.header.tags.contains_key("year"), "{}", reference.name);
            assert!(run.sample_count() > 0, "{}", reference.name);
        }
    }

    /// An experiment of the same name must have the same meaning, or the comparison would be wrong.
    #[test]
    fn what_can_be_compared_is_defined_as_the_experiment_is() {
        for record in ALL.iter().flat_map(|reference| reference.run().experiments) {
            let reported = record.definition;
            let Some(known) = experiments::find(&reported.id) else {
                continue;
            };
            let known = known.definition();
            assert_eq!(reported.axes, known.axes, "{}", reported.id);
            for metric in &reported.metrics {
                let same = known
                    .metric(&metric.name)
                    .expect("a metric of the experiment");
                let meaning = |metric: &Metric| (metric.unit, metric.better, metric.version);
                assert_eq!(meaning(metric), meaning(same), "{}", reported.id);
            }
        }
    }
}
