//! The commands that put advice into effect and take it back, and the trials of it.

use advice::{Setting, Value};
use experiments::trial::Trial;
use platform::environment::System;

/// The commands of one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commands {
    /// Puts the setting into effect.
    pub set: String,
    /// Takes it back; `None` for an option of one command, which lasts no longer than that.
    pub undo: Option<String>,
}

/// The commands for `setting`, which is called `name`, of a run on `system`: for a shell of POSIX, or for
/// PowerShell. Where no tool of the system takes it, a program gets it in its environment.
pub fn commands(name: &str, setting: &Setting, system: Option<System>) -> Commands {
    let value = plain(&setting.value);
    let once = |set: String| Commands { set, undo: None };
    match name {
        "scan_threads" => once(format!("oscope file sum --threads {value} FILE")),
        "read_method" => once(format!("oscope file sum --method {value} FILE")),
        "direct_queue_depth" => {
            let engine = if system == Some(System::Windows) {
                "windowsaio"
            } else {
                "io_uring"
            };
            once(format!(
                "fio --name=reads --filename=FILE --rw=randread --bs=4k --direct=1 --ioengine={engine} \
                 --iodepth={value}"
            ))
        }
        _ if system == Some(System::Windows) => {
            let variable = upper(name);
            Commands {
                set: format!("$env:{variable} = '{value}'"),
                undo: Some(format!("Remove-Item Env:{variable}")),
            }
        }
        "read_block_size" | "read_cold_block_size" => {
            once(format!("dd if=FILE of=/dev/null bs={value}"))
        }
        "write_block_size" => once(format!("dd if=FILE of=COPY bs={value}")),
        "large_block_pages" if value == "huge" => {
            once("env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 PROGRAM".into())
        }
        // Blocks that `fallocate` reserves are not enough: the first write to one still changes the file's
        // description on the device.
        "log_blocks" if value == "allocated" => {
            once("dd if=/dev/zero of=LOG bs=1M count=64 conv=fsync".into())
        }
        _ => {
            let variable = upper(name);
            Commands {
                set: format!("export {variable}={value}"),
                undo: Some(format!("unset {variable}")),
            }
        }
    }
}

/// The trial of `setting`, which is called `name`, against the usual one; `None` if it is the usual one, or if no
/// experiment varies it alone.
pub fn trial(name: &str, setting: &Setting) -> Option<Trial> {
    if setting.value == setting.usual {
        return None;
    }
    experiments::trial::of_advice(name, &plain(&setting.usual), &plain(&setting.value))
}

/// A value as a command takes it.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Choice(choice) => choice.clone(),
    }
}

/// The name of a setting as an environment variable or macro.
pub(super) fn upper(name: &str) -> String {
    format!("OSCOPE_{}", identifier(name))
}

pub(super) fn identifier(text: &str) -> String {
    let sign = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    text.chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::{System, commands, trial};
    use crate::made_up::setting;
    use advice::{Setting, Value};

    #[test]
    fn each_setting_has_the_commands_of_its_system() {
        let (linux, windows) = (System::Linux, System::Windows);
        let choice = |name: &str| Value::Choice(name.to_owned());
        let settings = [
            ("log_blocks", choice("allocated"), linux),
            ("log_blocks", choice("appended"), linux),
            ("write_block_size", Value::Number(131_072), linux),
            ("read_block_size", Value::Number(32_768), windows),
            ("direct_queue_depth", Value::Number(16), windows),
        ];
        let commands = settings.map(|(name, value, system)| {
            let commands = commands(name, &setting(value), Some(system));
            [Some(commands.set), commands.undo]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; ")
        });
        insta::assert_snapshot!(commands.join("\n"), @r"
        dd if=/dev/zero of=LOG bs=1M count=64 conv=fsync
        export OSCOPE_LOG_BLOCKS=appended; unset OSCOPE_LOG_BLOCKS
        dd if=FILE of=COPY bs=131072
        $env:OSCOPE_READ_BLOCK_SIZE = '32768'; Remove-Item Env:OSCOPE_READ_BLOCK_SIZE
        fio --name=reads --filename=FILE --rw=randread --bs=4k --direct=1 --ioengine=windowsaio --iodepth=16
        ");
    }

    #[test]
    fn a_setting_is_tried_against_the_usual_one() {
        let setting = |value: u64| Setting {
            usual: Value::Number(4096),
            ..setting(Value::Number(value))
        };
        let found = trial("write_block_size", &setting(131_072)).expect("it can be tried");
        assert_eq!(found.vary, "block_size=4096,131072");
        assert_eq!(found.at, ["pass=write"]);
        assert_eq!(trial("write_block_size", &setting(4096)), None);
        assert_eq!(trial("spin_in_sections_up_to", &setting(1)), None);
    }
}
