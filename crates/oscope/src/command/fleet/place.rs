//! The place that a process of a job measures: its node, or a core or socket of it.

use crate::arguments::fleet::Per;
use anyhow::{Result, bail};
use instrument::quantity::counted;
use platform::placement::{allowed_cpus, cpus_of_core, package, pin_to};
use std::collections::BTreeMap;
use std::env;

/// A part of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// `cpu 7` for the core whose first hardware thread that is; `socket 1`.
    pub name: String,
    cpus: Vec<usize>,
}

/// The parts of this node, in the order of their CPUs.
///
/// # Errors
/// If the system does not tell of them.
fn parts(per: Per) -> Result<Vec<Part>> {
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cpu in allowed_cpus()? {
        let key = match per {
            Per::Node => 0,
            Per::Core => cpus_of_core(cpu).first().map_or(cpu, |first| *first),
            Per::Socket => match package(cpu).map(usize::try_from) {
                Some(Ok(package)) => package,
                _ => bail!("the system does not tell the sockets of its CPUs: leave out `--per`"),
            },
        };
        parts.entry(key).or_default().push(cpu);
    }
    let word = if per == Per::Socket { "socket" } else { "cpu" };
    let parts = parts.into_iter();
    Ok(parts
        .map(|(key, cpus)| Part {
            name: format!("{word} {key}"),
            cpus,
        })
        .collect())
}

/// The part that process `rank` of this node measures; `None` for the whole node.
///
/// # Errors
/// If the node has fewer parts.
pub fn part(per: Per, rank: u16) -> Result<Option<Part>> {
    if per == Per::Node {
        return Ok(None);
    }
    let mut parts = parts(per)?;
    let count = parts.len();
    if usize::from(rank) >= count {
        let parts = match per {
            Per::Socket => counted(count, "socket"),
            _ => counted(count, "core"),
        };
        bail!(
            "this process may run on {parts}, and its rank on its node is {rank}, where the first is 0: start \
             fewer on each node, or leave each process all processors (`mpirun --bind-to none`, `srun \
             --cpu-bind=none`)"
        );
    }
    Ok(Some(parts.swap_remove(rank.into())))
}

impl Part {
    /// Keeps this process, and those that it starts, on the part.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn keep(&self) -> Result<()> {
        Ok(pin_to(&self.cpus)?)
    }
}

/// The switches above this node, the outermost first, if Slurm's plug-in of the topology tells them.
pub fn switch() -> Option<String> {
    let variable = |name| env::var(name).ok();
    above(
        &variable("SLURM_TOPOLOGY_ADDR")?,
        &variable("SLURM_TOPOLOGY_ADDR_PATTERN")?,
    )
}

/// `s0.s5` of the address `s0.s5.node3` with the pattern `switch.switch.node`.
fn above(address: &str, pattern: &str) -> Option<String> {
    let switches = pattern.strip_suffix(".node")?;
    let count = switches.split('.').count();
    // The name of a node may hold dots.
    let above: Vec<&str> = address.splitn(count + 1, '.').collect();
    (above.len() == count + 1).then(|| above[..count].join("."))
}

#[cfg(test)]
mod tests {
    use super::{Per, above, part, parts};

    #[test]
    fn the_switches_are_what_comes_before_the_node() {
        let told = above("s0.s5.node3", "switch.switch.node");
        assert_eq!(told.as_deref(), Some("s0.s5"));
        let told = above("s0.node3.cluster", "switch.node");
        assert_eq!(told.as_deref(), Some("s0"));
        // Without a plug-in that knows switches.
        assert_eq!(above("node3", "node"), None);
        assert_eq!(above("node3", "switch.node"), None);
    }

    #[test]
    fn each_process_has_a_part_and_the_next_one_is_refused() {
        let Ok(cores) = parts(Per::Core) else {
            println!("skipped: the system does not tell its processors");
            return;
        };
        let mut cpus: Vec<usize> = cores.iter().flat_map(|it| it.cpus.clone()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        assert_eq!(cpus, platform::placement::allowed_cpus().unwrap());
        let last = cores.len() as u16 - 1;
        assert_eq!(part(Per::Core, last).unwrap().as_ref(), cores.last());
        let refused = part(Per::Core, last + 1).unwrap_err().to_string();
        assert!(refused.contains("--bind-to none"), "{refused}");
        assert_eq!(part(Per::Node, 0).unwrap(), None);
    }
}
