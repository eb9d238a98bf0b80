//! `oscope reproduce`: the published reports, figure by figure.

use super::{author_program, run};
use crate::arguments::{Common, Programs, Reproduce};
use crate::exit::{self, Exit, WrongUse};
use crate::progress::Progress;
use crate::target::Target;
use crate::{output, selection, setting, stored, style};
use anyhow::Result;
use files::Watch;
use instrument::experiment::Experiment;
use instrument::plan::{Plan, Profile, Setting};
use instrument::point::Point;
use instrument::quantity::{Nanoseconds, counted};
use platform::environment::System;
use record::{ExperimentRecord, Failure, Run};
use report::reproduce::{self, Choice, Failed, Measured, Reproduction};
use report::{markdown, page, show, view};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// An experiment, or points of it, is run at most this number of times, each time for `MORE_TIME` times as long as
/// before.
const TRIES: i32 = 3;
const MORE_TIME: f64 = 4.0;
/// Visits may take longer than earlier ones, next to other work: they get this much more time.
const MARGIN: f64 = 1.5;

/// How often each [`subject`] was measured.
type Tried = BTreeMap<Vec<String>, i32>;

pub fn execute(arguments: &Reproduce, common: &Common) -> Result<Exit> {
    if let Some(Programs::Program(program)) = &arguments.program {
        return author_program::execute(program, common);
    }
    if arguments.list {
        output::show_painted(&style::painted(&view::places(), common))?;
        return Ok(Exit::Done);
    }
    let choice = arguments.choice();
    if choice.place.is_some()
        && !reproduce::tables()
            .iter()
            .any(|table| choice.includes(table))
    {
        let place = arguments.figure.join(" ");
        return Err(WrongUse(match choice.listing() {
            Some(listing) => format!(
                "report {} has no figure at {}, but a program ({}); `oscope {}` does the same",
                listing.report, listing.place, listing.run(), listing.command()
            ),
            None => format!(
                "the reports have no figure at '{place}'; `oscope reproduce --list` names the places"
            ),
        })
        .into());
    }
    let target = Target::asked(&arguments.output, common)?;
    let (reproduced, exit) = if arguments.run {
        match measured(arguments, common)? {
            (_, stopped @ Exit::Stopped(_)) => return Ok(stopped),
            measured => measured,
        }
    } else {
        (reproduction(arguments, common, &Tried::new())?, Exit::Done)
    };
    let is_terminal = arguments.output.path() == Path::new("-");
    let text = if common.json {
        output::json(&reproduce::json(&reproduced))?
    } else if is_page(arguments.output.path()) && !arguments.markdown {
        page::paint(
            &view::reproduction(&reproduced),
            Some(&reproduce::json(&reproduced)),
        )
    } else if arguments.markdown || !is_terminal {
        markdown::paint(&view::reproduction(&reproduced), 1)
    } else {
        let shown = style::painted(&view::reproduction(&reproduced), common);
        output::print(output::painted(&shown).as_bytes())?;
        return Ok(exit);
    };
    target.write(text.as_bytes(), &Watch::default())?;
    Ok(exit)
}

