//! The programs to compare, from the command line: their words, and the shell if one needs it.

use crate::arguments::ab::Ab;
use crate::exit::{WrongUse, refuse};
use crate::output;
use instrument::quantity::counted;
use std::env;
use std::path::{Path, PathBuf};

/// The shell if one is needed and none is named.
const USUAL_SHELL: &str = "sh";

/// A program to compare.
#[derive(Clone, Debug)]
pub struct Program {
    /// On one line, and different from all others.
    pub name: String,
    /// The text of its command.
    pub command: String,
    /// Parameters and their values.
    pub parameters: Vec<(String, String)>,
    /// Working directory of its runs and of the commands around them.
    pub directory: PathBuf,
    /// Index of its place for standard output.
    pub output: usize,
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
        ("--output", options.output.len()),
        ("--dir", options.dir.len()),
    ] {
        if given > 1 && given != commands {
            refuse!(
                "{option} is there {given} times for {}: give one for all, or one for each",
                counted(commands, "command")
            );
        }
    }
    let parameters = options.all_parameters().map_err(WrongUse)?;
    check_parameters(arguments, &parameters)?;
    if options.names.iter().any(|name| name.trim().is_empty()) {
        refuse!("a name of `--name` is empty");
    }
    let is_there = |text: &String| !text.trim().is_empty();
    let place = |count: usize, index: usize| index.min(count.max(1) - 1);
    let one_of = |all: &[String], index: usize| all.get(place(all.len(), index)).cloned();
    let mut programs = Vec::new();
    for (index, command) in arguments.commands.iter().enumerate() {
        for parameters in combinations(&parameters) {
            let filled = |text: String| fill(&text, &parameters);
            let name = options.names.get(programs.len()).cloned();
            let around = |text: Option<String>| text.map(filled).filter(is_there);
            let text = filled(command.clone());
            if !is_there(&text) {
                refuse!("command {} is empty", programs.len() + 1);
            }
            programs.push(Program {
                name: on_one_line(&name.map_or_else(|| text.clone(), filled)),
                command: text,
                directory: options.dir[place(options.dir.len(), index)].clone(),
                output: place(options.output.len(), index),
                prepare: around(one_of(&options.prepare, index)),
                conclude: around(one_of(&options.conclude, index)),
                setup: around(options.setup.clone()),
                cleanup: around(options.cleanup.clone()),
                parameters: parameters.clone(),
            });
        }
    }
    if options.names.len() > programs.len() {
        refuse!(
            "--name is there {} for {}",
            counted(options.names.len(), "time"),
            counted(programs.len(), "command")
        );
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

/// Refuses a parameter that is given twice, or that changes nothing.
fn check_parameters(arguments: &Ab, parameters: &[(String, Vec<String>)]) -> Result<(), WrongUse> {
    let options = &arguments.programs;
    for (index, (name, values)) in parameters.iter().enumerate() {
        let earlier = &parameters[..index];
        if let Some((_, others)) = earlier.iter().find(|(other, _)| other == name) {
            refuse!(
                "the parameter '{name}' is given twice: give all its values at once, `--parameter \
                 {name}={},{}`",
                others.join(","),
                values.join(",")
            );
        }
        let around = [&options.prepare, &options.conclude];
        let once = options.setup.iter().chain(&options.cleanup);
        let mut texts = arguments
            .commands
            .iter()
            .chain(once)
            .chain(around.into_iter().flatten());
        if !texts.any(|text| text.contains(&placeholder(name))) {
            refuse!(
                "no command uses the parameter '{name}': write {} where its values belong",
                placeholder(name)
            );
        }
    }
    Ok(())
}

fn placeholder(name: &str) -> String {
    format!("{{{name}}}")
}

/// `text` with the values of the parameters in the places of their names. A value stays as it is.
fn fill(text: &str, parameters: &[(String, String)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        let found = parameters.iter().find_map(|(name, value)| {
            let after = from.strip_prefix(&placeholder(name))?;
            Some((value.as_str(), after))
        });
        let (place, after) = found.unwrap_or_else(|| from.split_at(1));
        filled = filled + before + place;
        rest = after;
    }
    filled + rest
}

/// Each point of a record has a different name, also where a command is compared with itself.
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

/// The words of the shell that runs the programs; `None` if they are started directly, which then is possible.
pub fn shell(arguments: &Ab, programs: &[Program]) -> Result<Option<Vec<String>>, WrongUse> {
    let options = &arguments.programs;
    let named = options.shell.as_deref().unwrap_or("");
    if options.no_shell || named == "none" {
        for Program { command, .. } in programs {
            words(command)?;
        }
        return Ok(None);
    }
    // All by the same way: the start of a shell must not be the difference.
    let is_needed = programs.iter().any(|program| needs_shell(&program.command));
    let text = match named {
        "" if !is_needed => return Ok(None),
        "" | "default" => USUAL_SHELL,
        named => named,
    };
    match shlex::split(text) {
        Some(words) if !words.is_empty() => Ok(Some(words)),
        _ => refuse!("'{text}' is no shell"),
    }
}

/// The words of a command that is started without a shell, split as POSIX shells do.
pub fn words(text: &str) -> Result<Vec<String>, WrongUse> {
    shlex::split(text)
        .filter(|words| !words.is_empty())
        .ok_or_else(|| {
            WrongUse(format!(
                "'{text}' is no command: a quote is open, or it is empty"
            ))
        })
}

/// True unless a shell would do nothing with `text` but split it and start the program that its first
/// word names.
pub fn needs_shell(text: &str) -> bool {
    /// Characters that mean something to a shell outside quotes. `~`, `#` and `!` do so only in some
    /// places, but count everywhere here.
    const SPECIAL: &str = "|&;<>()$`*?[]{}~#!\n";
    let mut quote = None;
    let mut is_escaped = false;
    for character in text.chars() {
        match (quote, character) {
            _ if is_escaped => {
                if character == '\n' {
                    return true;
                }
                is_escaped = false;
            }
            (None | Some('"'), '\\') => is_escaped = true,
            (Some(open), character) if open == character => quote = None,
            (Some('"'), '$' | '`') => return true,
            (None, '\'' | '"') => quote = Some(character),
            (None, special) if SPECIAL.contains(special) => return true,
            _ => {}
        }
    }
    let words = shlex::split(text).unwrap_or_default();
    match words.first() {
        // `NAME=value program` sets a variable.
        Some(first) => first.contains('=') || !is_program(first),
        None => true,
    }
}

/// True if `name` is a file, or found in PATH. Else it may be one of the shell's own commands.
fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return true;
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(Path::new(name)).is_file())
}

