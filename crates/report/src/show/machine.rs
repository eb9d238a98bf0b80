//! A machine in one line.

use instrument::quantity::Unit;
use record::Run;

/// Processor, memory, system and the file system of a run, the parts that are known:
/// `AMD EPYC, 2 threads, 23 GiB, KVM, Linux 6.18, ext4`.
pub fn machine(run: &Run) -> String {
    let (machine, environment) = (&run.machine, &run.environment);
    let architecture = || Some(machine.cpu.architecture.clone()).filter(|name| !name.is_empty());
    let threads = machine.topology.threads.map(|threads| match threads {
        1 => "1 thread".into(),
        threads => format!("{threads} threads"),
    });
    let memory = |bytes: u64| Unit::Bytes.show(bytes as f64, 3);
    let system = match (&environment.kernel_name, &environment.kernel_release) {
        (Some(name), Some(release)) => Some(format!("{name} {release}")),
        _ => environment.os_name.clone(),
    };
    let parts = [
        machine.cpu.model.clone().or_else(architecture),
        threads,
        machine.memory_bytes.map(memory),
        machine.hypervisor.clone(),
        system,
        file_system(run),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
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
