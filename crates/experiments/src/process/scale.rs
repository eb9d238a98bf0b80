//! `process.scale`: the same system call on one, several and all processors at once.

use crate::estimates::ratio;
use crate::figures::{curves, linear, lines_of, logarithmic};
use crate::prelude::*;
use crate::together::{cpus_for, have_cores, on_cpus, several_cpus, usable_cpus};
use platform::call::{self, CallPath};
use platform::file::{OpenMode, create};
use platform::memory::{Advice, Mapping, PageSize, page_bytes};
use platform::shared::wake_one;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::AtomicU32;

pub(crate) struct Scale;

const THREADS: AxisOf<Count> = AxisOf::new("threads", "threads");

/// Even a call that does nothing takes half a nanosecond; no machine has more processors than 4096.
const MOST_PER_SECOND: f64 = 2e9 * 4096.0;
/// Pages that a thread touches before it gives them back all at once.
const PAGES: usize = 256;
/// A call that reaches less than this part of linear scaling no longer scales, in percent.
const LEAST_PERCENT: u32 = 75;

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Getpid,
    #[choice("open+close")]
    Open,
    PageFault,
    #[choice("futex wake")]
    Wake,
    #[choice("NtQueryInformationProcess")]
    QueryProcess,
    #[choice("CreateFile+CloseHandle")]
    CreateFile,
}

const fn rate(name: &'static str, title: &'static str) -> Metric {
    Metric::rate(name, title).bounded(MOST_PER_SECOND)
}

impl Call {
    /// The calls of `system`. Without a thread that waits, a wake-up on Windows makes no system call.
    fn of(system: System) -> &'static [Self] {
        match system {
            System::Windows => &[Self::QueryProcess, Self::CreateFile, Self::PageFault],
            System::Linux | System::Other => {
                &[Self::Getpid, Self::Open, Self::PageFault, Self::Wake]
            }
        }
    }

    /// The rate of all threads together.
    const fn metric(self) -> Metric {
        match self {
            Self::Getpid => rate("getpid", "getpid"),
            Self::Open => rate("open_close", "open+close"),
            Self::PageFault => rate("page_fault", "page fault"),
            Self::Wake => rate("futex_wake", "futex wake"),
            Self::QueryProcess => rate("query_process", "NtQueryInformationProcess"),
            Self::CreateFile => rate("create_file", "CreateFile+CloseHandle"),
        }
    }
}

const DESIGN: Design = Design {
    id: "process.scale",
    title: "Calls on all processors",
    question: "Do system calls get faster by more threads, or do they wait for each other in the \
               kernel?",
    method: formatcp!(
        "Threads of one process, each pinned to its own processor, on an unused core as long as there \
         is one, do the same call over and over, all from the same moment on, and none uses what \
         belongs to another. The rate counts the calls of all threads, from the common start to the end of the last. getpid: a system \
         call that touches nothing shared. open+close: each thread opens its own file, all in \
         one directory; the table of open files is the process's. Page fault: each thread writes to \
         a new page of its own mapping; after {PAGES} pages it gives them back (madvise), \
         which counts too. futex wake: a wakeup on a word of the thread's own on which nobody \
         waits. On Windows: NtQueryInformationProcess, CreateFile and CloseHandle, and pages that are \
         given back by VirtualFree. Linear scaling is the rate of one thread times the number of threads; a call that \
         reaches less than {LEAST_PERCENT} % of it, with no more threads than cores, no longer scales."
    ),
    source: "common practice (will-it-scale)",
    axes: &[THREADS.axis()],
    metrics: &[
        Call::Getpid.metric(),
        Call::Open.metric(),
        Call::PageFault.metric(),
        Call::Wake.metric(),
        Call::QueryProcess.metric(),
        Call::CreateFile.metric(),
    ],
};

