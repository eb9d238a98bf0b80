//! A machine in one line, and a caution about its times.

use crate::lists::joined;
use instrument::quantity::{Unit, counted};
use record::Run;

/// Processor, memory, system and the file system of a run, the parts that are known:
/// `AMD EPYC, 2 threads, 23 GiB, KVM, Linux 6.18, ext4`.
pub fn machine(run: &Run) -> String {
    let (machine, environment) = (&run.machine, &run.environment);
    let architecture = || Some(machine.cpu.architecture.clone()).filter(|name| !name.is_empty());
    let threads = machine.topology.threads;
    let threads = threads.map(|threads| counted(threads, "thread"));
    let memory = |bytes: u64| Unit::Bytes.show(bytes as f64, 3);
    let system = match (&environment.kernel_name, &environment.kernel_release) {
        (Some(name), Some(release)) => Some(format!("{name} {release}")),
        _ => environment.os_name.clone(),
    };
    let system = match (system, &environment.stand_in) {
        (Some(system), Some(stand_in)) => Some(format!("{system} of {stand_in}")),
        (system, _) => system,
    };
    let parts = [
        machine.cpu.model.clone().or_else(architecture),
        threads,
        machine.memory_bytes.map(memory),
        machine.hypervisor.clone(),
        system,
        file_system(run),
    ];
    joined(", ", parts.into_iter().flatten())
}

/// The caution about a run under a program that stands in for its system; `None` for all others:
/// `Measured under Wine 8.0, not on Windows NT: its times say nothing about that system.`
pub fn stand_in(run: &Run) -> Option<String> {
    let environment = &run.environment;
    let stand_in = environment.stand_in.as_ref()?;
    let system = environment.kernel_name.as_deref().unwrap_or("that system");
    Some(format!(
        "Measured under {stand_in}, not on {system}: its times say nothing about that system."
    ))
}

/// The file system of the scratch files and the device below it: `ext4 on vda`.
fn file_system(run: &Run) -> Option<String> {
    let storage = run.storage.as_ref()?;
    let device = storage.block_device.as_ref();
    Some(match device {
        Some(device) => format!("{} on {device}", storage.file_system),
        None => storage.file_system.clone(),
    })
}
