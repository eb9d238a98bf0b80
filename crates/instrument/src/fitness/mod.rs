//! Fitness of a machine for measurements: the disturbances, and how to quiet them.

mod harm;
mod watch;

pub use harm::{Disk, Supplies, harm_line, harms};
pub use watch::{Watch, clock};

use crate::quantity::{Bytes, counted, significant};
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
/// Space for the scratch files of the standard profile.
const COMFORTABLE_ROOM: Bytes = Bytes(4 << 30);

/// Checks everything known about a machine. The checks are sorted by effect, the worst first.
pub fn examine(
    machine: &Machine,
    environment: &Environment,
    storage: Option<&Storage>,
    watch: &Watch,
) -> Vec<Check> {
    let mut checks: Vec<Check> = [
        traced(environment),
        stolen(watch),
        other_load(watch),
        watch::sharing(watch.clock.as_ref()),
        watch::levels(watch.clock.as_ref()),
        unseen(watch),
        governor(environment),
        turbo(environment),
        cpu_quota(environment),
        clock_source(environment),
        address_randomisation(environment),
        virtualisation(machine),
        huge_pages(environment),
        free_page_reporting(environment),
        mitigations(environment),
        defender(environment),
        smt(environment),
        rights(environment),
        file_system(storage),
        room(storage),
    ]
    .into_iter()
    .flatten()
    .collect();
    checks.sort_by_key(|check| check.effect);
    checks
}

fn check(subject: &str, found: impl Into<String>, effect: Effect, advice: &str) -> Check {
    let advice = (!advice.is_empty()).then(|| advice.to_owned());
    Check {
        subject: subject.into(),
        found: found.into(),
        effect,
        advice,
    }
}

/// A property without effect.
fn fine(subject: &str, found: impl Into<String>) -> Check {
    check(subject, found, Effect::None, "")
}

fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

fn traced(environment: &Environment) -> Option<Check> {
    environment.is_traced?.then(|| {
        check(
            "tracing",
            "another program traces oscope: each system call costs what the tracer takes",
            Effect::Disturbs,
            "run oscope without the debugger or `strace`",
        )
    })
}

/// A check for systems that report neither load nor stolen time.
fn unseen(watch: &Watch) -> Option<Check> {
    watch.cpu.is_none().then(|| {
        check(
            "other load",
            "not known, nor is stolen time: the system does not report what its processors do",
            Effect::Limits,
            "mount /proc in full, so that /proc/stat can be read",
        )
    })
}

fn stolen(watch: &Watch) -> Option<Check> {
    let share = watch.cpu?.steal_ns as f64 / watch.wall_ns.max(1) as f64;
    Some(if share > STOLEN_SHARE {
        check(
            "stolen time",
            format!(
                "the hypervisor gave {} of the time to others",
                percent(share)
            ),
            Effect::Disturbs,
            "measure when the host is quieter, or on a dedicated host",
        )
    } else {
        fine("stolen time", "none")
    })
}

fn other_load(watch: &Watch) -> Option<Check> {
    let share = watch.cpu?.busy_ns() as f64 / watch.wall_ns.max(1) as f64;
    if share <= QUIET_SHARE {
        return Some(fine("other load", "none to speak of"));
    }
    let busiest: Vec<String> = watch
        .busiest
        .iter()
        .take(3)
        .filter(|(_, share)| *share > 0.005)
        .map(|(name, share)| format!("{name} {}", percent(*share)))
        .collect();
    let names = if busiest.is_empty() {
        String::new()
    } else {
        format!(", above all {}", busiest.join(", "))
    };
    Some(check(
        "other load",
        format!(
            "other programs use {} of a processor{names}",
            percent(share)
        ),
        Effect::Disturbs,
        "stop them while you measure",
    ))
}

fn governor(environment: &Environment) -> Option<Check> {
    let governor = environment.frequency.governor.as_deref()?;
    if environment.system() == Some(System::Windows) {
        return Some(power_plan(governor));
    }
    Some(if governor == "performance" {
        fine("governor", governor)
    } else {
        check(
            "governor",
            governor,
            Effect::Disturbs,
            "`cpupower frequency-set --governor performance` keeps the clock's speed up",
        )
    })
}

/// On Windows, the plan is what the governor is on Linux.
fn power_plan(plan: &str) -> Check {
    const STEADY: [&str; 3] = [
        "High performance",
        "Ultimate Performance",
        "Balanced, best performance",
    ];
    if STEADY.contains(&plan) {
        return fine("power plan", plan);
    }
    check(
        "power plan",
        plan,
        Effect::Disturbs,
        "`powercfg /setactive SCHEME_MIN` keeps the clock's speed up",
    )
}

fn turbo(environment: &Environment) -> Option<Check> {
    Some(if environment.frequency.turbo? {
        check(
            "turbo",
            "on: the clock's speed follows heat and the load of other cores",
            Effect::Disturbs,
            "switch it off where steady numbers matter more than high ones: \
             `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`, or `echo 0 > \
             /sys/devices/system/cpu/cpufreq/boost`",
        )
    } else {
        fine("turbo", "off")
    })
}

fn cpu_quota(environment: &Environment) -> Option<Check> {
    let cpus = environment.cgroup.cpus?;
    Some(check(
        "CPU quota",
        format!(
            "the control group stops its programs beyond {}",
            counted(significant(cpus, 3), "processor")
        ),
        Effect::Disturbs,
        "lift the quota: time spent stopped counts as wall time",
    ))
}

