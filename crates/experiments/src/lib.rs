//! The experiments of oscope: one file for each experiment, in its group's folder.
//!
//! To add an experiment, write its file and name it in its group's list.
//!
//! # What it uses
//!
//! `instrument` for the trait of an experiment, `kernels` for the loops that are timed, `platform` for the timed
//! calls.
//!
//! # What it must never do
//!
//! Format, print or store: findings are sentences whose numbers stay numbers, figures say what to
//! draw and not how.

#[cfg(test)]
use testing as _;

mod advice;
mod advising;
#[cfg(test)]
mod cases;
mod claims;
mod compute;
mod estimates;
mod figures;
mod file;
mod fresh_place;
mod judging;
mod lines;
mod listing;
#[cfg(test)]
mod made_up;
#[cfg(all(test, target_os = "linux"))]
mod measured;
mod memory;
mod optimisation;
mod other_core;
mod planning;
mod prelude;
mod process;
pub mod programs;
#[cfg(test)]
mod sentences;
mod subjects;
mod system;
mod systems;
mod threads;
mod together;
mod transfer;
pub mod trial;

use instrument::component::Component;
use instrument::counterpart::Counterpart;
use instrument::experiment::Experiment;
use instrument::point::Point;
use platform::environment::System;

/// A group of experiments, and what is true of most of its values.
struct Group {
    experiments: &'static [&'static dyn Experiment],
    /// The component that they speak of.
    component: Component,
    /// The value of another operating system with which one may be compared.
    counterpart: Counterpart,
}

/// A group whose loops ask the system for nothing that is timed.
const fn own(experiments: &'static [&'static dyn Experiment], component: Component) -> Group {
    Group {
        experiments,
        component,
        counterpart: Counterpart::Same,
    }
}

/// A group whose experiments time what the system does.
const fn asking(experiments: &'static [&'static dyn Experiment], component: Component) -> Group {
    const REASON: &str =
        "each system does this by calls of its own, and none is declared to be comparable";
    Group {
        experiments,
        component,
        counterpart: Counterpart::Missing(REASON),
    }
}

/// The groups in the order in which they run.
static GROUPS: [Group; 7] = [
    own(memory::ALL, Component::Memory),
    asking(file::ALL, Component::Files),
    asking(transfer::ALL, Component::Network),
    asking(process::ALL, Component::Processes),
    own(compute::ALL, Component::Core),
    asking(threads::ALL, Component::Threads),
    own(system::ALL, Component::Interruptions),
];

/// Every experiment, group by group, in the order in which they run.
pub fn all() -> impl Iterator<Item = &'static dyn Experiment> {
    GROUPS.iter().flat_map(|group| group.experiments).copied()
}

/// The experiment `id` with its group.
fn with_group(id: &str) -> Option<(&'static dyn Experiment, &'static Group)> {
    GROUPS.iter().find_map(|group| {
        let mut experiments = group.experiments.iter();
        let found = experiments.find(|experiment| experiment.id() == id)?;
        Some((*found, group))
    })
}

/// The component of the machine that `metric` of the experiment `id` speaks of at `point`; `None` for
/// an experiment that this version does not know.
pub fn component(id: &str, point: &Point, metric: &str) -> Option<Component> {
    let (experiment, group) = with_group(id)?;
    let component = experiment.component(point, metric);
    Some(component.unwrap_or(group.component))
}

/// The value of `other`, another operating system, with which `metric` of the experiment `id` at `point` may be
/// compared.
pub fn counterpart(id: &str, point: &Point, metric: &str, other: System) -> Counterpart {
    let Some((experiment, group)) = with_group(id) else {
        return Counterpart::Missing("this version does not know the experiment");
    };
    let counterpart = experiment.counterpart(point, metric, other);
    counterpart.unwrap_or_else(|| group.counterpart.clone())
}

/// The labs for teachers and students, as documents in the order of a course.
pub const LABS: [&str; 8] = [
    include_str!("labs/caches.toml"),
    include_str!("labs/blocks.toml"),
    include_str!("labs/cold-warm.toml"),
    include_str!("labs/clocks.toml"),
    include_str!("labs/locks.toml"),
    include_str!("labs/inversion.toml"),
    include_str!("labs/mmap.toml"),
    include_str!("labs/systems.toml"),
];

/// The values that reports show before all others, as a document.
pub const FIRST_SCREEN: &str = include_str!("first_screen.toml");

pub use advice::all as advice;
pub use claims::all as claims;
pub use file::{RemoteDirectory, WRITES_BY_SIZE};
pub use memory::pages::is_named;
pub use transfer::{Link, link};

/// The experiment called `id`.
pub fn find(id: &str) -> Option<&'static dyn Experiment> {
    with_group(id).map(|(experiment, _)| experiment)
}

#[cfg(test)]
mod tests {
    use super::{all, component, counterpart, find};
    use crate::cases::with_levels;
    use crate::made_up::setting;
    use instrument::component::Component;
    use instrument::counterpart::Counterpart;
    use instrument::plan::{Plan, Profile};
    use instrument::point::{Choice, Level, Point};
    use platform::environment::System;
    use std::collections::BTreeSet;