impl Experiment for Scale {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        vec![several_cpus(setting), Need::Space(Bytes(4096))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let counts = counts(usable_cpus(setting).len() as u64).into_iter();
        [Point::new()].by(THREADS, counts.map(Count))
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Calls)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let threads = point.level(THREADS)?.0 as usize;
        let cpus = cpus_for(threads)?;
        let unknown = || unsupported("the system does not report its page size");
        let page = page_bytes(PageSize::Base).ok_or_else(unknown)? as usize;
        let scratch = sampler.scratch().to_owned();
        let own = |cpu| PerThread::new(&scratch, cpu, page);
        let work = |own: &mut PerThread, (call, times): (Call, u64)| {
            (0..times).try_for_each(|_| own.call(call))
        };
        on_cpus(&cpus, own, work, |pass| {
            Call::of(System::here()).iter().try_for_each(|call| {
                let run = |times| pass((*call, times));
                sampler.repeat(call.metric(), threads as f64, run)
            })
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        first(results).into_iter().collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let calls = Call::ALL.iter().map(|call| (call.metric(), call.name()));
        let axes = (
            linear("threads", Unit::Count),
            logarithmic("calls of all threads", Unit::OperationsPerSecond),
        );
        let title = "Calls by number of threads";
        let lines = lines_of(results, THREADS, calls);
        vec![curves("rate", title, axes, lines)]
    }
}

/// Powers of two, and all processors.
fn counts(most: u64) -> Vec<u64> {
    let is_wanted = |count: &u64| count.is_power_of_two() || *count == most;
    (1..=most).filter(is_wanted).collect()
}

/// What one thread uses.
struct PerThread {
    path: CallPath,
    pages: Mapping,
    page_bytes: usize,
    touched: usize,
    word: AtomicU32,
}

impl PerThread {
    fn new(scratch: &Path, cpu: usize, page_bytes: usize) -> Result<Self, MeasureError> {
        let path = scratch.join(format!("process.scale-{cpu}"));
        create(&path, OpenMode::Plain)?;
        Ok(Self {
            path: CallPath::new(&path)?,
            pages: Mapping::anonymous(PAGES * page_bytes, PageSize::Base)?,
            page_bytes,
            touched: 0,
            word: AtomicU32::new(0),
        })
    }

    fn call(&mut self, call: Call) -> Result<(), MeasureError> {
        match call {
            Call::Getpid | Call::QueryProcess => Ok(call::getpid_syscall().map(drop)?),
            Call::Open | Call::CreateFile => Ok(call::open_close(&self.path)?),
            Call::PageFault => self.touch(),
            Call::Wake => Ok(wake_one(&self.word)?),
        }
    }

    fn touch(&mut self) -> Result<(), MeasureError> {
        if self.touched == PAGES {
            self.pages.advise(Advice::DontNeed)?;
            self.touched = 0;
        }
        self.pages.as_mut_slice()[self.touched * self.page_bytes] = black_box(1);
        self.touched += 1;
        Ok(())
    }
}

/// The first number of threads at which a call no longer scales, with its share of linear scaling there. Threads that
/// share a core are slower whatever they call.
fn stop(results: &Results, call: Call) -> Option<(Count, Quantity)> {
    let curve = results.along(THREADS, call.metric(), &[]);
    let [(Count(1), one), further @ ..] = curve.as_slice() else {
        return None;
    };
    let on_cores = (further.iter()).filter(|(threads, _)| have_cores(results.machine, *threads));
    let mut shares = on_cores.filter_map(|(threads, rate)| {
        let share = ratio(rate, one)?.times(1.0 / threads.0 as f64);
        Some((*threads, share.in_unit(Unit::Share)))
    });
    shares.find(|(_, share)| 100.0 * share.extent().high < f64::from(LEAST_PERCENT))
}

/// The call that stops scaling at the fewest threads; of several, the one that reaches least there.
fn first(results: &Results) -> Option<Finding> {
    let stopped = Call::ALL
        .iter()
        .filter_map(|call| Some((call, stop(results, *call)?)));
    let first = stopped.min_by(|(_, (one, share)), (_, (other, other_share))| {
        let by_share = share.value.total_cmp(&other_share.value);
        one.cmp(other).then(by_share)
    });
    let (call, (threads, share)) = first?;
    let said = sentence!(
        "{call} is the first call that stops scaling: {threads} threads reach {share} of {threads} times \
         the rate of one, although no thread uses another's data.",
        call = call.name(),
    );
    Some(Finding::new("first", said).weighing(0.75))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_go_in_powers_of_two_up_to_all_processors() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(12), [1, 2, 4, 8, 12]);
    }
}
