//! Fitness of a machine for measurements: the disturbances, and how to quiet them.

mod harm;
mod watch;

pub use harm::{Disk, Supplies, harm_line, harms};
pub use watch::{Watch, clock};

use crate::quantity::{Bytes, counted, significant};
use Effect::{Disturbs, Limits, Shapes};
use platform::environment::{AddressRandomisation, Environment, System};
use platform::machine::Machine;
use platform::storage::Storage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One property of the machine that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The property: `governor`.
    pub subject: String,
    /// Its state.
    pub found: String,
    /// Its effect on measurements.
    pub effect: Effect,
    /// Advice for a change; `None` if none is needed or possible.
    pub advice: Option<String>,
}

/// Effect of a property on measurements, or of measurements on other work.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Other work on the machine would suffer from a run.
    Hurts,
    /// It disturbs: repeated measurements give different numbers.
    Disturbs,
    /// It is part of what is measured. Readers who compare numbers must know it.
    Shapes,
    /// It makes some measurements impossible.
    Limits,
    /// No effect.
    None,
}

/// A quiet machine has less other load than this share of one processor.
const QUIET_SHARE: f64 = 0.02;
/// Stolen time below this share of the wall time moves no result visibly.
const STOLEN_SHARE: f64 = 0.005;
/// Power plans of Windows that keep the clock's speed up.
const STEADY_PLANS: [&str; 3] = [
    "High performance",
    "Ultimate Performance",
    "Balanced, best performance",
];
/// Space for the scratch files of the standard profile.
const COMFORTABLE_ROOM: Bytes = Bytes(4 << 30);

/// Checks everything known about a machine. The checks are sorted by effect, the worst first.
pub fn examine(
    machine: &Machine,
    environment: &Environment,
    storage: Option<&Storage>,
    watch: &Watch,
) -> Vec<Check> {
    let mut checks = Checks::default();
    checks.other_programs(environment, watch);
    if let Some(clock) = &watch.clock {
        checks.clock(clock);
    }
    checks.processor(environment);
    checks.system(machine, environment);
    checks.slowdowns(environment);
    checks.rights(environment);
    if let Some(storage) = storage {
        checks.storage(storage);
    }
    let Checks(mut checks) = checks;
    checks.sort_by_key(|check| check.effect);
    checks
}

fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

