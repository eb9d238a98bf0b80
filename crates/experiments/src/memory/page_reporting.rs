//! `memory.page_reporting`: the first touch of memory that the host of a virtual machine took back.

use crate::estimates::{grade, ratio_within};
use crate::prelude::*;
use instrument::statistics::summary::median;
use platform::clock::now_ns;
use platform::memory::{
    Mapping, PageSize, available_bytes, compaction_stalls, page_bytes, reports_free_pages,
};
use std::hint::black_box;

pub(crate) struct PageReporting;

const JUST_USED: Metric = Metric::time("just_used", "first touch of a huge page just used");
const AFTER_IDLING: Metric = Metric::time(
    "after_idling",
    "first touch of a huge page that the host had taken back",
);
const TAKEN_BACK: Metric = Metric::fact(
    "taken_back",
    "share of idle pages that the host had taken back",
    Unit::Share,
);

/// Pages whose median cost is the usual one. Half of 16 pages still lay in a cache of 32 MiB.
const PAGES: usize = 32;
/// A page whose first touch takes this many times as long as that of a page just used was taken back.
/// On a virtual machine the two were fifty times apart, with nothing between.
const SLOWER: f64 = 4.0;
/// Pages taken back that are enough for a process.
const ENOUGH: usize = 4;
/// The pages touched in search of them take at most this part of the available memory,
const SHARE_OF_MEMORY: u64 = 8;
/// and no more than this, in bytes.
const MOST_MEMORY: u64 = 1 << 30;
const LEAST_MEMORY: u64 = 1 << 30;

const DESIGN: Design = Design {
    id: "memory.page_reporting",
    title: "Memory that the host took back",
    question: "What does it cost to touch memory that the host took back from this virtual machine?",
    method: "A virtual machine with free page reporting tells its host which memory is free, \
             seconds after it became free and in pieces of a huge page. The host may take it \
             back. Huge pages are touched one by one, each touch is timed, and each page stays \
             mapped, so that the kernel must hand out another. Just used: 32 pages that were used \
             and given back the moment before; the median. After idling: more pages are touched \
             until 4 are found whose touch takes over 4 times as long as of a page just used. The \
             value is the median of those. At most 1 GiB and an eighth of the available memory \
             are touched. Nothing waits: the memory idled while the run measured other things, or \
             before it began. A process that finds no such page tries again in a later pass. All \
             pages are verified to be huge, and no touch waited for the kernel to move other \
             pages (compaction).",
    source: "common practice",
    axes: &[],
    metrics: &[JUST_USED, AFTER_IDLING, TAKEN_BACK],
};

impl Experiment for PageReporting {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let situation = |arises, reason: &str| Need::Situation {
            arises,
            reason: reason.into(),
        };
        vec![
            situation(
                setting.machine.hypervisor.is_some() && reports_free_pages() == Some(true),
                "this is not a virtual machine that reports free pages to its host",
            ),
            situation(
                setting.machine.huge_page_bytes.is_some(),
                "this system has no huge pages",
            ),
            Need::Memory(Bytes(LEAST_MEMORY)),
        ]
    }

    fn points(&self, _setting: &Setting) -> Vec<Point> {
        vec![Point::new()]
    }

    fn counterpart(&self, _point: &Point, _metric: &str, _other: System) -> Option<Counterpart> {
        Some(Counterpart::Missing(
            "each kernel gives free memory back to its host in its own way",
        ))
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Processes)
    }

    fn measure(&self, _point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let missing = || unsupported("this machine has no huge pages");
        let page = page_bytes(PageSize::Huge).ok_or_else(missing)? as usize;
        // The pages just used stay mapped, so that the search does not meet them again.
        let just_used = Touched::just_used(page)?;
        let usual_ns = median(&just_used.times_ns).expect("pages were touched");
        let idle = Touched::until_taken_back(page, usual_ns)?;
        let times_ns = idle.times_ns.iter().copied();
        let taken_back: Vec<f64> = times_ns
            .filter(|it| was_taken_back(*it, usual_ns))
            .collect();
        let slow_ns = median(&taken_back).ok_or_else(|| {
            let looked = Bytes((idle.times_ns.len() * page) as u64);
            MeasureError::Disturbed(format!(
                "the host had taken back nothing of the first {looked:.3} of free memory, which other \
                 programs or experiments used seconds ago"
            ))
        })?;
        let share = taken_back.len() as f64 / idle.times_ns.len() as f64;
        sampler.value(JUST_USED, usual_ns);
        sampler.value(AFTER_IDLING, slow_ns);
        sampler.value(TAKEN_BACK, share);
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        cost(results).into_iter().collect()
    }
}

