//! `memory.allocate`: the cost of `malloc` and `free`.

mod crew;
pub(crate) mod findings;

use super::{KIB, MIB, SHARE_OF_MEMORY};
use crate::planning::powers;
use crate::prelude::*;
use crate::together::{cpus_for, on_cpus};
use crew::{Job, Mailbox, Member, Work};
use instrument::point::{AxisKind, Level, LevelOf};
use platform::allocator::{self, Library};
use platform::memory::{available_bytes, footprint_bytes};
use platform::placement::{parent_cpus, pin_to};
use platform::usage::Usage;
use std::cell::RefCell;
use std::fmt;
use std::path::Path;

pub(crate) struct Allocate;

const BLOCK_SIZE: AxisOf<Bytes> = AxisOf::new("block_size", "block");
const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");
const FREED_BY: AxisOf<FreedBy> = AxisOf::new("freed_by", "freed by");
const ALLOCATOR: AxisOf<Allocator> = AxisOf::new("allocator", "allocator");
const COST: Metric = Metric::time("cost", "malloc and free");
const FAULTS: Metric = Metric::fact("faults", "page faults a block", Unit::Count);
const TAKEN: Metric = Metric::fact("taken", "memory taken", Unit::Bytes);
const HELD: Metric = Metric::fact("held", "memory held at the end", Unit::Bytes);

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum FreedBy {
    SameThread,
    AnotherThread,
}

/// The allocator that a user chose.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Allocator {
    CLibrary,
    /// That of a preloaded library: its path, or a name that the system searches.
    Preloaded(String),
}

const C_LIBRARY: &str = "C library";

impl Allocator {
    /// The name without the folders of a path.
    fn name(&self) -> &str {
        match self {
            Self::CLibrary => C_LIBRARY,
            Self::Preloaded(library) => library.rsplit('/').next().unwrap_or(library),
        }
    }
}

impl fmt::Display for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CLibrary => C_LIBRARY,
            Self::Preloaded(library) => library,
        })
    }
}

impl LevelOf for Allocator {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.to_string())
    }

    fn of(level: &Level) -> Option<Self> {
        match level {
            Level::Choice(name) if name == C_LIBRARY => Some(Self::CLibrary),
            Level::Choice(name) => Some(Self::Preloaded(name.clone())),
            Level::Number(_) => None,
        }
    }
}

/// The largest block that users may choose.
const LARGEST: u64 = 64 * MIB;
/// Room for one thread with planned blocks.
const LEAST_MEMORY: u64 = 32 * MIB * SHARE_OF_MEMORY;

const DESIGN: Design = Design {
    id: "memory.allocate",
    title: "Allocating memory",
    question: "What do malloc and free cost, with one thread and with many, and does the process hold \
               the memory that it freed?",
    method: formatcp!(
        "A thread allocates a burst of {} blocks with malloc, or as many as make {} MiB. It writes one \
         byte in each 4 KiB of a block when it gets it, and frees the blocks in the order of their \
         allocation. The time is that of n bursts over the blocks of one thread, less the fixed cost \
         that fewer bursts show. Several threads: each is pinned to its own processor, on an \
         unused core as long as there is one, and all begin at the same moment. \
         Another thread: each thread passes its burst to the next one, which frees \
         it; waiting for the other is part of the time. Page faults are counted in further bursts. Then \
         each thread allocates {} MiB in blocks and frees them in the same way, twice. Memory held: \
         growth of the process, page tables included, after all were freed the first time, over the \
         number of threads, which still exist. Memory taken: the same while all blocks exist, the \
         second time. Both contain less than 1 MiB of program code that was used for the first time. The \
         allocator is that of the C library. With `--at allocator=LIBRARY` workers preload a library (LD_PRELOAD), \
         and the malloc that they call must be part of it. A remark has the name of the library that \
         malloc belongs to, and the SHA-256 of its file.",
        crew::BURST,
        crew::BURST_BYTES >> 20,
        crew::HOARD_BYTES >> 20
    ),
    source: "common practice, after larson (Larson and Krishnan, Memory allocation for long-running \
             server applications, 1998) and Hoard (Berger and others, 2000)",
    axes: &[
        BLOCK_SIZE.open(1, LARGEST),
        THREADS.open(1, 999),
        FREED_BY.axis(),
        ALLOCATOR.only_if_named(&[C_LIBRARY]).or_libraries(),
    ],
    metrics: &[COST, FAULTS, TAKEN, HELD],
};