/// Measures what is missing: first the experiments that were never measured, then the points that their plan
/// leaves out, and again with more time those that a run did not reach.
fn measured(arguments: &Reproduce, common: &Common) -> Result<(Reproduction, Exit)> {
    let mut tried = Tried::new();
    // A run that another one completes later is not among them.
    let mut incomplete = BTreeSet::new();
    loop {
        let reproduced = reproduction(arguments, common, &tried)?;
        let times_run = |words: &[String]| tried.get(&subject(words)).copied().unwrap_or(0);
        let mut commands = reproduced.commands();
        commands.retain(|words| times_run(words) < TRIES);
        if commands.is_empty() {
            return Ok((reproduced, Exit::incomplete_if(!incomplete.is_empty())));
        }
        let parts: Vec<_> = (commands.iter())
            .map(|words| part(words, MORE_TIME.powi(times_run(words)), arguments, common))
            .collect();
        let time = parts.iter().flatten().map(|(_, time)| time.0).sum();
        let voice = Progress::new(common).voice;
        // What the plan of a whole experiment leaves out is known once it has run.
        let is_whole = commands.iter().any(|words| words.len() == 2);
        voice.say(&format!(
            "{} to measure what is missing: at most {:.2}{}",
            counted(parts.len(), "run"),
            Nanoseconds(time),
            if is_whole {
                ", then what these leave out"
            } else {
                ""
            },
        ));
        for (number, (words, part)) in (1..).zip(commands.iter().zip(parts)) {
            let count = commands.len();
            voice.say(&format!("{number} of {count}: oscope {}", words.join(" ")));
            let measured = part.and_then(|(run, _)| run::measure_only(&run, common, &mut []));
            match measured {
                Ok(Exit::Done) => {
                    incomplete.remove(&subject(words));
                }
                Ok(stopped @ Exit::Stopped(_)) => {
                    voice.say("stopped: the same command measures what is left");
                    return Ok((reproduced, stopped));
                }
                Ok(_) => {
                    incomplete.insert(subject(words));
                }
                // A level that this machine does not have does not prevent the other runs.
                Err(error) if error.is::<WrongUse>() => {
                    output::say(&format!("oscope: {}: {error}", words.join(" ")));
                    incomplete.insert(subject(words));
                }
                Err(error) => {
                    output::say(&format!("oscope: {}", exit::words(&error)));
                    return Ok((reproduction(arguments, common, &tried)?, Exit::Incomplete));
                }
            }
        }
        let mut subjects: Vec<_> = commands.iter().map(|words| subject(words)).collect();
        subjects.dedup();
        for subject in subjects {
            *tried.entry(subject).or_default() += 1;
        }
    }
}

/// The experiment of a command `run EXPERIMENT …`, and the names of its options, by which it is whole, longer or of
/// chosen points.
fn subject(words: &[String]) -> Vec<String> {
    let options = words.iter().skip(2).step_by(2);
    let mut subject: Vec<String> = words
        .iter()
        .skip(1)
        .take(1)
        .chain(options)
        .cloned()
        .collect();
    subject.dedup();
    subject
}

/// True if a file of this name is a page.
fn is_page(file: &Path) -> bool {
    let extension = file.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
}

/// The chosen reports, judged by the runs that were named, or by those of this machine in the store.
fn reproduction(arguments: &Reproduce, common: &Common, tried: &Tried) -> Result<Reproduction> {
    let choice = arguments.choice();
    let runs = if arguments.of.is_empty() {
        stored::newest_with(common, &choice.experiments())?
    } else {
        let named = arguments.of.iter().map(|name| stored::run(common, name));
        named.collect::<Result<_>>()?
    };
    let is_of_windows = |run: &Run| run.environment.system() == Some(System::Windows);
    let (foreign, others): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(is_of_windows);
    // On Windows alone, the figures of other systems are compared with its runs too.
    let runs = if others.is_empty() { &foreign } else { &others };
    let caution = others.iter().chain(&foreign).find_map(show::stand_in);
    let together = |runs: &[Run]| Run::together(runs.iter().cloned());
    let (all, on_windows) = (together(runs), together(&foreign));
    let mut failed: Vec<Failed> = runs.iter().flat_map(failed).collect();
    if arguments.of.is_empty() {
        failed.extend(unmet(&choice, arguments));
    }
    let results: Vec<_> = runs.iter().flat_map(Run::results).collect();
    let mut incomplete = incomplete(&choice, runs, &setting(arguments, Profile::Standard));
    // Once is enough: points that it did not reach are asked for by themselves.
    let is_left = |id: &str| !tried.contains_key(&[id.to_owned(), "--profile".to_owned()][..]);
    incomplete.retain(|id| arguments.of.is_empty() && is_left(id));
    let measured = Measured {
        results: &results,
        together: &all.as_ref().map_or(Vec::new(), Run::results),
        on_windows: &on_windows.as_ref().map_or(Vec::new(), Run::results),
        is_windows_alone: others.is_empty() && !foreign.is_empty(),
        failed: &failed,
        caution: caution.as_deref(),
        incomplete: &incomplete,
    };
    Ok(Reproduction::new(&choice, &measured))
}

