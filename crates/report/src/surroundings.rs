//! The conditions of a run.

use crate::lists::{and, capitalised, joined};
use instrument::quantity::{Unit, counted, significant};
use instrument::run_clock::{CoreClock, RunClock};
use instrument::sample::{Batch, Disturbance};
use record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Smaller shares are not worth a sentence.
const NOTABLE: f64 = 0.01;
/// From this share of a run on, its first line names what disturbed it.
const FIRST: f64 = 0.2;
/// Up to this much of a processor, other programs are the system's own.
const USUAL_LOAD: f64 = 0.1;
/// A larger share of disturbed timings may move values by more than their intervals allow.
pub(crate) const MOST_DISTURBED: f64 = 0.2;

/// A condition of a run that is measured.
pub(crate) struct Condition {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&Surroundings) -> Option<f64>,
    pub(crate) show: fn(f64) -> String,
    /// Less of it, and a smaller difference between runs, explains nothing.
    pub(crate) notable: f64,
    /// More of it, and a larger difference between runs, may move values by more than their intervals allow; `None` for
    /// what the values are corrected for.
    pub(crate) most: Option<f64>,
}

const LOAD: Condition = Condition {
    name: "during the run: processors kept busy by other programs",
    of: |it| it.others,
    show: |share| significant(share, 2),
    notable: USUAL_LOAD,
    most: Some(0.2),
};
const STOLEN: Condition = Condition {
    name: "during the run: time given to others by the hypervisor",
    of: |it| it.stolen,
    show: percent,
    notable: NOTABLE,
    most: Some(0.02),
};
// It is 0.01 % at most in the runs of `reference/runs`, even next to a compiler: 1 % is unusual.
const PRESSURE: Condition = Condition {
    name: "before the run: time in which programs waited for memory",
    of: |it| it.memory_pressure,
    show: percent,
    notable: NOTABLE,
    most: Some(0.1),
};
const DISTURBED: Condition = Condition {
    name: "during the run: share of the timings that something disturbed",
    of: Surroundings::disturbed,
    show: percent,
    notable: 0.1,
    most: Some(MOST_DISTURBED),
};
/// Another clock may be what was to be compared, as between two machines or two governors.
pub(crate) const CLOCK: Condition = Condition {
    name: "during the run: highest clock",
    of: Surroundings::highest_hz,
    show: |hz| format!("{:.2} GHz", hz / 1e9),
    notable: 1e8,
    most: None,
};
/// All of them.
pub(crate) const CONDITIONS: [Condition; 5] = [LOAD, DISTURBED, STOLEN, PRESSURE, CLOCK];

/// A state of the whole run that slows programs down, and its description.
type State = (fn(&Surroundings) -> Option<bool>, &'static str);
pub(crate) const STATES: [State; 2] = [
    (|it| it.is_traced, "another program traced oscope"),
    (|it| it.is_on_battery, "the machine ran on its battery"),
];
/// Containers have one or two seccomp filters.
const USUAL_FILTERS: u32 = 2;

/// The conditions of a run: what it ran under, apart from its machine and its system, and what disturbed
/// it. A fact that is not known is `None`, which is not "none".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Surroundings {
    /// The clock, and how much of the time something shared the core; `None` in runs without reference loops.
    pub clock: Option<RunClock>,
    /// CPU time of other programs over wall time: 1 is one processor in full use.
    pub others: Option<f64>,
    /// CPU time that the hypervisor gave to other virtual machines over wall time.
    pub stolen: Option<f64>,
    /// The share of the last minute before the run in which some program waited for memory.
    pub memory_pressure: Option<f64>,
    /// True if another program traced oscope.
    pub is_traced: Option<bool>,
    /// Number of seccomp filters through which each system call of oscope passed.
    pub seccomp_filters: Option<u32>,
    /// CPU time over wall time that control groups allowed; `None` if they allowed all processors.
    pub allowed_processors: Option<f64>,
    /// Memory that control groups allowed, in bytes; `None` if they allowed all of it.
    pub allowed_memory_bytes: Option<u64>,
    /// True if the machine ran on its battery.
    pub is_on_battery: Option<bool>,
    /// The hypervisor, if the machine is known to be virtual.
    pub hypervisor: Option<String>,
}