/// The checks so far.
#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn add(&mut self, subject: &str, found: impl Into<String>, effect: Effect, advice: &str) {
        self.0.push(Check {
            subject: subject.into(),
            found: found.into(),
            effect,
            advice: (!advice.is_empty()).then(|| advice.to_owned()),
        });
    }

    /// Adds a property without effect.
    fn fine(&mut self, subject: &str, found: impl Into<String>) {
        self.add(subject, found, Effect::None, "");
    }

    fn other_programs(&mut self, environment: &Environment, watch: &Watch) {
        if environment.is_traced == Some(true) {
            let found =
                "another program traces oscope: each system call costs what the tracer takes";
            let advice = "run oscope without the debugger or `strace`";
            self.add("tracing", found, Disturbs, advice);
        }
        let Some(cpu) = watch.cpu else {
            let found =
                "not known, nor is stolen time: the system does not report what its processors do";
            let advice = "mount /proc in full, so that /proc/stat can be read";
            return self.add("other load", found, Limits, advice);
        };
        let share = |ns: u64| ns as f64 / watch.wall_ns.max(1) as f64;
        let (stolen, busy) = (share(cpu.steal_ns), share(cpu.busy_ns));
        if stolen > STOLEN_SHARE {
            let stolen = percent(stolen);
            let found = format!("the hypervisor gave {stolen} of the time to others");
            let advice = "measure when the host is quieter, or on a dedicated host";
            self.add("stolen time", found, Disturbs, advice);
        } else {
            self.fine("stolen time", "none");
        }
        if busy <= QUIET_SHARE {
            return self.fine("other load", "none to speak of");
        }
        let busiest = watch.busiest.iter().take(3);
        let busiest = busiest.filter(|(_, share)| *share > 0.005);
        let busiest = busiest.map(|(name, share)| format!("{name} {}", percent(*share)));
        let above_all = match busiest.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => none,
            busiest => format!(", above all {busiest}"),
        };
        let busy = percent(busy);
        let found = format!("other programs use {busy} of a processor{above_all}");
        self.add("other load", found, Disturbs, "stop them while you measure");
    }

    fn processor(&mut self, environment: &Environment) {
        if let Some(governor) = environment.frequency.governor.as_deref() {
            // On Windows, the plan is what the governor is on Linux.
            let (subject, steady, advice) = if is_windows(environment) {
                let advice = "`powercfg /setactive SCHEME_MIN` keeps the clock's speed up";
                ("power plan", &STEADY_PLANS[..], advice)
            } else {
                let advice =
                    "`cpupower frequency-set --governor performance` keeps the clock's speed up";
                ("governor", &["performance"][..], advice)
            };
            if steady.contains(&governor) {
                self.fine(subject, governor);
            } else {
                self.add(subject, governor, Disturbs, advice);
            }
        }
        match environment.frequency.turbo {
            Some(true) => self.add(
                "turbo",
                "on: the clock's speed follows heat and the load of other cores",
                Disturbs,
                "switch it off where steady numbers matter more than high ones: \
                 `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`, or `echo 0 > \
                 /sys/devices/system/cpu/cpufreq/boost`",
            ),
            Some(false) => self.fine("turbo", "off"),
            None => {}
        }
        if let Some(cpus) = environment.cgroup.cpus {
            let cpus = counted(significant(cpus, 3), "processor");
            let found = format!("the control group stops its programs beyond {cpus}");
            let advice = "lift the quota: time spent stopped counts as wall time";
            self.add("CPU quota", found, Disturbs, advice);
        }
        match environment.clock_source.as_deref() {
            Some(
                source @ ("tsc" | "kvm-clock" | "arch_sys_counter" | "hyperv_clocksource_tsc_page"),
            ) => self.fine("clock source", source),
            Some(source) => self.add(
                "clock source",
                format!("{source}, which takes a system call to read"),
                Disturbs,
                "see /sys/devices/system/clocksource/clocksource0/available_clocksource for a faster one",
            ),
            None => {}
        }
    }

    fn system(&mut self, machine: &Machine, environment: &Environment) {
        let randomisation = environment.address_randomisation;
        if randomisation.is_some_and(|it| it != AddressRandomisation::Full) {
            let advice = "`sysctl kernel.randomize_va_space=2`: without it every process has the same memory \
                          layout, and its luck or bad luck looks like a result";
            self.add(
                "address randomisation",
                "off, at least in part",
                Shapes,
                advice,
            );
        }
        if let Some(hypervisor) = &machine.hypervisor {
            let found = format!(
                "on {hypervisor}: other guests may disturb it, and the host may cache its disks"
            );
            self.add("virtual machine", found, Shapes, "");
        }
        match environment.transparent_huge_pages.as_deref() {
            Some("never") => {
                let found = "never: memory is measured in small pages only";
                let advice = "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`";
                self.add("huge pages", found, Limits, advice);
            }
            Some(mode) => self.fine("huge pages", mode),
            None => {}
        }
        if environment.free_page_reporting == Some(true) {
            let block = environment.reported_block_bytes.map(Bytes);
            let pieces = block.map(|block| format!(" in pieces of {block} or more"));
            let pieces = pieces.unwrap_or_default();
            self.add(
                "free page reporting",
                format!(
                    "on: the host takes back free memory{pieces}, and the first touch of that memory is slow"
                ),
                Shapes,
                "`oscope run memory` measures the cost; the hypervisor's \
                 `free-page-reporting=off` of the balloon device switches it off",
            );
        }
    }

    fn slowdowns(&mut self, environment: &Environment) {
        let mitigations = environment.mitigations.values();
        let active = mitigations.filter(|state| state.starts_with("Mitigation"));
        let active = active.count();
        if active > 0 {
            let found =
                format!("{active} against flaws of the processor: they make system calls slower");
            self.add("mitigations", found, Shapes, "");
        }
        if environment.defender_watches == Some(true) {
            let found = "looks through files when programs open, close and start them";
            let advice = "what files cost without it shows in a directory that it leaves out: as an administrator, \
                          `Add-MpPreference -ExclusionPath DIR` in PowerShell, then `oscope run --dir DIR`; \
                          `Remove-MpPreference -ExclusionPath DIR` takes that back";
            self.add("Microsoft Defender", found, Shapes, advice);
        }
        if environment.smt_active == Some(true) {
            let found = "on: two processors share one core's units and caches";
            self.add("hyper-threading", found, Shapes, "");
        }
    }

    fn rights(&mut self, environment: &Environment) {
        let (who, of_whom) = if is_windows(environment) {
            ("an administrator", "those of an administrator")
        } else {
            ("root", "root")
        };
        match environment.is_root {
            Some(true) => self.fine("rights", format!("{of_whom}: everything can be measured")),
            Some(false) => {
                let advice =
                    format!("none is needed; as {who}, caches are emptied more thoroughly");
                self.add("rights", "an ordinary user's", Limits, &advice);
            }
            None => {}
        }
    }

    fn storage(&mut self, storage: &Storage) {
        let (file_system, mount_point) = (&storage.file_system, storage.mount_point.display());
        let place = format!("{file_system} on {mount_point}");
        if storage.is_memory() {
            let found = format!("{place}, which is in memory: cold reads cannot be measured there");
            let advice = "choose a directory on a disk with `--dir`";
            self.add("file system", found, Limits, advice);
        } else if storage.is_remote() {
            let found = format!("{place}, which is another machine's");
            let advice = "choose a local directory with `--dir`, unless the remote one is what you ask about";
            self.add("file system", found, Shapes, advice);
        } else {
            self.fine("file system", place);
        }
        let free = Bytes(storage.free_bytes);
        if free < COMFORTABLE_ROOM {
            let found = format!("{free:.3}: scratch files will be small, or left out");
            let advice = "make room, or choose another directory with `--dir`";
            self.add("room for scratch files", found, Limits, advice);
        } else {
            self.fine("room for scratch files", format!("{free:.3}"));
        }
    }
}

