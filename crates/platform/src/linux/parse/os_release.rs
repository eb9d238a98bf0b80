/// The value of `name` in an os-release file, without its quotes
/// ([os-release(5)](https://man7.org/linux/man-pages/man5/os-release.5.html)).
pub(in crate::linux) fn os_release_field(text: &str, name: &str) -> Option<String> {
    let value = text
        .lines()
        .filter_map(|line| line.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)?;
    Some(unquoted(value)).filter(|value| !value.is_empty())
}

/// Decodes a value as a shell does: in double quotes, or without quotes, a backslash escapes the
/// next character.
fn unquoted(value: &str) -> String {
    let bare = |quote| {
        value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
    };
    if let Some(literal) = bare('\'') {
        return literal.to_owned();
    }
    let mut shielded = false;
    bare('"')
        .unwrap_or(value)
        .chars()
        .filter(|character| {
            shielded = *character == '\\' && !shielded;
            !shielded
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_quoted_and_plain_values() {
        let text = r#"PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID='12'
# VERSION=no
VERSION=
ID=debian
ODD="a \"quoted\" \\ \$HOME"
"#;
        let field = |name| os_release_field(text, name);
        assert_eq!(field("NAME").as_deref(), Some("Debian GNU/Linux"));
        assert_eq!(field("VERSION_ID").as_deref(), Some("12"));
        assert_eq!(field("ID").as_deref(), Some("debian"));
        assert_eq!(field("VERSION"), None);
        assert_eq!(field("ODD").as_deref(), Some(r#"a "quoted" \ $HOME"#));
    }

    proptest! {
        #[test]
        fn never_panics(text in "(A=[\"'\\\\a]{0,6}\\n){0,4}|.{0,40}") {
            let _ = os_release_field(&text, "A");
        }
    }
}