/// The levels whose needs this machine does not meet.
fn unmet(choice: &Choice, arguments: &Reproduce) -> Vec<Failed> {
    let setting = setting(arguments, Profile::Quick);
    let of = |id: &str| {
        let needs = experiments::find(id).map_or(Vec::new(), |it| it.level_needs(&setting));
        let missing = needs.into_iter().filter_map(|(level, need)| {
            Some(Failed {
                experiment: id.to_owned(),
                point: Some(level),
                reason: need.missing(&setting)?,
            })
        });
        missing.collect::<Vec<_>>()
    };
    choice.experiments().into_iter().flat_map(of).collect()
}

/// The experiments of which the standard profile plans points that none of these runs has tried.
fn incomplete(choice: &Choice, runs: &[Run], standard: &Setting) -> Vec<&'static str> {
    let records = || runs.iter().flat_map(|run| &run.experiments);
    let has_tried = |id: &str, point: &Point| {
        records()
            .filter(|record| record.definition.id == id)
            .any(|record| {
                let mut measured = record.points.iter();
                let mut failures = record.failures();
                record.skipped.is_some()
                    || measured.any(|it| it.point == *point && !it.batches.is_empty())
                    || failures.any(|(it, failure)| it == point && failure != Failure::NotReached)
            })
    };
    let is_incomplete = |id: &&str| {
        let planned = experiments::find(id).map_or(Vec::new(), |it| it.points(standard));
        planned.iter().any(|point| !has_tried(id, point))
    };
    let ids = choice.experiments().into_iter();
    ids.filter(is_incomplete).collect()
}

/// The points that a run could not measure, with the reasons; not those for which its time was too short.
fn failed(run: &Run) -> impl Iterator<Item = Failed> {
    let of = |record: &ExperimentRecord| {
        let one = |point: Option<&Point>, reason: &str| Failed {
            experiment: record.definition.id.clone(),
            point: point.cloned(),
            reason: reason.to_owned(),
        };
        let whole = record.skipped.as_deref().map(|reason| one(None, reason));
        let points = record
            .failures()
            .filter(|(_, failure)| *failure != Failure::NotReached);
        let points = points.map(|(point, failure)| one(Some(point), failure.reason()));
        whole.into_iter().chain(points).collect::<Vec<_>>()
    };
    run.experiments.iter().flat_map(of)
}

/// The run that measures missing points, for `stretch` times the usual time or for as long as earlier visits took,
/// and its time.
fn part(
    words: &[String],
    stretch: f64,
    arguments: &Reproduce,
    common: &Common,
) -> Result<(crate::arguments::Run, Nanoseconds)> {
    let mut run = run::parsed(words)?;
    run.dir.clone_from(&arguments.dir);
    run.allow_swap_file = arguments.allow_swap_file;
    run.remote.clone_from(&arguments.remote);
    let setting = setting(arguments, run.profile);
    let experiments = selection::experiments(&run.what)?;
    let chosen = selection::at(&experiments, &run.levels(), &setting)?;
    let chosen: Vec<&dyn Experiment> = chosen.iter().map(|it| it as _).collect();
    let plan = Plan::new(&chosen, &setting, None, 0);
    if stretch > 1.0 {
        let fingerprint = setting.machine.fingerprint();
        let costs = stored::open(common)?.visit_costs(&fingerprint, setting.profile)?;
        let least_ns = plan.least_times(&costs).1.map_or(0.0, |all| all.0);
        run.budget = Some(Nanoseconds(
            (MARGIN * least_ns).max(stretch * plan.budget().0),
        ));
    }
    let time = run.budget.unwrap_or(plan.budget());
    Ok((run, time))
}

