//! Possible harm of a run to other work on a machine that is short of some resource.

use super::{Check, Checks, Effect};
use crate::quantity::{Bytes, counted, significant};
use platform::memory::GroupRoom;
use platform::power::Battery;
use std::path::PathBuf;

/// The remaining supply of each resource that a run uses. Values that the system does not report
/// are `None` and are not judged.
#[derive(Clone, Debug, Default)]
pub struct Supplies {
    /// Memory of the machine: available and total, in bytes.
    pub memory: Option<(u64, u64)>,
    /// The enclosing control group that leaves the least memory to this process.
    pub group: Option<GroupRoom>,
    /// File systems that the run writes to.
    pub disks: Vec<Disk>,
    /// The machine's batteries.
    pub batteries: Vec<Battery>,
    /// Number of processors that other programs keep busy, and total number of processors.
    pub load: Option<(f64, usize)>,
}

/// A file system that a run writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Kind of data written there: `scratch files`.
    pub holds: &'static str,
    /// Its mount point.
    pub mount_point: PathBuf,
    /// Free space for this user, in bytes.
    pub free_bytes: u64,
    /// Total size, in bytes.
    pub total_bytes: u64,
}

/// A resource is nearly used up below this share of its total.
const SCARCE: f64 = 0.1;
/// More than this is enough, whatever the share.
const PLENTY: Bytes = Bytes(8 << 30);
/// A machine is busy if others use at least this share of its processors.
const HEAVY: f64 = 0.5;
/// Advice where memory is scarce.
const GENTLE: &str = "`oscope run --gentle` keeps within a share of it";

/// The harm that a run would do, one check for each resource.
pub fn harms(supplies: &Supplies) -> Vec<Check> {
    let mut harms = Checks::default();
    let mut add = |subject, found: String, advice| {
        harms.add(subject, found, Effect::Hurts, advice);
    };
    if let Some((left, all)) = supplies.memory
        && is_scarce(left, all)
    {
        let found = format!("only {} of memory are available", left_of(left, all));
        add("memory", found, GENTLE);
    }
    if let Some(GroupRoom {
        limit_bytes,
        left_bytes,
    }) = supplies.group
        && is_scarce(left_bytes, limit_bytes)
    {
        let left = left_of(left_bytes, limit_bytes);
        let found = format!("the control group leaves only {left} of memory");
        let advice = "the kernel may kill a program of the group: raise the limit, or use `oscope run --gentle`";
        add("memory limit", found, advice);
    }
    if let Some((busy, all)) = supplies.load
        && all > 0
        && busy >= HEAVY * all as f64
    {
        let (busy, all) = (significant(busy, 2), counted(all, "processor"));
        let advice = "`oscope run --gentle` takes a quarter of one, in short bursts";
        let found = format!("other programs keep {busy} of {all} busy");
        add("load", found, advice);
    }
    let scarce = |disk: &&Disk| is_scarce(disk.free_bytes, disk.total_bytes);
    for disk in supplies.disks.iter().filter(scarce) {
        let left = left_of(disk.free_bytes, disk.total_bytes);
        let (place, holds) = (disk.mount_point.display(), disk.holds);
        let advice = "choose another directory with `--dir` or another store with `--store`, or `oscope run --gentle`";
        let found = format!("only {left} are free on {place}, which holds {holds}");
        add("disk", found, advice);
    }
    for battery in supplies.batteries.iter().filter(|it| it.is_discharging) {
        let mut found = format!("the machine runs on its battery {}", battery.name);
        if let Some(percent) = battery.percent {
            found = format!("{found}, {percent} % are left");
        }
        let advice = "plug it in: a run takes much power, and saving power slows the clock";
        add("battery", found, advice);
    }
    harms.0
}

/// The harm that a run would do, in one line; `None` if there is none.
pub fn harm_line(harms: &[Check]) -> Option<String> {
    let found: Vec<&str> = harms.iter().map(|harm| harm.found.as_str()).collect();
    (!found.is_empty()).then(|| format!("a run may hurt other work here: {}", found.join("; ")))
}

fn is_scarce(left_bytes: u64, all_bytes: u64) -> bool {
    left_bytes < PLENTY.0 && (left_bytes as f64) < SCARCE * all_bytes as f64
}

fn left_of(left_bytes: u64, all_bytes: u64) -> String {
    format!("{:.3} of {:.3}", Bytes(left_bytes), Bytes(all_bytes))
}

#[cfg(test)]
mod tests {
    use super::{Disk, Supplies, harm_line, harms};
    use crate::fitness::Effect;
    use platform::memory::GroupRoom;
    use platform::power::Battery;

    const MIB: u64 = 1 << 20;

    fn subjects(supplies: &Supplies) -> Vec<String> {
        let harms = harms(supplies);
        assert!(harms.iter().all(|harm| harm.effect == Effect::Hurts));
        assert!(harms.iter().all(|harm| harm.advice.is_some()));
        harms.into_iter().map(|harm| harm.subject).collect()
    }

    fn scarce() -> Supplies {
        let disk = |holds, free_bytes| Disk {
            holds,
            mount_point: "/data".into(),
            free_bytes,
            total_bytes: 1000 * MIB,
        };
        let battery = |is_discharging| Battery {
            name: "BAT0".into(),
            is_discharging,
            percent: Some(37),
        };
        Supplies {
            memory: Some((900 * MIB, 16_000 * MIB)),
            group: Some(GroupRoom {
                limit_bytes: 512 * MIB,
                left_bytes: 20 * MIB,
            }),
            disks: vec![disk("scratch files", 99 * MIB), disk("records", 500 * MIB)],
            batteries: vec![battery(true), battery(false)],
            load: Some((3.0, 4)),
        }
    }

    #[test]
    fn each_scarce_resource_is_named() {
        let expected = ["memory", "memory limit", "load", "disk", "battery"];
        assert_eq!(subjects(&scarce()), expected);
        let line = harm_line(&harms(&scarce())).unwrap();
        for part in [
            "900 MiB of 15.6 GiB of memory",
            "20.0 MiB of 512 MiB",
            "3.0 of 4 processors",
            "99.0 MiB of 1000 MiB are free on /data, which holds scratch files",
            "battery BAT0, 37 % are left",
        ] {
            assert!(line.contains(part), "{line}");
        }
    }

    #[test]
    fn what_is_plenty_or_unknown_is_no_harm() {
        let plenty = Supplies {
            memory: Some((9000 * MIB, 256_000 * MIB)),
            load: Some((1.9, 4)),
            ..Supplies::default()
        };
        for supplies in [Supplies::default(), plenty] {
            assert_eq!(subjects(&supplies), Vec::<String>::new());
            assert_eq!(harm_line(&harms(&supplies)), None);
        }
    }
}
