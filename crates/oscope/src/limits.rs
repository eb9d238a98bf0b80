//! The limits of a run on a machine with other work, and the work that it could disturb.

use crate::arguments::{Common, Run};
use crate::exit::refuse;
use crate::progress::Voice;
use crate::stored;
use anyhow::Result;
use instrument::fitness::{Disk, Supplies, Watch};
use instrument::limits::{Limits, Used};
use platform::environment::Environment;
use platform::machine::Machine;
use platform::storage::Storage;
use platform::{memory, placement, power, usage};
use std::path::Path;
use std::time::Duration;

/// The limits that the command line requests, applied to this process and to all processes that it
/// starts from now on, as far as the kernel enforces them.
pub fn apply(arguments: &Run, voice: &Voice) -> Result<Limits> {
    let mut limits = asked(arguments);
    if limits.is_none() {
        return Ok(limits);
    }
    if limits.need_storage_counts() && !usage::counts_storage() {
        refuse!(
            "`written` and `rate` cannot be kept here, since the system does not count what a program \
             writes (/proc/self/io): name limits without them, such as \
             `--limit processor=25%,cpus=1,memory=512MiB,disk=0`"
        );
    }
    if let Some(most) = limits.cpus {
        let allowed = placement::allowed_cpus()?;
        let last = allowed.len().saturating_sub(most as usize);
        placement::pin_to(&allowed[last..])?;
    }
    // Best effort: without this right, the other limits still apply.
    let _ = placement::be_ended_first();
    if limits.idle_io == Some(true)
        && let Err(error) = placement::be_served_last()
    {
        limits.idle_io = None;
        voice.warn(&format!("disks serve this run like others: {error}"));
    }
    voice.say(&format!("within limits: {limits}"));
    Ok(limits)
}

fn asked(arguments: &Run) -> Limits {
    let named = arguments.restraint.limit.unwrap_or_default();
    if !arguments.restraint.gentle {
        return named;
    }
    let free_bytes = Storage::behind(&arguments.dir).map_or(0, |storage| storage.free_bytes);
    let available_bytes = memory::available_bytes().unwrap_or(0);
    named.or(Limits::gentle(available_bytes, free_bytes))
}

/// Reports the resources that a run used against its limits; returns true if it kept them.
pub fn report(used: &Used, limits: &Limits, voice: &Voice) -> bool {
    voice.say(&format!("taken at the most: {}", used.line(limits)));
    let excesses = used.excesses(limits);
    for excess in &excesses {
        voice.warn(&format!("beyond its limit: {excess}"));
    }
    excesses.is_empty()
}

/// Number of processors that other processes use at this moment; `None` if the system does not
/// report it.
pub fn busy_now() -> Option<f64> {
    /// Sampling interval: the system counts in steps of 10 ms.
    const GLANCE: Duration = Duration::from_millis(200);
    busy(&Watch::over(GLANCE))
}

/// Number of processors that other processes used.
pub fn busy(watch: &Watch) -> Option<f64> {
    let cpu = watch.cpu?;
    Some(cpu.busy_ns as f64 / watch.wall_ns.max(1) as f64)
}

/// The free resources for a run with its scratch files in `directory`, and the number of processors
/// that other processes use.
pub fn supplies(
    directory: &Path,
    common: &Common,
    machine: &Machine,
    environment: &Environment,
    busy: Option<f64>,
) -> Supplies {
    let store = stored::path(common).ok();
    let store = store.as_deref().map(nearest);
    let disks = [("scratch files", Some(directory)), ("records", store)];
    let mut disks: Vec<Disk> = disks
        .into_iter()
        .filter_map(|(holds, path)| {
            let storage = Storage::behind(path?).ok()?;
            Some(Disk {
                holds,
                mount_point: storage.mount_point,
                free_bytes: storage.free_bytes,
                total_bytes: storage.total_bytes,
            })
        })
        .collect();
    // Each file system is mentioned once.
    disks.dedup_by(|one, other| one.mount_point == other.mount_point);
    Supplies {
        memory: environment.memory_available_bytes.zip(machine.memory_bytes),
        group: memory::group_room(),
        disks,
        batteries: power::batteries(),
        load: busy.zip(machine.topology.threads),
    }
}

/// The nearest existing directory above a path.
fn nearest(path: &Path) -> &Path {
    let is_there = |path: &&Path| path.exists();
    path.ancestors()
        .find(is_there)
        .filter(|path| !path.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}