/// The circumstances of the runs that measure what is missing.
fn setting(arguments: &Reproduce, profile: Profile) -> Setting {
    setting::here(&arguments.dir, profile, arguments.allow_swap_file)
}

#[cfg(test)]
mod tests {
    use super::{incomplete, subject};
    use crate::{selection, setting};
    use experiments::RemoteDirectory;
    use instrument::experiment::Experiment;
    use instrument::given::Givens;
    use instrument::plan::{Profile, Setting};
    use instrument::point::{Level, Point};
    use record::{PointRecord, Run};
    use report::reference;
    use report::reproduce::{Choice, Report, tables};
    use std::collections::BTreeMap;
    use std::path::Path;

    /// A machine on which everything can be measured.
    fn able() -> Setting {
        let mut given = Givens::default();
        given.add(Ok(RemoteDirectory(Path::new("/").to_owned())));
        Setting {
            free_bytes: 1 << 42,
            available_bytes: 1 << 38,
            swap_bytes: 1 << 38,
            can_limit_memory: true,
            is_root: true,
            given,
            ..setting::here(Path::new("."), Profile::Thorough, true)
        }
    }

    /// The points with these levels, planned or chosen.
    fn points(id: &str, levels: &BTreeMap<String, Level>, setting: &Setting) -> Vec<Point> {
        let experiments = selection::experiments(&[id.to_owned()]).expect(id);
        let levels: Vec<(String, Level)> = levels.clone().into_iter().collect();
        let chosen = selection::at(&experiments, &levels, setting);
        let chosen = chosen.unwrap_or_else(|error| panic!("{id}: {error}"));
        chosen.iter().flat_map(|it| it.points(setting)).collect()
    }

    #[test]
    fn every_figure_is_held_against_a_point_that_can_be_measured() {
        let setting = able();
        let figures = tables().iter().flat_map(|table| &table.figures);
        for here in figures.filter_map(|figure| figure.here.as_ref()) {
            for levels in std::iter::once(here.levels.clone()).chain(here.second()) {
                let found = points(&here.experiment, &levels, &setting);
                let has_all = |point: &&Point| {
                    let mut levels = levels.iter();
                    levels.all(|(axis, level)| point.get(axis) == Some(level))
                };
                assert!(
                    !found.is_empty(),
                    "nothing is measured at {levels:?}: {here:?}"
                );
                assert!(
                    found.iter().all(|point| has_all(&point)),
                    "{here:?}: {found:?}"
                );
                let Some(knee) = &here.knee else { continue };
                let mut places: Vec<_> = found.iter().map(|it| it.get(&knee.along)).collect();
                places.sort();
                places.dedup();
                assert!(places.len() >= 3, "no curve along {}: {here:?}", knee.along);
            }
        }
    }

    #[test]
    fn axes_take_the_values_that_the_reports_used() {
        let setting = Setting {
            profile: Profile::Quick,
            ..able()
        };
        for (id, axis, number) in [
            ("memory.footprint", "block_size", 436 << 10),
            ("memory.subloop", "passes", 1000),
            ("file.read_ahead", "chunk_size", 60 << 10),
            ("file.random", "chunk_size", 96 << 10),
            ("file.rewrite_passes", "chunk_size", 1 << 10),
            ("file.phases", "file_size", 512 << 20),
            ("process.call_styles", "rows", 1000),
            ("transfer.file", "size", 5 << 20),
            ("threads.io", "steps", 100_000),
        ] {
            let level = Level::Number(number);
            let found = points(
                id,
                &BTreeMap::from([(axis.to_owned(), level.clone())]),
                &setting,
            );
            assert!(!found.is_empty(), "{id}");
            assert!(
                found.iter().all(|point| point.get(axis) == Some(&level)),
                "{id}"
            );
        }
        let experiments = selection::experiments(&["file.random".to_owned()]).expect("it exists");
        for refused in [
            Level::Number(0),
            Level::Number(1 << 40),
            Level::Number(1000),
        ] {
            let levels = [("chunk_size".to_owned(), refused)];
            assert!(selection::at(&experiments, &levels, &setting).is_err());
        }
    }

