//! Documents as Markdown.

use crate::document::{Block, Chart, Document, Piece, Section, Table, Text};
use crate::lists::joined;
use crate::show::Tone;
use std::fmt::Write as _;

/// `document` below a heading of this level. Parts for readers with much room are left out.
pub fn paint(document: &Document<'_>, level: usize) -> String {
    let mut painted = String::new();
    section(&mut painted, level, &document.title, &document.blocks);
    painted
}

fn section(to: &mut String, level: usize, title: &Text, blocks: &[Block<'_>]) {
    let gap = if to.is_empty() { "" } else { "\n" };
    let _ = writeln!(to, "{gap}{} {}", "#".repeat(level), line(title));
    for block in blocks {
        put(to, level, block);
    }
}

fn put(to: &mut String, level: usize, block: &Block<'_>) {
    // Writing to a String cannot fail.
    let _ = match block {
        Block::Paragraph(text) => writeln!(to, "\n{}", line(text)),
        Block::Remark(text) => writeln!(to, "\n> {}", line(text)),
        Block::List(items) => lines(to, items.iter().map(line)),
        Block::Facts(facts) => lines(
            to,
            facts
                .iter()
                .map(|(name, value)| format!("{}: {}", escaped(name), line(value))),
        ),
        Block::Items(items) => lines(
            to,
            items.iter().map(|item| {
                let words = joined(" ", item.lines.iter().map(line));
                format!("**{}** {words}", line(&item.lead))
            }),
        ),
        Block::Table(all) => {
            let (first, others) = all.divided();
            *to += "\n";
            *to += &table(&first);
            others.map_or(Ok(()), |others| {
                fold(to, &format!("{} more", others.rows()), &table(&others))
            })
        }
        Block::Chart(Chart {
            title,
            file: Some(file),
            ..
        }) => {
            writeln!(to, "\n![{}]({file})", escaped(title))
        }
        Block::Section(Section { title, blocks }) => {
            section(to, level + 1, title, blocks);
            Ok(())
        }
        Block::Fold(Section { title, blocks }) => {
            let mut body = String::new();
            for block in blocks {
                put(&mut body, level + 1, block);
            }
            fold(to, &line(title), body.trim_start_matches('\n'))
        }
        Block::Chart(_) | Block::Rest(_) => Ok(()),
    };
}

fn lines(to: &mut String, mut lines: impl Iterator<Item = String>) -> std::fmt::Result {
    to.push('\n');
    lines.try_for_each(|line| writeln!(to, "- {line}"))
}

fn fold(to: &mut String, summary: &str, body: &str) -> std::fmt::Result {
    writeln!(
        to,
        "\n<details><summary>{summary}</summary>\n\n{body}\n</details>"
    )
}

/// A table alone.
pub fn table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let columns = &table.columns;
    let mut painted = row(columns.iter().map(|it| escaped(&it.title)).collect());
    let rule = |it: &crate::document::Column| if it.is_number() { "---:" } else { "---" };
    painted += &row(columns.iter().map(|it| rule(it).to_owned()).collect());
    for index in 0..table.rows() {
        painted += &row(columns.iter().map(|it| line(&it.cells[index])).collect());
    }
    painted
}

/// A text without line breaks.
fn line(text: &Text) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Words(Tone::Strong, words) if !words.is_empty() => format!("**{}**", escaped(words)),
        Piece::Words(Tone::Doubtful, words) => format!("{} ⚠", escaped(words)),
        Piece::Command(command) if !command.contains(['`', '|']) => format!("`{command}`"),
        Piece::Command(command) => escaped(command),
        other => escaped(&other.plain()),
    };
    text.0.iter().map(piece).collect()
}

/// `text` with all Markdown and HTML markup escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::paint;
    use crate::document::{Blocks, Piece, Table, text};

    #[test]
    fn no_text_becomes_markup_and_further_rows_are_folded() {
        let rows = ["<b>", "a | b"];
        let table = Table::of("rows", &rows)
            .name("name", |row| *row)
            .number("value", |_| Piece::ratio(1.25, None))
            .first(1);
        let words = text!["See ", Piece::command("oscope list"), "."];
        let document = Blocks::default()
            .say([words])
            .table(table)
            .document("Of *one*");
        insta::assert_snapshot!(paint(&document, 2), @r"
        ## Of \*one\*

        See `oscope list`.

        | name | value |
        | --- | ---: |
        | &lt;b&gt; | 1.250 × |

        <details><summary>1 more</summary>

        | name | value |
        | --- | ---: |
        | a \| b | 1.250 × |

        </details>
        ");
    }
}
