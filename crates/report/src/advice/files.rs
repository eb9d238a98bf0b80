//! Advice in file formats other than JSON.

use super::command::{identifier, plain, upper};
use advice::{Advice, Setting, Value};

/// The settings in a format that shells and service managers read: `OSCOPE_READ_BLOCK_SIZE=131072`.
pub fn environment(advice: &Advice) -> String {
    // Choices stay unquoted: the lines are also passed to `env`, which does not remove quotes.
    let lines = advice.settings.iter();
    let lines = lines.map(|(name, it)| format!("{}={}\n", upper(name), plain(&it.value)));
    format!("OSCOPE_MEASURED={}\n", advice.measured) + &lines.collect::<String>()
}

/// The settings as a C and C++ header: numbers as constants, choices as defined macros.
pub fn c_header(advice: &Advice) -> String {
    let machine = advice.machine.as_deref().unwrap_or("a machine");
    // Machine names and settings come from outside, so they must not be able to end the comment.
    let machine = machine.replace("*/", "* /");
    let define = |(name, setting): (&String, &Setting)| {
        let value = match &setting.value {
            Value::Number(number) => format!("{} {number}ULL", upper(name)),
            Value::Choice(choice) => format!("{}_{} 1", upper(name), identifier(choice)),
        };
        let (title, because) = (&setting.title, &setting.because);
        format!("\n/* {title}. {because} */\n#define {value}\n")
    };
    let defines: String = advice.settings.iter().map(define).collect();
    format!(
        "/* What programs should use on {machine}, measured {}. */\n\n#ifndef OSCOPE_ADVICE_H\n\
         #define OSCOPE_ADVICE_H\n{defines}\n#endif\n",
        advice.measured
    )
}

#[cfg(test)]
mod tests {
    use super::{c_header, environment};
    use crate::made_up::setting;
    use advice::{Advice, Value};

    fn advice() -> Advice {
        let read_method = Value::Choice("io_uring".into());
        Advice {
            machine: Some("A */ processor".into()),
            measured: "2026-03-01T00:00:00Z".into(),
            settings: [
                ("queue_depth".into(), setting(Value::Number(16))),
                ("read_method".into(), setting(read_method)),
            ]
            .into(),
            ..Advice::default()
        }
    }

    #[test]
    fn a_shell_reads_the_settings() {
        assert_eq!(
            environment(&advice()),
            "OSCOPE_MEASURED=2026-03-01T00:00:00Z\nOSCOPE_QUEUE_DEPTH=16\nOSCOPE_READ_METHOD=io_uring\n"
        );
    }

    #[test]
    fn a_compiler_reads_the_settings() {
        let header = c_header(&advice());
        assert!(header.contains("\n#define OSCOPE_QUEUE_DEPTH 16ULL\n"));
        assert!(header.contains("\n#define OSCOPE_READ_METHOD_IO_URING 1\n"));
        assert_eq!(header.matches("*/").count(), 3, "no name ends a comment");
    }
}