impl Experiment for Allocate {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(LEAST_MEMORY))]
    }

    /// One thread, and one on each processor.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let sizes = match setting.profile {
            Profile::Quick => vec![16, KIB, 64 * KIB, MIB],
            Profile::Standard => powers(16, MIB).step_by(4).collect(),
            Profile::Thorough => powers(16, MIB).step_by(2).collect(),
        };
        let topology = &setting.machine.topology;
        let all = topology.threads.unwrap_or(1) as u64;
        // Threads of one core slow each other down whatever they do.
        let cores = topology.cores.map_or(all, |cores| cores as u64);
        let mut crews = vec![(1, FreedBy::SameThread)];
        if (2..all).contains(&cores) {
            crews.push((cores, FreedBy::SameThread));
        }
        if all > 1 {
            crews.extend(FreedBy::ALL.iter().map(|freed_by| (all, *freed_by)));
        }
        let blocks = [Point::new()].by(BLOCK_SIZE, sizes.into_iter().map(Bytes));
        let with_crews = blocks.iter().flat_map(|block| {
            crews.iter().map(|(threads, freed_by)| {
                let point = block.clone().at(THREADS, Count(*threads));
                point.at(FREED_BY, *freed_by)
            })
        });
        with_crews.collect()
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        let Bytes(size) = point.level(BLOCK_SIZE).ok()?;
        Some(if size >= SERVED_BY_SYSTEM {
            Component::Processes
        } else if point.level(THREADS) == Ok(ONE) {
            Component::Core
        } else {
            Component::Threads
        })
    }

    fn counterpart(&self, point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(Counterpart::Like {
            point: point.clone(),
            difference: "The C library of each system has its own allocator.",
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let library = allocator::library();
        check(point.level(ALLOCATOR).ok().as_ref(), &library)?;
        let Count(threads) = point.level(THREADS)?;
        let passes_on = point.level(FREED_BY)? == FreedBy::AnotherThread;
        if threads < 2 && passes_on {
            let reason = "with one thread, no other thread frees its blocks";
            return Err(MeasureError::Unsupported(reason.into()));
        }
        let cpus = cpus_for(threads as usize)?;
        let work = Work::on_blocks_of(point.level(BLOCK_SIZE)?.0 as usize);
        check_room(threads * work.most_bytes())?;
        if let [cpu] = cpus[..] {
            pin_to(&[cpu])?;
            let member = RefCell::new(Member::new(work, None));
            time(sampler, work, 1, &|job| member.borrow_mut().work(job))?;
        } else {
            // An allocator may count the processors that a new thread has, which are usually all.
            pin_to(&parent_cpus()?)?;
            let mailboxes: Vec<Mailbox> = cpus.iter().map(|_| Mailbox::default()).collect();
            let prepare = |cpu| {
                let own = cpus.iter().position(|it| *it == cpu).unwrap_or(0);
                let ends = [&mailboxes[(own + 1) % cpus.len()], &mailboxes[own]];
                Ok(Member::new(work, passes_on.then_some(ends)))
            };
            on_cpus(&cpus, prepare, Member::work, |pass| {
                pin_to(&cpus[..1])?;
                time(sampler, work, threads, pass)
            })?;
        }
        // At the end: reading the file allocates memory.
        if let Ok(library) = library {
            let (name, digest) = (file_name(&library.path), library.digest()?);
            sampler.remark(format!("malloc is that of {name}, SHA-256 {digest}"));
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

const ONE: Count = Count(1);
/// Allocators ask the system for the memory of blocks from about this size on, so its page faults are most of the cost.
const SERVED_BY_SYSTEM: u64 = 64 * KIB;
/// Bursts in which page faults are counted.
const COUNTED: u64 = 16;

/// Makes sure that `malloc` is that of the chosen allocator.
fn check(
    chosen: Option<&Allocator>,
    found: &platform::Result<Library>,
) -> Result<(), MeasureError> {
    let reason = match (chosen, found) {
        (None, _) | (Some(Allocator::CLibrary), Err(_)) => return Ok(()),
        (Some(Allocator::Preloaded(_)), Err(error)) => error.to_string(),
        (Some(chosen), Ok(library)) => {
            let name = file_name(&library.path);
            let is_chosen = match chosen {
                Allocator::CLibrary => library.is_c_library,
                Allocator::Preloaded(_) => chosen.name() == name,
            };
            if is_chosen {
                return Ok(());
            }
            format!("malloc is that of {name}, not of {chosen}, which was not found or has none")
        }
    };
    Err(MeasureError::Unsupported(reason))
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Refuses blocks that would take more than the usual share of the memory.
fn check_room(bytes: u64) -> Result<(), MeasureError> {
    match available_bytes() {
        Some(available) if bytes > available / SHARE_OF_MEMORY => {
            Err(MeasureError::Unsupported(format!(
                "the blocks take {:.3}, and {:.3} of memory are available",
                Bytes(bytes),
                Bytes(available)
            )))
        }
        _ => Ok(()),
    }
}

/// Times bursts by `threads` threads, which do a job when `pass` is called, and reads what they leave.
fn time(
    sampler: &mut Sampler<'_>,
    work: Work,
    threads: u64,
    pass: &dyn Fn(Job) -> Result<(), MeasureError>,
) -> Result<(), MeasureError> {
    let before = footprint_bytes();
    sampler.repeat(COST, work.burst as f64, |bursts| pass(Job::Bursts(bursts)))?;
    let usage = Usage::of_process()?;
    pass(Job::Bursts(COUNTED))?;
    let faults = Usage::of_process()?.since(&usage).minor_faults;
    let blocks = threads * COUNTED * work.burst as u64;
    pass(Job::Fill)?;
    pass(Job::Empty)?;
    let empty = footprint_bytes();
    // Not in the same turn: what is allocated to read the size of the process is above the blocks then, and may
    // keep the allocator from returning them.
    pass(Job::Fill)?;
    let full = footprint_bytes();
    pass(Job::Empty)?;
    sampler.value(FAULTS, faults as f64 / blocks as f64);
    if let (Some(before), Some(full), Some(empty)) = (before, full, empty) {
        let grown = |bytes: u64| bytes.saturating_sub(before) as f64 / threads as f64;
        sampler.value(TAKEN, grown(full));
        sampler.value(HELD, grown(empty));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::setting;
    use instrument::at_levels::AtLevels;

    #[test]
    fn blocks_are_freed_by_another_thread_where_there_are_several() {
        let mut setting = setting(Profile::Quick);
        assert_eq!(Allocate.points(&setting).len(), 4);
        setting.machine.topology.threads = Some(8);
        for (cores, crews) in [
            (8, &[(1, "same"), (8, "same"), (8, "another")][..]),
            (4, &[(1, "same"), (4, "same"), (8, "same"), (8, "another")]),
            (1, &[(1, "same"), (8, "same"), (8, "another")]),
        ] {
            setting.machine.topology.cores = Some(cores);
            let points = Allocate.points(&setting);
            assert_eq!(points.len(), 4 * crews.len());
            for (point, (threads, by)) in points.iter().zip(crews) {
                let shown = format!("block_size=16, threads={threads}, freed_by={by} thread");
                assert_eq!(point.to_string(), shown);
            }
        }
    }

    #[test]
    fn libraries_that_exist_or_that_the_system_may_find_are_chosen_and_preloaded() {
        let setting = setting(Profile::Quick);
        let existing = std::env::current_exe().expect("this program");
        let existing = existing.to_str().expect("a path in UTF-8");
        for (name, preloaded) in [
            (C_LIBRARY, Some(None)),
            (existing, Some(Some(existing))),
            ("libjemalloc.so.2", Some(Some("libjemalloc.so.2"))),
            ("/no/library.so", None),
            ("jemalloc", None),
        ] {
            let chosen = [("allocator".to_owned(), Level::from(name))];
            let points = AtLevels::new(&Allocate, &chosen, &setting).map(|it| it.points(&setting));
            let found = points.map(|points| Allocate.preload(&points[0]));
            let expected = preloaded.map(|library| library.map(str::to_owned));
            assert_eq!(found.ok(), expected, "{name}");
        }
        assert_eq!(Allocate.preload(&Allocate.points(&setting)[0]), None);
    }

    #[test]
    fn malloc_must_be_that_of_the_chosen_allocator() {
        let library = |path: &str, is_c_library| {
            Ok(Library {
                path: path.into(),
                is_c_library,
            })
        };
        let preloaded = |name: &str| Some(Allocator::Preloaded(name.into()));
        let by_c = library("/lib/libc.so.6", true);
        let by_other = library("/usr/lib/libjemalloc.so.2", false);
        let missing = Err(platform::Error::NotSupported("replacing malloc"));
        let c_library = || Some(Allocator::CLibrary);
        for (chosen, found, refusal) in [
            (None, &by_other, None),
            (None, &missing, None),
            (c_library(), &by_c, None),
            (c_library(), &missing, None),
            (c_library(), &by_other, Some("is that of libjemalloc.so.2")),
            (preloaded("libjemalloc.so.2"), &by_other, None),
            (preloaded("/opt/libjemalloc.so.2"), &by_other, None),
            (preloaded("libno.so.2"), &by_c, Some("is that of libc.so.6")),
            (
                preloaded("libno.so.2"),
                &missing,
                Some("not supported here"),
            ),
        ] {
            let checked = check(chosen.as_ref(), found).map_err(|error| error.to_string());
            match refusal {
                None => assert_eq!(checked, Ok(()), "{chosen:?}"),
                Some(words) => {
                    let error = checked.expect_err(words);
                    assert!(error.contains(words), "{error}");
                }
            }
        }
    }

    #[test]
    fn more_blocks_than_memory_are_refused() {
        check_room(0).expect("nothing fits");
        let available = available_bytes().expect("this system reports it");
        check_room(available).expect_err("that is all memory");
    }
}