    #[test]
    fn an_experiment_is_incomplete_until_each_point_of_the_standard_plan_was_tried() {
        let standard = Setting {
            profile: Profile::Standard,
            ..able()
        };
        let choice = Choice {
            report: Some(Report::D),
            place: None,
        };
        let mut run = reference::ALL[0].run();
        let experiment = experiments::find("threads.lock").expect("it exists");
        let mut record = run.experiments.remove(0);
        let tried = record.points.remove(0);
        record.definition = experiment.definition();
        record.points = (experiment.points(&standard).into_iter())
            .map(|point| PointRecord {
                point,
                ..tried.clone()
            })
            .collect();
        run.experiments = vec![record];
        let is_incomplete = |run: &Run| {
            incomplete(&choice, std::slice::from_ref(run), &standard).contains(&"threads.lock")
        };
        assert!(!is_incomplete(&run));
        // Its time was used up before its turn.
        run.experiments[0].points[3].batches.clear();
        run.experiments[0].points[3].closing = None;
        assert!(is_incomplete(&run));
        run.experiments[0].skipped = Some("not here".into());
        assert!(!is_incomplete(&run));
    }

    #[test]
    fn whole_longer_and_chosen_measurements_of_an_experiment_are_tried_apart() {
        let of = |line: &str| subject(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let whole = of("run file.sum");
        let longer = of("run file.sum --profile standard");
        let chosen = of("run file.sum --profile standard --at threads=3 --at state=warm");
        assert_ne!(whole, longer);
        assert_eq!(longer, ["file.sum", "--profile"]);
        assert_ne!(longer, chosen);
        assert_eq!(chosen, of("run file.sum --profile standard --at threads=4"));
    }

    #[test]
    fn every_reference_that_can_be_compared_has_points_that_can_be_measured() {
        let setting = able();
        for record in reference::ALL.iter().flat_map(|it| it.run().experiments) {
            let id = &record.definition.id;
            if experiments::find(id).is_none() {
                continue;
            }
            for reported in &record.points {
                let levels = reported.point.levels();
                let levels = levels.map(|(axis, level)| (axis.to_owned(), level.clone()));
                let found = points(id, &levels.collect(), &setting);
                assert!(found.contains(&reported.point), "{id}: {}", reported.point);
            }
        }
    }

    #[test]
    fn a_name_that_only_a_longer_profile_plans_is_measured_if_named_or_reported() {
        let setting = Setting {
            profile: Profile::Quick,
            ..able()
        };
        let experiments = selection::experiments(&["process.calls".to_owned()]).expect("it exists");
        let chosen = |levels: &[(&str, Level)]| {
            let levels: Vec<_> = levels
                .iter()
                .map(|(axis, level)| ((*axis).to_owned(), level.clone()))
                .collect();
            let chosen = selection::at(&experiments, &levels, &setting).expect("levels");
            let [one] = <[_; 1]>::try_from(chosen).unwrap_or_else(|_| panic!("one experiment"));
            one
        };
        let [getpid, sync] = ["getpid", "open O_SYNC+close"].map(Level::from);
        // Named, it is measured, also next to one that the profile has.
        let both = [Level::Number(0), Level::Number(3)];
        let named = chosen(&[
            ("call", getpid),
            ("call", sync),
            ("optimisation", both[0].clone()),
            ("optimisation", both[1].clone()),
        ]);
        assert_eq!(named.points(&setting).len(), 4);
        assert_eq!(named.left_out(&setting), Vec::<String>::new());
        // Not named, it is reported.
        let level = chosen(&[("optimisation", both[1].clone())]);
        let left_out = level.left_out(&setting);
        let sync = "call open O_SYNC+close".to_owned();
        assert!(left_out.contains(&sync), "{left_out:?}");
        assert_eq!(left_out.len(), 3);
        // All is there in the profile that plans all.
        let whole = level.left_out(&able());
        assert_eq!(whole, Vec::<String>::new());
    }
}
