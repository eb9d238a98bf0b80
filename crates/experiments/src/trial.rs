//! The settings of the kernel that can be tried, with the experiments that show their effect.

/// A setting of the kernel that can be tried, and the experiment that shows it.
#[derive(Debug)]
pub struct KernelSetting {
    /// Its name.
    pub name: &'static str,
    /// Its path, in which `{device}` is the block device of the scratch directory and `*` any processor.
    pub path: &'static str,
    /// The experiment.
    pub experiment: &'static str,
    /// The levels at which the experiment shows it, as `AXIS=LEVEL`.
    pub at: &'static [&'static str],
    /// The value to try where this one is set.
    pub other: fn(&str) -> String,
}

impl KernelSetting {
    /// Its path for files on the block device `device`; `None` for a setting of a device if there is none.
    pub fn path_on(&self, device: Option<&str>) -> Option<String> {
        if self.path.contains("{device}") {
            Some(self.path.replace("{device}", device?))
        } else {
            Some(self.path.to_owned())
        }
    }
}

/// The settings of the kernel that can be tried.
pub const KERNEL_SETTINGS: &[KernelSetting] = &[
    KernelSetting {
        name: "transparent_huge_pages",
        path: "/sys/kernel/mm/transparent_hugepage/enabled",
        experiment: "memory.page_fault",
        at: &["touch=first touch"],
        other: |now| if now == "always" { "never" } else { "always" }.into(),
    },
    KernelSetting {
        name: "read_ahead",
        path: "/sys/block/{device}/queue/read_ahead_kb",
        experiment: "file.cold_warm",
        at: &["block_size=65536"],
        other: |now| match now.parse::<u64>() {
            Ok(kib) if kib < 1024 => (4 * kib.max(32)).to_string(),
            _ => "128".into(),
        },
    },
    KernelSetting {
        name: "scheduler",
        path: "/sys/block/{device}/queue/scheduler",
        experiment: "file.engine",
        at: &["through=direct", "engine=io_uring 64", "block_size=4096"],
        other: |now| if now == "none" { "mq-deadline" } else { "none" }.into(),
    },
    KernelSetting {
        name: "governor",
        path: "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        // A governor decides how fast a processor is that has just been idle. Legs would not show it:
        // their costs are those at full speed.
        experiment: "process.wakeup",
        at: &["waker=thread", "load=idle"],
        other: |now| {
            if now == "performance" {
                "powersave"
            } else {
                "performance"
            }
            .into()
        },
    },
];

#[cfg(test)]
mod tests {
    use super::KERNEL_SETTINGS;

    #[test]
    fn trials_use_the_axes_of_their_experiments() {
        for setting in KERNEL_SETTINGS {
            let definition = crate::find(setting.experiment)
                .expect("an experiment")
                .definition();
            for level in setting.at {
                let (axis, _) = level.split_once('=').expect("an axis");
                assert!(definition.axis(axis).is_some(), "{level}");
            }
        }
    }
}