/// Huge pages that were touched one by one, and the time of each touch in ns.
struct Touched {
    times_ns: Vec<f64>,
    _memory: Mapping,
}

impl Touched {
    /// Pages that were used and given back the moment before.
    fn just_used(page: usize) -> Result<Self, MeasureError> {
        Mapping::anonymous(PAGES * page, PageSize::Huge)?.populate()?;
        Self::first(PAGES, page, |_| false)
    }

    /// Pages until enough of them were taken back.
    fn until_taken_back(page: usize, usual_ns: f64) -> Result<Self, MeasureError> {
        let available = available_bytes().unwrap_or(LEAST_MEMORY);
        let most = (available / SHARE_OF_MEMORY).min(MOST_MEMORY) as usize / page;
        let mut taken_back = 0;
        Self::first(most.max(1), page, |spent_ns| {
            taken_back += usize::from(was_taken_back(spent_ns, usual_ns));
            taken_back == ENOUGH
        })
    }

    /// At most `most` pages, until `is_enough` holds for the last.
    fn first(
        most: usize,
        page: usize,
        mut is_enough: impl FnMut(f64) -> bool,
    ) -> Result<Self, MeasureError> {
        let mut memory = Mapping::anonymous(most * page, PageSize::Huge)?;
        let stalls = compaction_stalls();
        let mut times_ns = Vec::with_capacity(most);
        for page in memory.as_mut_slice().chunks_exact_mut(page) {
            let begin_ns = now_ns();
            page[0] = black_box(1);
            let spent_ns = now_ns().saturating_sub(begin_ns) as f64;
            times_ns.push(spent_ns);
            if is_enough(spent_ns) {
                break;
            }
        }
        if compaction_stalls() != stalls {
            return Err(MeasureError::Disturbed(
                "memory is fragmented: the kernel moved pages to make huge ones".into(),
            ));
        }
        if memory.huge_bytes()? < (times_ns.len() * page) as u64 {
            return Err(MeasureError::Disturbed(
                "the system gave too few huge pages: memory may be too fragmented".into(),
            ));
        }
        Ok(Self {
            times_ns,
            _memory: memory,
        })
    }
}

/// True if the host had taken back a page whose touch took `spent_ns`, where a page just used takes
/// `usual_ns`.
fn was_taken_back(spent_ns: f64, usual_ns: f64) -> bool {
    spent_ns > SLOWER * usual_ns
}

fn cost(results: &Results) -> Option<Finding> {
    let cost = |metric| results.sound(metric, &[]);
    let (used, taken_back) = (cost(JUST_USED)?, cost(AFTER_IDLING)?);
    let ratio = ratio_within(taken_back, used)?;
    let huge = results.machine.huge_page_bytes?;
    let said = sentence!(
        "Memory that the host took back from this virtual machine costs {taken_back} for each {huge} \
         at the next touch, {ratio} as much as memory just used. Keep memory, or touch it before it is \
         needed (`MAP_POPULATE`); in the hypervisor, `free-page-reporting=off` prevents it.",
        huge = Bytes(huge),
    );
    let finding = Finding::new("taken_back", said).with_number("just_used", used.quantity());
    Some(finding.graded(grade(&ratio, 1.0)).weighing(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{measure, setting, values};
    use std::path::Path;

    #[test]
    fn pages_after_idling_are_slow_or_the_point_says_why_not() {
        match measure(&PageReporting, &Point::new(), Path::new("/")) {
            Ok((samples, _)) => {
                let first = |metric| values(&samples, metric)[0];
                assert!(first(AFTER_IDLING) > 4.0 * first(JUST_USED));
                assert!(first(TAKEN_BACK) > 0.0);
            }
            Err(error) => {
                let reason = error.to_string();
                let is_known = reason.contains("huge") || reason.contains("taken back nothing");
                assert!(is_known, "{reason}");
            }
        }
    }

    #[test]
    fn the_question_does_not_arise_on_bare_metal_or_without_huge_pages() {
        let mut bare = setting(Profile::Quick);
        bare.machine.huge_page_bytes = None;
        let needs = PageReporting.needs(&bare);
        let missing = [0, 1].map(|need: usize| needs[need].missing(&bare).expect("it is"));
        assert!(
            missing[0].contains("is not a virtual machine"),
            "{missing:?}"
        );
        assert_eq!(missing[1], "this system has no huge pages");
        assert!(needs[0].is_left_out(&bare));
    }
}
