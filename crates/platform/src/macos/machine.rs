use super::sysctl::{number, text};
use crate::machine::{Cache, CacheKind, Cpu, Machine, Topology};
use crate::unsupported::machine;

/// The kernel knows that there is one, not its name.
pub(crate) fn hypervisor() -> Option<String> {
    let is_guest = number("kern.hv_vmm_present") == Some(1);
    machine::hypervisor().or_else(|| is_guest.then(|| "unknown".to_owned()))
}

pub(crate) fn read() -> Machine {
    let known = machine::read();
    let count = |name| number(name).map(|count| count as usize);
    Machine {
        cpu: Cpu {
            model: text("machdep.cpu.brand_string").or(known.cpu.model),
            ..known.cpu
        },
        topology: Topology {
            sockets: count("hw.packages"),
            cores: count("hw.physicalcpu"),
            threads: count("hw.logicalcpu"),
            threads_present: count("hw.logicalcpu_max"),
            numa_nodes: None,
            core_types: Vec::new(),
        },
        caches: caches(),
        memory_bytes: number("hw.memsize_usable").or_else(|| number("hw.memsize")),
        page_bytes: Some(rustix::param::page_size() as u64),
        hypervisor: hypervisor(),
        product: text("hw.model"),
        ..known
    }
}

/// The caches of each sort of cores, the fastest cores first. Processors with one sort, as those of
/// Intel, do not tell which threads share a cache: then none is named.
fn caches() -> Vec<Cache> {
    const SORTS: [(&str, u32, CacheKind, Option<&str>); 4] = [
        ("l1dcachesize", 1, CacheKind::Data, None),
        ("l1icachesize", 1, CacheKind::Instruction, None),
        ("l2cachesize", 2, CacheKind::Unified, Some("cpusperl2")),
        ("l3cachesize", 3, CacheKind::Unified, Some("cpusperl3")),
    ];
    let levels = number("hw.nperflevels").unwrap_or(0);
    let line_bytes = number("hw.cachelinesize");
    let caches = SORTS.iter().flat_map(|(size, level, kind, sharing)| {
        (0..levels).filter_map(move |sort| {
            let fact = |name: &str| number(&format!("hw.perflevel{sort}.{name}"));
            let shared_by_cpus = sharing.map_or(Some(1), fact)?.max(1) as usize;
            Some(Cache {
                level: *level,
                kind: *kind,
                size_bytes: Some(fact(size)?),
                line_bytes,
                ways: None,
                shared_by_cpus,
                instances: (fact("logicalcpu_max")? as usize).div_ceil(shared_by_cpus),
            })
        })
    });
    caches.collect()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn reads_this_machine() {
        let machine = read();
        assert!(machine.memory_bytes > Some(1 << 20), "{machine:?}");
        assert!(machine.page_bytes.is_some_and(u64::is_power_of_two));
        assert!(machine.topology.threads >= machine.topology.cores);
        assert!(machine.cpu.model.is_some() && machine.product.is_some());
        for cache in &machine.caches {
            assert!(cache.instances > 0 && cache.shared_by_cpus > 0, "{cache:?}");
        }
    }
}
