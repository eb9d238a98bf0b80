//! A machine at first sight: which curves and which times of it are shown before all others.

use instrument::counterpart::Counterpart;
use instrument::point::Point;
use platform::environment::System;

/// A curve along sizes.
#[derive(Debug)]
pub struct SizeCurve {
    /// The experiment.
    pub experiment: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// The axis of the sizes, in bytes.
    pub size: &'static str,
    /// The axis that tells several curves apart; `None` if the longest curve stands for all.
    pub by: Option<&'static str>,
}

/// The time of a load over the working set.
pub const LATENCY: SizeCurve = SizeCurve {
    experiment: "memory.latency",
    metric: "load",
    size: "working_set",
    by: None,
};

/// The speed of reading memory on one core over the block size.
pub const BANDWIDTH: SizeCurve = SizeCurve {
    experiment: "memory.bandwidth",
    metric: "read",
    size: "block_size",
    by: None,
};

/// The throughput of each pass over a file over the block size.
pub const FILES: SizeCurve = SizeCurve {
    experiment: "file.block_size",
    metric: "throughput",
    size: "block_size",
    by: Some("pass"),
};

/// The experiment of the times between each two processors, whose figure is a matrix.
pub const CORES: &str = "memory.cores";

/// One value of one experiment under a name for readers.
#[derive(Debug)]
pub struct NamedValue {
    /// The name.
    pub label: &'static str,
    /// The experiment.
    pub experiment: &'static str,
    /// The metric: a time, or a rate whose reciprocal is one.
    pub metric: &'static str,
    /// Levels that the point must have.
    levels: &'static [(&'static str, &'static str)],
}

impl NamedValue {
    /// True if the value is measured at `point`, or at the point that stands for it on Linux: a call of another
    /// system with the same purpose.
    pub fn is_at(&self, point: &Point) -> bool {
        if self.has_levels(point) {
            return true;
        }
        match crate::counterpart(self.experiment, point, self.metric, System::Linux) {
            Counterpart::Like { point, .. } => self.has_levels(&point),
            Counterpart::Same | Counterpart::Missing(_) => false,
        }
    }

    fn has_levels(&self, point: &Point) -> bool {
        self.levels.iter().all(|(axis, level)| {
            let found = point.get(axis);
            found.is_some_and(|found| found.to_string() == *level)
        })
    }

    /// The bytes that one operation moves at `point`, for a rate of bytes.
    pub fn bytes(&self, point: &Point) -> Option<u64> {
        point.get("chunk_size")?.number()
    }
}

const fn rung(
    label: &'static str,
    experiment: &'static str,
    metric: &'static str,
    levels: &'static [(&'static str, &'static str)],
) -> NamedValue {
    NamedValue {
        label,
        experiment,
        metric,
        levels,
    }
}

const CALLS: &str = "process.calls";

/// The experiment that gives most of the [`RUNGS`].
pub const MOST_RUNGS: &str = CALLS;

/// The rungs of the ladder, beside those of [`LATENCY`].
pub const RUNGS: &[NamedValue] = &[
    rung(
        "user thread switch",
        "threads.switch",
        "switch",
        &[("kind", "user"), ("threads", "2")],
    ),
    rung(
        "lock, nobody waits",
        "threads.lock",
        "entry",
        &[("body", "simple"), ("lock", "Lock"), ("threads", "1")],
    ),
    rung("line, core to core", CORES, "one_way", &[]),
    rung(
        "system call",
        CALLS,
        "rate",
        &[("call", "getpid"), ("optimisation", "3")],
    ),
    rung(
        "open and close",
        CALLS,
        "rate",
        &[("call", "open+close"), ("optimisation", "3")],
    ),
    rung(
        "page fault",
        "memory.page_fault",
        "cost",
        &[("touch", "first touch")],
    ),
    rung(
        "process switch",
        "process.switch",
        "switch",
        &[
            ("kind", "processes"),
            ("count", "2"),
            ("working_set", "0"),
            ("placement", "one core"),
        ],
    ),
    rung(
        "pipe, there and back",
        "process.ipc",
        "round_trip",
        &[
            ("mechanism", "pipe"),
            ("message_size", "1"),
            ("placement", "one core"),
        ],
    ),
    rung(
        "create a thread",
        CALLS,
        "rate",
        &[("call", "thread create+join"), ("optimisation", "3")],
    ),
    rung(
        "cold page fault",
        "memory.page_fault",
        "cost",
        &[("touch", "file, on device")],
    ),
    rung(
        "cold 4 KiB read",
        "file.random",
        "random",
        &[("chunk_size", "4096")],
    ),
    rung(
        "write and fsync",
        "file.sync",
        "latency",
        &[("method", "write+fsync"), ("place", "overwrite")],
    ),
    rung(
        "fork, exit, wait",
        CALLS,
        "rate",
        &[("call", "fork+exit+wait"), ("optimisation", "3")],
    ),
    rung(
        "start a program",
        CALLS,
        "rate",
        &[("call", "posix_spawn+wait"), ("optimisation", "3")],
    ),
    rung(
        "fork of 256 MiB",
        "process.fork_size",
        "cost",
        &[("resident_size", "268435456"), ("pages", "4 KiB pages")],
    ),
];