/// A clause on a condition that is worth reading, and true if that may move values by more than their intervals
/// allow: the first line names it.
type Notable = (String, bool);

impl Surroundings {
    /// The conditions of `run`.
    pub fn of(run: &Run) -> Self {
        let points = run.measured().flat_map(|record| &record.points);
        let batches: Vec<&Batch> = points.flat_map(|point| &point.batches).collect();
        let environment = &run.environment;
        let processors = run.machine.topology.threads.map(|threads| threads as f64);
        let memory_bytes = run.machine.memory_bytes;
        Self {
            clock: RunClock::of(&batches, &run.machine),
            others: share(&batches, |around| Some(around.others_ns? as f64))
                .filter(|others| is_plausible(*others)),
            stolen: share(&batches, |around| Some(around.stolen_ns? as f64)),
            memory_pressure: environment.memory_pressure,
            is_traced: environment.is_traced,
            seccomp_filters: environment.seccomp_filters,
            allowed_processors: (environment.cgroup.cpus)
                .filter(|allowed| processors.is_none_or(|all| *allowed < all)),
            allowed_memory_bytes: (environment.cgroup.memory_bytes)
                .filter(|allowed| memory_bytes.is_none_or(|all| *allowed < all)),
            is_on_battery: environment.is_on_battery,
            hypervisor: run.machine.hypervisor.clone(),
        }
    }

    /// A line on the clock for readers; `None` in runs without reference loops.
    pub fn clock_text(&self) -> Option<String> {
        self.clock.as_ref().map(RunClock::text)
    }

    /// The highest clock that the run sustained, in Hz; `None` if it is not known.
    pub fn highest_hz(&self) -> Option<f64> {
        let levels = self.cores().iter().filter_map(|core| core.levels.first());
        levels.filter_map(|level| level.hz).reduce(f64::max)
    }

    /// The sentence that leads a summary; `None` if nothing was found that may move values by more than
    /// their intervals allow.
    pub fn first(&self) -> Option<String> {
        let notable = self.notable().into_iter();
        let named = notable.filter_map(|(clause, matters)| matters.then_some(clause));
        let named: Vec<String> = named.collect();
        // A run at the lowest clock alone would give these times.
        let expected = (self.low_clock())
            .filter(|(share, _)| *share > FIRST)
            .map(|(_, longer)| format!(": expect the next run within ±{}", percent(longer)))
            .unwrap_or_default();
        (!named.is_empty()).then(|| format!("During this run, {}{expected}.", and(&named)))
    }

    /// True if the conditions may have moved all values by more than their intervals allow. What shares the core, or
    /// changes its clock, is known for each value and does not count.
    pub(crate) fn are_disturbed(&self) -> bool {
        STATES.iter().any(|(of, _)| of(self) == Some(true))
            || [LOAD, STOLEN, PRESSURE].iter().any(|it| it.is_beyond(self))
            || self.allowed_processors.is_some_and(|allowed| allowed < 1.0)
    }

    /// Sentences on what is notable and not in the first line; `None` if there is nothing.
    pub fn text(&self) -> Option<String> {
        let notable = self.notable().into_iter();
        let further = notable.filter(|(_, matters)| !matters);
        let sentences = further.map(|(clause, _)| format!("{}.", capitalised(&clause)));
        Some(joined(" ", sentences)).filter(|text| !text.is_empty())
    }

    /// The most important first.
    fn notable(&self) -> Vec<Notable> {
        let [traced, on_battery] = STATES;
        let state = |(of, clause): State| of(self)?.then(|| (clause.to_owned(), true));
        let known = [
            state(traced),
            LOAD.clause(self, |others| {
                format!("other programs kept {} busy", processors(others))
            }),
            STOLEN.clause(self, |stolen| {
                let share = percent(stolen);
                format!("the hypervisor gave {share} of the time to others")
            }),
            first(self.most(|core| core.shared), |share| {
                format!("something shared the core for {share} of the time")
            }),
            first(self.low_clock().map(|(share, _)| share), |share| {
                format!("the clock was low for {share} of the time")
            }),
            // Such timings do not show the state of the core.
            first(self.most(|core| core.unknown), |share| {
                format!(
                    "timings were interrupted, or the clock changed in them, for {share} of the time"
                )
            }),
            PRESSURE.clause(self, |share| {
                let share = percent(share);
                format!("programs waited for memory during {share} of the minute before")
            }),
            state(on_battery),
            self.allowed_processors.map(|allowed| {
                let clause = format!("a control group allowed {}", processors(allowed));
                (clause, allowed < 1.0)
            }),
            self.allowed_memory_bytes.map(|allowed| {
                let allowed = Unit::Bytes.show(allowed as f64, 3);
                let clause = format!("a control group allowed {allowed} of memory");
                (clause, false)
            }),
            (self.seccomp_filters)
                .filter(|filters| *filters > USUAL_FILTERS)
                .map(|filters| {
                    let clause = format!("each system call passed {filters} seccomp filters");
                    (clause, false)
                }),
        ];
        known.into_iter().flatten().collect()
    }