/// A command on one line, [harmless](output::harmless): its line breaks and tabs are spaces.
pub fn on_one_line(command: &str) -> String {
    output::on_one_line(&command.replace(['\n', '\t', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::{needs_shell, programs, words};
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    fn parsed(line: &str) -> crate::arguments::ab::Ab {
        let words = shlex::split(&format!("oscope ab {line}")).unwrap();
        match Arguments::try_parse_from(words).unwrap().command {
            Some(Command::Ab(ab)) => *ab,
            other => panic!("{other:?}"),
        }
    }

    fn names(line: &str) -> Vec<String> {
        let programs = programs(&parsed(line)).unwrap();
        programs.into_iter().map(|program| program.name).collect()
    }

    #[test]
    fn each_program_has_a_name_of_its_own() {
        for (line, expected) in [
            ("x x x", &["x", "x (2)", "x (3)"][..]),
            ("-n old -n new x x", &["old", "new"]),
            ("'a\nb' 'a b'", &["a b", "a b (2)"]),
            (
                "--parameter n=1,2 --parameter m=a,b -- 'x {n}{m}'",
                &["x 1a", "x 1b", "x 2a", "x 2b"],
            ),
            (
                "-L n 1,2 -P m 0 0.5 -D 0.5 -- 'x {n} {m}'",
                &["x 1 0.0", "x 1 0.5", "x 2 0.0", "x 2 0.5"],
            ),
            (r"--parameter 'n=a\,b,c=d' 'x {n}'", &["x a,b", "x c=d"]),
            ("-P n 0 0.3 -D 0.1 x{n}", &["x0.0", "x0.1", "x0.2", "x0.3"]),
            ("-P n -1 1 -D 0.75 x{n}", &["x-1.00", "x-0.25", "x0.50"]),
            ("-P n 5 5 -D 2 x{n}", &["x5"]),
            // A value is filled in once.
            (
                "--parameter a={b},x --parameter b=1,2 'echo {a} {b} {c} {'",
                &[
                    "echo {b} 1 {c} {",
                    "echo {b} 2 {c} {",
                    "echo x 1 {c} {",
                    "echo x 2 {c} {",
                ],
            ),
        ] {
            assert_eq!(names(line), expected, "{line}");
        }
        for option in ["--prepare", "--conclude", "--setup", "--cleanup"] {
            let line = format!("--parameter a=1,2 {option} 'set {{a}}' work");
            assert_eq!(names(&line), ["work", "work (2)"]);
        }
    }

    #[test]
    fn the_words_are_those_of_sh() {
        for text in [
            r#"printf '%s,' 'a  b' "c \" d" e\ f '' g"h"i"#,
            r#"printf '%s,' "a\b""#,
        ] {
            let words = words(text).unwrap();
            let direct = std::process::Command::new(&words[0])
                .args(&words[1..])
                .output();
            let shell = std::process::Command::new("sh").args(["-c", text]).output();
            assert_eq!(direct.unwrap().stdout, shell.unwrap().stdout, "{text}");
        }
    }

    #[test]
    fn only_plain_commands_do_without_a_shell() {
        for plain in [
            "sleep 1",
            "/bin/echo 'a | b'",
            r#"sleep "1""#,
            r"sleep a\|b",
            "sleep a=b",
        ] {
            assert!(!needs_shell(plain), "{plain}");
        }
        for shell in [
            "sleep 1 | cat",
            "sleep $N",
            r#"sleep "$N""#,
            "sleep *",
            "a=b sleep 1",
            "cd /",
            "sleep 1 > file",
            "sleep 'open",
            "",
        ] {
            assert!(needs_shell(shell), "{shell}");
        }
    }
}