fn clock_source(environment: &Environment) -> Option<Check> {
    let source = environment.clock_source.as_deref()?;
    let is_fast = matches!(
        source,
        "tsc" | "kvm-clock" | "arch_sys_counter" | "hyperv_clocksource_tsc_page"
    );
    Some(if is_fast {
        fine("clock source", source)
    } else {
        check(
            "clock source",
            format!("{source}, which takes a system call to read"),
            Effect::Disturbs,
            "see /sys/devices/system/clocksource/clocksource0/available_clocksource for a faster one",
        )
    })
}

fn address_randomisation(environment: &Environment) -> Option<Check> {
    match environment.address_randomisation? {
        AddressRandomisation::Full => None,
        AddressRandomisation::Off | AddressRandomisation::WithoutHeap => Some(check(
            "address randomisation",
            "off, at least in part",
            Effect::Shapes,
            "`sysctl kernel.randomize_va_space=2`: without it every process has the same memory \
             layout, and its luck or bad luck looks like a result",
        )),
    }
}

fn virtualisation(machine: &Machine) -> Option<Check> {
    let hypervisor = machine.hypervisor.as_deref()?;
    Some(check(
        "virtual machine",
        format!("on {hypervisor}: other guests may disturb it, and the host may cache its disks"),
        Effect::Shapes,
        "",
    ))
}

fn huge_pages(environment: &Environment) -> Option<Check> {
    let mode = environment.transparent_huge_pages.as_deref()?;
    Some(if mode == "never" {
        check(
            "huge pages",
            "never: memory is measured in small pages only",
            Effect::Limits,
            "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
        )
    } else {
        fine("huge pages", mode)
    })
}

fn free_page_reporting(environment: &Environment) -> Option<Check> {
    if !environment.free_page_reporting? {
        return None;
    }
    let block = environment.reported_block_bytes.map(Bytes);
    let pieces = block.map_or_else(String::new, |block| {
        format!(" in pieces of {block} or more")
    });
    Some(check(
        "free page reporting",
        format!(
            "on: the host takes back free memory{pieces}, and the first touch of that memory is slow"
        ),
        Effect::Shapes,
        "`oscope run memory` measures the cost; the hypervisor's \
         `free-page-reporting=off` of the balloon device switches it off",
    ))
}

fn defender(environment: &Environment) -> Option<Check> {
    if !environment.defender_watches? {
        return None;
    }
    Some(check(
        "Microsoft Defender",
        "looks through files when programs open, close and start them",
        Effect::Shapes,
        "what files cost without it shows in a directory that it leaves out: as an administrator, \
         `Add-MpPreference -ExclusionPath DIR` in PowerShell, then `oscope run --dir DIR`; \
         `Remove-MpPreference -ExclusionPath DIR` takes that back",
    ))
}

fn mitigations(environment: &Environment) -> Option<Check> {
    let active = environment
        .mitigations
        .values()
        .filter(|state| state.starts_with("Mitigation"))
        .count();
    (active > 0).then(|| {
        check(
            "mitigations",
            format!("{active} against flaws of the processor: they make system calls slower"),
            Effect::Shapes,
            "",
        )
    })
}

fn smt(environment: &Environment) -> Option<Check> {
    environment.smt_active?.then(|| {
        check(
            "hyper-threading",
            "on: two processors share one core's units and caches",
            Effect::Shapes,
            "",
        )
    })
}

fn rights(environment: &Environment) -> Option<Check> {
    let (who, advice) = if environment.system() == Some(System::Windows) {
        (
            "those of an administrator",
            "none is needed; as an administrator, caches are emptied more thoroughly",
        )
    } else {
        (
            "root",
            "none is needed; as root, caches are emptied more thoroughly",
        )
    };
    Some(if environment.is_root? {
        fine("rights", format!("{who}: everything can be measured"))
    } else {
        check("rights", "an ordinary user's", Effect::Limits, advice)
    })
}

fn file_system(storage: Option<&Storage>) -> Option<Check> {
    let storage = storage?;
    let place = format!(
        "{} on {}",
        storage.file_system,
        storage.mount_point.display()
    );
    Some(if storage.is_memory() {
        check(
            "file system",
            format!("{place}, which is in memory: cold reads cannot be measured there"),
            Effect::Limits,
            "choose a directory on a disk with `--dir`",
        )
    } else if storage.is_remote() {
        check(
            "file system",
            format!("{place}, which is another machine's"),
            Effect::Shapes,
            "choose a local directory with `--dir`, unless the remote one is what you ask about",
        )
    } else {
        fine("file system", place)
    })
}

fn room(storage: Option<&Storage>) -> Option<Check> {
    let free = Bytes(storage?.free_bytes);
    Some(if free < COMFORTABLE_ROOM {
        check(
            "room for scratch files",
            format!("{free:.3}: scratch files will be small, or left out"),
            Effect::Limits,
            "make room, or choose another directory with `--dir`",
        )
    } else {
        fine("room for scratch files", format!("{free:.3}"))
    })
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
            user_ns: 500,
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
        assert_eq!(super::power_plan("High performance").effect, Effect::None);
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