/// The names of the rungs that [`LATENCY`] gives: from the smallest working set, and from the largest,
/// where no cache holds it, and where one may.
pub const LOAD_FROM_CACHE: &str = "load, nearest cache";
/// See [`LOAD_FROM_CACHE`].
pub const LOAD_FROM_MEMORY: &str = "load, memory";
/// See [`LOAD_FROM_CACHE`].
pub const LOAD_FROM_LARGEST: &str = "load, largest set";

/// A time that engineers carry in their heads, as a published list of such numbers has it.
#[derive(Debug)]
pub struct RuleOfThumb {
    /// The rung that it is about.
    pub rung: &'static str,
    /// The things that take the time, after `good at`.
    pub what: &'static str,
    /// The time in ns.
    pub ns: f64,
}

const fn rule(rung: &'static str, what: &'static str, ns: f64) -> RuleOfThumb {
    RuleOfThumb { rung, what, ns }
}

/// The lists that [`RULES_OF_THUMB`] come from.
pub const RULES_FROM: &str = "“Latency numbers every programmer should know” as of 2020 (loads, \
                              locks) and “Napkin math” as of March 2026 (the others)";

/// Rules of thumb for the rungs that have one. They are rounded, and right to a factor of two or so.
pub const RULES_OF_THUMB: &[RuleOfThumb] = &[
    rule(LOAD_FROM_CACHE, "loads from the nearest cache", 1.0),
    rule("lock, nobody waits", "locks that nobody waits for", 17.0),
    rule(LOAD_FROM_MEMORY, "loads from memory", 100.0),
    rule("system call", "system calls", 300.0),
    rule("process switch", "switches between processes", 10e3),
    rule("write and fsync", "writes with fsync", 300e3),
];

#[cfg(test)]
mod tests {
    use super::{
        BANDWIDTH, FILES, LATENCY, LOAD_FROM_CACHE, LOAD_FROM_MEMORY, RULES_OF_THUMB, RUNGS,
    };
    use crate::made_up::setting;
    use instrument::plan::Profile;

    #[test]
    fn each_curve_is_measured() {
        for curve in [LATENCY, BANDWIDTH, FILES] {
            let experiment = crate::find(curve.experiment).expect("it is one");
            let definition = experiment.definition();
            assert!(definition.metric(curve.metric).is_some(), "{curve:?}");
            for axis in [Some(curve.size), curve.by].into_iter().flatten() {
                assert!(definition.axis(axis).is_some(), "{curve:?}");
            }
        }
    }

    #[test]
    fn each_rule_of_thumb_is_about_a_rung() {
        for rule in RULES_OF_THUMB {
            let mut rungs = RUNGS.iter().map(|rung| rung.label);
            let is_load = [LOAD_FROM_CACHE, LOAD_FROM_MEMORY].contains(&rule.rung);
            assert!(is_load || rungs.any(|rung| rung == rule.rung), "{rule:?}");
        }
    }

    #[test]
    fn each_rung_is_measured_in_the_quick_profile() {
        for rung in RUNGS {
            let experiment = crate::find(rung.experiment).expect("it is one");
            let definition = experiment.definition();
            assert!(definition.metric(rung.metric).is_some(), "{rung:?}");
            let points = experiment.points(&setting(Profile::Quick));
            assert!(
                rung.levels.is_empty() || points.iter().any(|point| rung.is_at(point)),
                "{rung:?}"
            );
        }
    }
}
