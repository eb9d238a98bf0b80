//! The experiments that show the gain of a setting before it is set.

use platform::environment::System;

/// What `oscope ab` measures to try a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The experiment.
    pub experiment: &'static str,
    /// `AXIS=USUAL,NEW`.
    pub vary: String,
    /// `AXIS=LEVEL` for all that stays.
    pub at: Vec<String>,
}

/// The trial of the advised setting called `name`, `new` against `usual`; `None` if no experiment
/// varies just it.
pub fn of_advice(name: &str, usual: &str, new: &str) -> Option<Trial> {
    let of_block = |pass: &str| Trial {
        experiment: "file.block_size",
        vary: format!("block_size={usual},{new}"),
        at: vec![format!("pass={pass}")],
    };
    Some(match name {
        "read_block_size" => of_block("read warm"),
        "read_cold_block_size" => of_block("read cold"),
        "write_block_size" => of_block("write"),
        "loop_piece_size" | "loop_piece_size_l1" | "loop_piece_size_l2" | "loop_piece_size_l3" => {
            Trial {
                experiment: "memory.subloop",
                vary: format!("piece_size={usual},{new}"),
                at: vec![format!("block_size={usual}")],
            }
        }
        "direct_queue_depth" => {
            let queue = match System::here() {
                System::Windows => "overlapped",
                System::Linux | System::Other => "io_uring",
            };
            Trial {
                experiment: "file.engine",
                vary: format!("engine={queue} {usual},{queue} {new}"),
                at: vec!["through=direct".into()],
            }
        }
        "safe_write_by" => Trial {
            experiment: "file.sync",
            vary: format!("method={},{}", way_of_waiting(usual)?, way_of_waiting(new)?),
            at: vec!["place=overwrite".into()],
        },
        "log_blocks" => Trial {
            experiment: "file.sync",
            vary: "place=append,overwrite".into(),
            at: vec!["method=write+fdatasync".into()],
        },
        "log_wait" => Trial {
            experiment: "file.group_commit",
            vary: format!("wait={usual},{new}"),
            at: vec!["writers=16".into()],
        },
        "start_programs_by" => Trial {
            experiment: "process.calls",
            vary: "call=fork+exec+wait,posix_spawn+wait".into(),
            at: vec!["optimisation=3".into()],
        },
        _ => return None,
    })
}

/// The level of `file.sync` for an advised way of waiting.
fn way_of_waiting(advised: &str) -> Option<&'static str> {
    Some(match advised {
        "fsync" => "write+fsync",
        "fdatasync" => "write+fdatasync",
        "o_sync" => "O_SYNC write",
        "o_dsync" => "O_DSYNC write",
        _ => return None,
    })
}

/// A setting of the kernel that can be tried, and the experiment that shows it.
#[derive(Debug)]
pub struct KernelSetting {
    /// Its name.
    pub name: &'static str,
    /// Its path; `{device}` is the block device of the scratch directory, and `*` for each
    /// processor.
    pub path: &'static str,
    /// The experiment.
    pub experiment: &'static str,
    /// `AXIS=LEVEL` for all that stays.
    pub at: &'static [&'static str],
    /// Another value than this one.
    pub other: fn(&str) -> String,
}

impl KernelSetting {
    /// Its path for files on the block device `device`; `None` if it is one of a device and there is
    /// none.
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
    use super::{KERNEL_SETTINGS, of_advice};

    #[test]
    fn trials_use_the_axes_of_their_experiments() {
        let has = |experiment: &str, level: &str| {
            let definition = crate::find(experiment).expect("it is one").definition();
            let (axis, _) = level.split_once('=').expect("an axis");
            assert!(definition.axis(axis).is_some(), "{level}");
        };
        let advised = crate::advice().filter_map(|rule| of_advice(rule.setting, "1", "64"));
        for trial in advised {
            let levels = trial.at.iter().chain([&trial.vary]);
            levels.for_each(|level| has(trial.experiment, level));
        }
        for setting in KERNEL_SETTINGS {
            setting
                .at
                .iter()
                .for_each(|level| has(setting.experiment, level));
        }
    }
}