    fn cores(&self) -> &[CoreClock] {
        self.clock.as_ref().map_or(&[], |clock| &clock.cores)
    }

    /// The share of the time in which something shared the core, or the conditions changed during a timing;
    /// `None` if nothing is known of it.
    pub(crate) fn disturbed(&self) -> Option<f64> {
        self.most(|core| core.unknown + (1.0 - core.unknown) * core.shared)
    }

    /// The largest share of the time of any type of core.
    fn most(&self, share: impl Fn(&CoreClock) -> f64) -> Option<f64> {
        self.cores().iter().map(share).reduce(f64::max)
    }

    /// The share of the time below the highest level of the clock, and how much longer work of the core
    /// takes at the lowest: 0.14 for 14 %.
    fn low_clock(&self) -> Option<(f64, f64)> {
        let of_core = |core: &CoreClock| match &core.levels[..] {
            [highest, lower @ .., lowest] => {
                let lower: f64 = lower.iter().map(|level| level.share).sum();
                let longer = highest.relative / lowest.relative - 1.0;
                Some((lower + lowest.share, longer))
            }
            _ => None,
        };
        let low = self.cores().iter().filter_map(of_core);
        low.max_by(|one, other| one.0.total_cmp(&other.0))
    }
}

impl Condition {
    fn is_beyond(&self, around: &Surroundings) -> bool {
        let (found, most) = ((self.of)(around), self.most);
        found.zip(most).is_some_and(|(found, most)| found > most)
    }

    /// The clause on it, if there is more than is usual.
    fn clause(&self, around: &Surroundings, text: impl Fn(f64) -> String) -> Option<Notable> {
        let found = (self.of)(around).filter(|found| *found > self.notable)?;
        Some((text(found), self.is_beyond(around)))
    }
}

/// The clause on a share of the time, if it is large enough for the first line.
fn first(share: Option<f64>, text: impl Fn(String) -> String) -> Option<Notable> {
    let share = share.filter(|share| *share > FIRST)?;
    Some((text(percent(share)), true))
}

fn percent(share: f64) -> String {
    Unit::Share.show(share, 2)
}

fn processors(count: f64) -> String {
    counted(significant(count, 2), "processor")
}

/// False for clearly less than nothing: such a system counts CPU time wrongly, as Wine does.
fn is_plausible(others: f64) -> bool {
    others > -USUAL_LOAD
}

/// One disturbance over the wall time of the batches that recorded it.
fn share(batches: &[&Batch], part: impl Fn(&Disturbance) -> Option<f64>) -> Option<f64> {
    let known = batches
        .iter()
        .filter_map(|batch| Some((part(&batch.disturbance)?, batch.wall_ns as f64)));
    let (part_ns, wall_ns) = known.fold((0.0, 0.0), |(parts, walls), (part, wall)| {
        (parts + part, walls + wall)
    });
    (wall_ns > 0.0).then(|| part_ns / wall_ns)
}

#[cfg(test)]
mod tests {
    use super::{Surroundings, is_plausible};
    use crate::made_up::clock;

    #[test]
    fn less_than_nothing_is_no_load() {
        assert!(is_plausible(1.8) && is_plausible(-0.01) && !is_plausible(-5.9));
    }

