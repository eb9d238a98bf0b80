//! The programs to compare, from the command line.

use super::words;
use crate::arguments::ab::Ab;
use crate::exit::WrongUse;

/// The shell if one is needed and none is named.
const USUAL_SHELL: &str = "sh";

/// A program to compare.
#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    /// The text of its command.
    pub command: String,
    /// Parameters and their values.
    pub parameters: Vec<(String, String)>,
    pub prepare: Option<String>,
    pub conclude: Option<String>,
    pub setup: Option<String>,
    pub cleanup: Option<String>,
}

/// All programs: each command with each combination of the parameters.
pub fn programs(arguments: &Ab) -> Result<Vec<Program>, WrongUse> {
    let options = &arguments.programs;
    let commands = arguments.commands.len();
    for (option, given) in [
        ("--prepare", options.prepare.len()),
        ("--conclude", options.conclude.len()),
    ] {
        if given > 1 && given != commands {
            return Err(WrongUse(format!(
                "{option} is there {given} times for {commands} commands: give one for all, or one for each"
            )));
        }
    }
    let one_of = |all: &[String], index: usize| all.get(index.min(all.len().max(1) - 1)).cloned();
    let mut programs = Vec::new();
    for (index, command) in arguments.commands.iter().enumerate() {
        for parameters in combinations(&options.parameters) {
            let filled = |text: String| fill(&text, &parameters);
            let name = options.names.get(programs.len()).cloned();
            programs.push(Program {
                name: filled(name.unwrap_or_else(|| command.clone())),
                command: filled(command.clone()),
                prepare: one_of(&options.prepare, index).map(filled),
                conclude: one_of(&options.conclude, index).map(filled),
                setup: options.setup.clone().map(filled),
                cleanup: options.cleanup.clone().map(filled),
                parameters: parameters.clone(),
            });
        }
    }
    if options.names.len() > programs.len() {
        return Err(WrongUse(format!(
            "--name is there {} times for {} commands",
            options.names.len(),
            programs.len()
        )));
    }
    if programs.len() < 2 {
        return Err(WrongUse(
            "a comparison takes two commands or more, or a --parameter with two values: \
             `oscope ab -- 'cmd one' 'cmd two'`"
                .into(),
        ));
    }
    number_equal_names(&mut programs);
    Ok(programs)
}

/// All combinations of the values; one empty combination without parameters.
fn combinations(parameters: &[(String, Vec<String>)]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for (name, values) in parameters {
        let longer = all.iter().flat_map(|begun: &Vec<_>| {
            values.iter().map(move |value| {
                let mut begun = begun.clone();
                begun.push((name.clone(), value.clone()));
                begun
            })
        });
        all = longer.collect();
    }
    all
}

/// `text` with the values of the parameters in the places of their names.
fn fill(text: &str, parameters: &[(String, String)]) -> String {
    let filled = |text: String, (name, value): &(String, String)| {
        text.replace(&format!("{{{name}}}"), value)
    };
    parameters.iter().fold(text.to_owned(), filled)
}

/// Each point of a record has a name of its own, also where a command is compared with itself.
fn number_equal_names(programs: &mut [Program]) {
    for index in 1..programs.len() {
        let name = programs[index].name.clone();
        let is_taken = |name: &str| programs[..index].iter().any(|other| other.name == name);
        let mut number = 1;
        let mut free = name.clone();
        while is_taken(&free) {
            number += 1;
            free = format!("{name} ({number})");
        }
        programs[index].name = free;
    }
}

/// The words of the shell that runs the programs; `None` if they are started directly.
pub fn shell(arguments: &Ab, programs: &[Program]) -> Result<Option<Vec<String>>, WrongUse> {
    let options = &arguments.programs;
    let named = options.shell.as_deref().unwrap_or("");
    if options.no_shell || named == "none" {
        return Ok(None);
    }
    // All by the same way: the start of a shell must not be the difference.
    let is_needed = programs
        .iter()
        .any(|program| words::needs_shell(&program.command));
    let text = match named {
        "" if !is_needed => return Ok(None),
        "" | "default" => USUAL_SHELL,
        named => named,
    };
    match words::split(text) {
        Some(words) if !words.is_empty() => Ok(Some(words)),
        _ => Err(WrongUse(format!("'{text}' is no shell"))),
    }
}

#[cfg(test)]
mod tests {
    use super::{programs, shell};
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    fn parsed(words: &[&str]) -> crate::arguments::ab::Ab {
        let words = ["oscope", "ab"].iter().chain(words);
        match Arguments::try_parse_from(words).unwrap().command {
            Some(Command::Ab(ab)) => *ab,
            other => panic!("{other:?}"),
        }
    }

    fn names(words: &[&str]) -> Vec<String> {
        let programs = programs(&parsed(words)).unwrap();
        programs.into_iter().map(|program| program.name).collect()
    }

    #[test]
    fn parameters_multiply_the_commands() {
        let words = [
            "--parameter",
            "n=1,2",
            "--parameter",
            "m=a,b",
            "--",
            "x {n}{m}",
        ];
        assert_eq!(names(&words), ["x 1a", "x 1b", "x 2a", "x 2b"]);
        assert!(programs(&parsed(&["x"])).is_err());
    }

    #[test]
    fn equal_commands_get_names_of_their_own() {
        assert_eq!(names(&["x", "x", "x"]), ["x", "x (2)", "x (3)"]);
        assert_eq!(names(&["-n", "old", "-n", "new", "x", "x"]), ["old", "new"]);
        assert!(programs(&parsed(&["-n", "a", "-n", "b", "-n", "c", "x", "x"])).is_err());
    }

    #[test]
    fn each_command_may_have_a_preparation_of_its_own() {
        let both = programs(&parsed(&["-p", "one", "-p", "two", "x", "y"])).unwrap();
        assert_eq!(both[1].prepare.as_deref(), Some("two"));
        let all = programs(&parsed(&["-p", "one", "x", "y"])).unwrap();
        assert_eq!(all[1].prepare.as_deref(), Some("one"));
        assert!(programs(&parsed(&["-p", "1", "-p", "2", "x", "y", "z"])).is_err());
    }

    #[test]
    fn one_command_that_needs_a_shell_gives_all_one() {
        let chosen = |words: &[&str]| {
            let ab = parsed(words);
            shell(&ab, &programs(&ab).unwrap()).unwrap()
        };
        assert_eq!(chosen(&["sleep 1", "sleep 2"]), None);
        assert_eq!(
            chosen(&["sleep 1", "sleep 1 | cat"]),
            Some(vec!["sh".into()])
        );
        assert_eq!(chosen(&["-N", "sleep 1", "sleep 1 | cat"]), None);
        let bash = chosen(&["--shell", "bash --norc", "sleep 1", "sleep 2"]);
        assert_eq!(bash, Some(vec!["bash".into(), "--norc".into()]));
    }
}