fn is_windows(environment: &Environment) -> bool {
    environment.system() == Some(System::Windows)
}

#[cfg(test)]
mod tests {
    use super::{Check, Effect, Watch, examine};
    use platform::environment::Environment;
    use platform::load::CpuTime;
    use platform::machine::Machine;

    fn subjects(environment: &Environment, watch: &Watch, effect: Effect) -> Vec<String> {
        examine(&Machine::default(), environment, None, watch)
            .into_iter()
            .filter(|check| check.effect == effect)
            .map(|check| check.subject)
            .collect()
    }

    #[test]
    fn what_is_not_known_is_not_judged() {
        let checks = examine(
            &Machine::default(),
            &Environment::default(),
            None,
            &Watch::default(),
        );
        let subjects: Vec<&str> = checks.iter().map(|it| it.subject.as_str()).collect();
        assert_eq!(subjects, ["other load"]);
        assert!(checks[0].found.starts_with("not known"), "{checks:?}");
    }

    #[test]
    fn a_busy_neighbour_and_a_sleepy_governor_disturb() {
        let mut environment = Environment::default();
        environment.frequency.governor = Some("powersave".into());
        environment.frequency.turbo = Some(true);
        let cpu = CpuTime {
            busy_ns: 500,
            steal_ns: 20,
            ..CpuTime::default()
        };
        let watch = Watch {
            wall_ns: 1000,
            cpu: Some(cpu),
            busiest: vec![("cargo".into(), 0.5)],
            clock: None,
        };
        assert_eq!(
            subjects(&environment, &watch, Effect::Disturbs),
            ["stolen time", "other load", "governor", "turbo"]
        );
        let checks = examine(&Machine::default(), &environment, None, &watch);
        assert!(
            checks
                .iter()
                .any(|check| check.found.contains("cargo 50 %")),
            "{checks:?}"
        );
        assert!(checks.iter().all(|check| check.advice.is_some()));
    }

    fn found(environment: &Environment, subject: &str) -> Option<Check> {
        let machine = Machine::default();
        let checks = examine(&machine, environment, None, &Watch::default());
        checks.into_iter().find(|check| check.subject == subject)
    }

    #[test]
    fn memory_that_the_host_takes_back_is_reported_and_no_other() {
        let mut environment = Environment {
            free_page_reporting: Some(true),
            reported_block_bytes: Some(2 << 20),
            ..Environment::default()
        };
        let check = found(&environment, "free page reporting").expect("a fact of the machine");
        assert_eq!(check.effect, Effect::Shapes);
        assert!(check.found.contains("2 MiB"), "{check:?}");
        environment.free_page_reporting = Some(false);
        assert_eq!(found(&environment, "free page reporting"), None);
    }

    #[test]
    fn windows_has_its_own_words() {
        let mut environment = Environment {
            kernel_name: Some("Windows NT".into()),
            is_root: Some(false),
            ..Environment::default()
        };
        environment.frequency.governor = Some("Balanced".into());
        let advice = |subject| found(&environment, subject).and_then(|check| check.advice);
        assert!(advice("power plan").is_some_and(|it| it.contains("powercfg")));
        assert!(advice("rights").is_some_and(|it| it.contains("administrator")));
        assert_eq!(found(&environment, "governor"), None);
        environment.frequency.governor = Some("High performance".into());
        let steady = found(&environment, "power plan").map(|check| check.effect);
        assert_eq!(steady, Some(Effect::None));
    }

    #[test]
    fn a_tracer_disturbs_and_a_scanner_shapes_but_neither_is_assumed() {
        for state in [None, Some(false), Some(true)] {
            let environment = Environment {
                is_traced: state,
                defender_watches: state,
                ..Environment::default()
            };
            let effect = |subject| found(&environment, subject).map(|check| check.effect);
            let is_true = state == Some(true);
            assert_eq!(effect("tracing"), is_true.then_some(Effect::Disturbs));
            assert_eq!(
                effect("Microsoft Defender"),
                is_true.then_some(Effect::Shapes)
            );
        }
    }

    #[test]
    fn a_quiet_machine_is_fit() {
        let mut environment = Environment {
            is_root: Some(true),
            ..Environment::default()
        };
        environment.frequency.governor = Some("performance".into());
        environment.clock_source = Some("tsc".into());
        let watch = Watch {
            wall_ns: 1_000_000,
            cpu: Some(CpuTime::default()),
            busiest: Vec::new(),
            clock: None,
        };
        assert_eq!(
            subjects(&environment, &watch, Effect::Disturbs),
            Vec::<String>::new()
        );
    }
}