    #[test]
    fn every_experiment_is_found_by_an_id_of_its_own_and_describes_itself() {
        let mut ids = BTreeSet::new();
        for experiment in all() {
            let definition = experiment.definition();
            assert!(
                ids.insert(experiment.id()),
                "{} is there twice",
                definition.id
            );
            assert_eq!(definition.id, experiment.id());
            assert!(find(experiment.id()).is_some());
            assert!(
                definition.id.contains('.'),
                "{} has no group",
                definition.id
            );
            assert!(
                definition.question.ends_with('?'),
                "{} asks nothing",
                definition.id
            );
            assert!(!definition.metrics.is_empty());
        }
    }

    #[test]
    fn planned_numbers_are_within_the_bounds_that_their_axes_declare() {
        for (profile, experiment) in [Profile::Quick, Profile::Standard, Profile::Thorough]
            .into_iter()
            .flat_map(|profile| all().map(move |experiment| (profile, experiment)))
        {
            let axes = experiment.design().axes.iter();
            let bounded: Vec<_> = axes.filter(|axis| axis.least <= axis.most).collect();
            for point in experiment.points(&setting(profile)) {
                for axis in &bounded {
                    let number = point.get(axis.name).and_then(Level::number);
                    let bounds = axis.least..=axis.most;
                    assert!(number.is_none_or(|it| bounds.contains(&it)), "{point}");
                }
            }
        }
    }

    /// The longest that groups take, from the plan.
    fn minutes(groups: &[&str], profile: Profile) -> f64 {
        // Of caches that large the curves are longest.
        let mut setting = setting(profile);
        setting.machine.caches[3].size_bytes = Some(300 << 20);
        setting.swap_bytes = 1 << 30;
        let is_wanted = |id: &str| {
            groups
                .iter()
                .any(|group| id.split('.').next() == Some(*group))
        };
        let wanted: Vec<_> = all().filter(|it| is_wanted(it.id())).collect();
        Plan::new(&wanted, &setting, None, 1).budget().0 / 60e9
    }

    #[test]
    fn the_shorter_profiles_fit_their_budgets() {
        for (groups, longest) in [
            (&["memory", "process", "compute"][..], [2.1, 16.5]),
            (&["threads"], [0.6, 12.0]),
        ] {
            let found = [Profile::Quick, Profile::Standard].map(|it| minutes(groups, it));
            let fits = found[0] <= longest[0] && found[1] <= longest[1];
            assert!(fits, "{groups:?}: {found:?} minutes");
        }
    }

    #[test]
    fn values_speak_of_every_component() {
        let setting = setting(Profile::Thorough);
        let mut spoken_of = Vec::new();
        for experiment in all() {
            for metric in experiment.design().metrics {
                for point in experiment.points(&setting) {
                    spoken_of.extend(component(experiment.id(), &point, metric.name));
                }
            }
        }
        let silent = Component::ALL.iter().filter(|it| !spoken_of.contains(it));
        assert_eq!(silent.collect::<Vec<_>>(), Vec::<&Component>::new());
        assert_eq!(component("made.up", &Point::new(), "cost"), None);
    }

    #[test]
    fn values_are_comparable_with_another_system_where_the_source_is_the_same() {
        for row in [
            "memory.latency | load | | same",
            "memory.bandwidth | read | | same",
            "compute.arithmetic | latency | | same",
            "memory.bandwidth | first_write | | missing",
            "memory.page_fault | cost | | missing",
            "threads.create | create | | missing",
            "memory.parallel | copy | threads=2 | threads=2",
            "file.block_size | throughput | pass=write | pass=write",
            "file.random | sequential | chunk_size=4KiB | chunk_size=4096",
            "file.sync | latency | place=append | place=append",
            "file.call | rate | call=read 1 byte | call=ReadFile 1 byte",
            "file.engine | rate | engine=pread | engine=pread",
            "file.engine | rate | engine=io_uring 8 | engine=overlapped 8",
            "file.engine | rate | engine=overlapped 8 | engine=io_uring 8",
            "file.engine | rate | engine=io_uring 8 registered | missing",
            "process.calls | rate | call=read 1 byte & optimisation=3 | call=ReadFile 1 byte, optimisation=3",
            "process.calls | rate | call=fork+exit+wait & optimisation=3 | missing",
            "made.up | cost | | missing",
        ] {
            let [id, metric, levels, expected] =
                row.split('|').map(str::trim).collect::<Vec<_>>()[..]
            else {
                panic!("{row}");
            };
            let point = find(id).map(|it| with_levels(it.design(), Point::new(), levels));
            let point = point.unwrap_or_default();
            let found = match counterpart(id, &point, metric, System::Windows) {
                Counterpart::Same => "same".to_owned(),
                Counterpart::Like { point, .. } => point.to_string(),
                Counterpart::Missing(_) => "missing".to_owned(),
            };
            assert_eq!(found, expected, "{row}");
        }
    }
}
