//! The words of a command, and the commands that need a shell to find them.

use crate::exit::WrongUse;
use crate::output;
use std::env;
use std::path::Path;

/// The words of `text`, split as a POSIX shell does: at blanks, with `'…'`, `"…"` and `\` as quotes.
/// `None` if a quote is not closed.
pub fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        inside => word.push(inside),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => {
                            let next = characters.next()?;
                            if !['"', '\\', '$', '`'].contains(&next) {
                                word.push('\\');
                            }
                            word.push(next);
                        }
                        inside => word.push(inside),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(characters.next()?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// The words of a command that is started without a shell.
pub fn command(text: &str) -> Result<Vec<String>, WrongUse> {
    split(text)
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
    let words = split(text).unwrap_or_default();
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
    use super::{needs_shell, split};

    #[test]
    fn words_are_split_as_a_shell_does() {
        let words = |text: &str| split(text).unwrap();
        assert_eq!(words("  a  b\tc "), ["a", "b", "c"]);
        assert_eq!(
            words(r#"a 'b  $c' "d \" \n" e\ f"#),
            ["a", "b  $c", r#"d " \n"#, "e f"]
        );
        assert_eq!(words("a ''"), ["a", ""]);
        assert_eq!(words("a'b'\"c\""), ["abc"]);
        assert_eq!(split("a 'b"), None);
        assert_eq!(split("a \"b"), None);
    }

    #[test]
    fn the_words_are_those_of_sh() {
        for text in [
            r#"printf '%s,' 'a  b' "c \" d" e\ f '' g"h"i"#,
            r#"printf '%s,' "a\b""#,
        ] {
            let words = split(text).unwrap();
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
