use crate::environment::{Build, Environment, System};

pub(crate) fn here() -> System {
    System::Other
}

pub(crate) fn read() -> Environment {
    Environment {
        os_name: Some(std::env::consts::OS.to_owned()),
        build: Build::of_this_program(),
        command_line: std::env::args_os()
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect(),
        ..Environment::default()
    }
}
