//! The commands that put advice into effect and take it back.

use super::files::upper;
use advice::{Setting, Value};
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

/// A value as a command takes it.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Choice(choice) => choice.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Commands, System};
    use advice::{Setting, Value};

    fn commands(name: &str, setting: &Setting) -> Commands {
        super::commands(name, setting, Some(System::Linux))
    }

    fn setting(value: Value) -> Setting {
        Setting {
            title: "what it sets".into(),
            value,
            unit: None,
            usual: Value::Number(1),
            gain: None,
            because: "It follows.".into(),
            experiments: Vec::new(),
        }
    }

    #[test]
    fn a_log_gets_its_blocks_by_writing_them() {
        let found = commands("log_blocks", &setting(Value::Choice("allocated".into())));
        assert_eq!(
            found.set,
            "dd if=/dev/zero of=LOG bs=1M count=64 conv=fsync"
        );
        let usual = commands("log_blocks", &setting(Value::Choice("appended".into())));
        assert_eq!(usual.set, "export OSCOPE_LOG_BLOCKS=appended");
    }

    #[test]
    fn a_tool_of_the_system_takes_the_value() {
        let found = commands("write_block_size", &setting(Value::Number(131_072)));
        assert_eq!(found.set, "dd if=FILE of=COPY bs=131072");
        assert_eq!(found.undo, None);
    }

    #[test]
    fn windows_has_other_tools_and_another_shell() {
        let of = |name, value| super::commands(name, &setting(value), Some(System::Windows));
        let read = of("read_block_size", Value::Number(32768));
        assert_eq!(read.set, "$env:OSCOPE_READ_BLOCK_SIZE = '32768'");
        assert_eq!(
            read.undo.as_deref(),
            Some("Remove-Item Env:OSCOPE_READ_BLOCK_SIZE")
        );
        let depth = of("direct_queue_depth", Value::Number(16)).set;
        assert!(
            depth.ends_with("--ioengine=windowsaio --iodepth=16"),
            "{depth}"
        );
    }

    #[test]
    fn what_no_tool_takes_is_a_variable_that_can_be_unset() {
        let found = commands(
            "start_programs_by",
            &setting(Value::Choice("posix_spawn".into())),
        );
        assert_eq!(found.set, "export OSCOPE_START_PROGRAMS_BY=posix_spawn");
        assert_eq!(
            found.undo.as_deref(),
            Some("unset OSCOPE_START_PROGRAMS_BY")
        );
    }
}
