//! The header and the exported functions name the same things.

use std::collections::BTreeMap;

const HEADER: &str = include_str!("../include/uthread.h");
const SOURCES: &[&str] = &[
    include_str!("../src/condition.rs"),
    include_str!("../src/error.rs"),
    include_str!("../src/lock.rs"),
    include_str!("../src/names.rs"),
    include_str!("../src/outside.rs"),
    include_str!("../src/runtime.rs"),
    include_str!("../src/select.rs"),
    include_str!("../src/sharing.rs"),
    include_str!("../src/socket.rs"),
    include_str!("../src/synchronization.rs"),
    include_str!("../src/thread.rs"),
    include_str!("../src/transfer.rs"),
    include_str!("../src/values.rs"),
];

/// A name with the kinds of its parameters and of its result.
type Functions = BTreeMap<String, (Vec<&'static str>, &'static str)>;

/// A type as the calling convention sees it, and as a reader does.
fn kind(spelled: &str) -> &'static str {
    let spelled = spelled.trim();
    if spelled.contains("extern \"")
        || spelled.contains("(*")
        || spelled.ends_with("Function>")
        || spelled.ends_with("Destructor>")
    {
        return "function";
    }
    if spelled.starts_with("*const") || (spelled.starts_with("const ") && spelled.contains('*')) {
        return "pointer";
    }
    if spelled.starts_with("*mut") || spelled.contains('*') {
        return "pointer";
    }
    match spelled.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_') {
        "" => primitive(spelled),
        // A C parameter has its name behind its type.
        words => primitive(words.trim()),
    }
}

fn primitive(spelled: &str) -> &'static str {
    match spelled {
        "int" | "c_int" => "int",
        "unsigned int" | "unsigned" | "socklen_t" | "c_uint" => "unsigned int",
        "size_t" | "usize" => "size_t",
        "ssize_t" | "isize" => "ssize_t",
        "int64_t" | "i64" => "int64_t",
        "uint64_t" | "u64" => "uint64_t",
        "void" | "" | "!" => "void",
        other => panic!("a type that this test does not know: {other}"),
    }
}

/// Splits at the commas outside brackets.
fn parameters(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '<' => depth += 1,
            ')' => depth -= 1,
            '>' if !list[..at].ends_with('-') => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.retain(|part| !part.trim().is_empty() && part.trim() != "void");
    parts
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        code.push_str(&rest[..start]);
        rest = rest[start..].split_once("*/").expect("comments end").1;
    }
    code.push_str(rest);
    code.lines()
        .filter(|line| !line.starts_with('#'))
        .collect::<Vec<_>>()
        .join(" ")
}

fn declared() -> Functions {
    let code = without_comments(HEADER);
    let declarations = code.split([';', '{', '}']);
    let parse = |declaration: &str| {
        let declaration = declaration.split("__attribute__").next()?.trim();
        let (before, list) = declaration.split_once('(')?;
        let name_at = before.rfind("uthread_")?;
        let list = &list[..list.rfind(')')?];
        let kinds = parameters(list).into_iter().map(kind).collect();
        let result = before[..name_at].trim();
        let result = if result.contains('*') {
            "pointer"
        } else {
            primitive(result)
        };
        Some((before[name_at..].to_owned(), (kinds, result)))
    };
    declarations.filter_map(parse).collect()
}

fn exported() -> Functions {
    let mut functions = Functions::new();
    for part in SOURCES
        .iter()
        .flat_map(|source| source.split("#[unsafe(no_mangle)]").skip(1))
    {
        let signature = part.split_once(" fn ").expect("a function follows").1;
        let (name, rest) = signature
            .split_once('(')
            .expect("a function has parameters");
        let head = &rest[..rest.find(" {\n").expect("a function has a body")];
        let end = head.rfind(')').expect("the parameters end");
        let end = head.rfind(") ->").unwrap_or(end);
        let result = head[end + 1..].trim().trim_start_matches("->");
        let kinds = parameters(&head[..end])
            .into_iter()
            .map(|parameter| kind(parameter.split_once(": ").expect("it has a type").1))
            .collect();
        functions.insert(name.to_owned(), (kinds, kind(result)));
    }
    functions
}

#[test]
fn every_declaration_has_its_function_and_every_function_its_declaration() {
    let (declared, exported) = (declared(), exported());
    assert!(declared.len() > 50, "only {} were found", declared.len());
    assert_eq!(declared, exported);
}