    #[test]
    fn a_quiet_run_has_no_line_on_its_conditions() {
        let quiet = Surroundings {
            clock: Some(clock(&[(1.0, 1.0)])),
            others: Some(0.02),
            stolen: Some(0.0),
            memory_pressure: Some(0.0),
            is_traced: Some(false),
            seccomp_filters: Some(1),
            is_on_battery: Some(false),
            hypervisor: Some("KVM".into()),
            ..Surroundings::default()
        };
        for it in [quiet, Surroundings::default()] {
            assert_eq!((it.first(), it.text()), (None, None));
        }
    }

    #[test]
    fn each_condition_that_moves_all_values_disturbs_a_run() {
        let quiet = Surroundings {
            others: Some(0.2),
            stolen: Some(0.02),
            memory_pressure: Some(0.1),
            allowed_processors: Some(1.0),
            is_traced: Some(false),
            is_on_battery: Some(false),
            ..Surroundings::default()
        };
        assert!(!quiet.are_disturbed());
        let changes: [fn(&mut Surroundings); 6] = [
            |it| it.others = Some(0.21),
            |it| it.stolen = Some(0.021),
            |it| it.memory_pressure = Some(0.11),
            |it| it.allowed_processors = Some(0.9),
            |it| it.is_traced = Some(true),
            |it| it.is_on_battery = Some(true),
        ];
        for change in changes {
            let mut disturbed = quiet.clone();
            change(&mut disturbed);
            assert!(disturbed.are_disturbed(), "{disturbed:?}");
            assert!(disturbed.first().is_some(), "{disturbed:?}");
        }
    }

    #[test]
    fn the_first_line_names_what_matters_and_the_text_the_rest() {
        let busy = Surroundings {
            others: Some(1.23),
            stolen: Some(0.0134),
            memory_pressure: Some(0.05),
            allowed_memory_bytes: Some(1 << 30),
            ..Surroundings::default()
        };
        let states = Surroundings {
            is_traced: Some(true),
            is_on_battery: Some(true),
            allowed_processors: Some(0.5),
            ..Surroundings::default()
        };
        let at_levels = |levels: &[(f64, f64)]| Surroundings {
            clock: Some(clock(levels)),
            others: Some(1.2),
            ..Surroundings::default()
        };
        let with_shares = |shared, unknown| {
            let mut found = clock(&[(1.0, 1.0)]);
            found.cores[0].shared = shared;
            found.cores[0].unknown = unknown;
            Surroundings {
                clock: Some(found),
                ..Surroundings::default()
            }
        };
        let cases = [
            (
                busy,
                "other programs kept 1.2 processors busy.",
                "The hypervisor gave 1.3 % of the time to others. Programs waited for memory during 5.0 % of \
                 the minute before. A control group allowed 1 GiB of memory.",
            ),
            (
                states,
                "another program traced oscope, the machine ran on its battery and a control group allowed \
                 0.50 processors.",
                "",
            ),
            (
                at_levels(&[(1.0, 0.39), (0.877, 0.61)]),
                "other programs kept 1.2 processors busy and the clock was low for 61 % of the time: expect \
                 the next run within ±14 %.",
                "",
            ),
            (
                at_levels(&[(1.0, 0.81), (0.877, 0.19)]),
                "other programs kept 1.2 processors busy.",
                "",
            ),
            (with_shares(0.2, 0.2), "", ""),
            (
                with_shares(0.3, 0.46),
                "something shared the core for 30 % of the time and timings were interrupted, or the clock \
                 changed in them, for 46 % of the time.",
                "",
            ),
        ];
        for (found, first, text) in cases {
            let expected = (!first.is_empty()).then(|| format!("During this run, {first}"));
            assert_eq!(found.first(), expected);
            assert_eq!(found.text().unwrap_or_default(), text);
        }
    }

    #[test]
    fn limits_that_allow_the_whole_machine_are_none() {
        let mut run = crate::reference::ALL[0].run();
        run.machine.topology.threads = Some(2);
        run.machine.memory_bytes = Some(1 << 30);
        let mut allowed = |cpus, memory_bytes| {
            run.environment.cgroup.cpus = Some(cpus);
            run.environment.cgroup.memory_bytes = Some(memory_bytes);
            let found = Surroundings::of(&run);
            (found.allowed_processors, found.allowed_memory_bytes)
        };
        assert_eq!(allowed(2.0, 1 << 30), (None, None));
        assert_eq!(allowed(1.5, 1 << 29), (Some(1.5), Some(1 << 29)));
    }
}
