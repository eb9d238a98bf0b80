//! `/proc/PID/stat`, in the format of `proc_pid_stat`(5).

use crate::programs::Program;

/// The process of one line; `None` if the line has another format.
pub(in crate::linux) fn program(stat: &str, ticks_per_second: u64) -> Option<Program> {
    // The name is in parentheses and may itself contain parentheses and spaces.
    let (id, rest) = stat.split_once(" (")?;
    let (name, fields) = rest.rsplit_once(") ")?;
    // After the name: the state is field 3, user and system ticks are fields 14 and 15.
    let mut ticks = fields.split(' ').skip(11).map(str::parse::<u64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    let cpu_ns = u128::from(user) + u128::from(system);
    let cpu_ns = cpu_ns * 1_000_000_000 / u128::from(ticks_per_second.max(1));
    Some(Program {
        id: id.parse().ok()?,
        name: name.to_owned(),
        cpu_ns: u64::try_from(cpu_ns).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::program;
    use proptest::prelude::*;

    #[test]
    fn a_name_may_hold_anything() {
        let line = "42 (a) (b c) S 1 42 42 0 -1 4194560 900 0 0 0 7 3 0 0 20 0 1 0 5 1 2";
        let program = program(line, 100).unwrap();
        assert_eq!((program.id, program.name.as_str()), (42, "a) (b c"));
        assert_eq!(program.cpu_ns, 100_000_000);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text: String, ticks: u64) {
            let _ = program(&text, ticks);
        }
    }
}
