//! Documents for the terminal.

use super::chart::chart;
use super::grid;
use super::style::Style;
use super::text::{labelled, paragraph};
use crate::document::{Block, Chart, Document, Item, Piece, Section, Table, Text};
use crate::show::Tone;
use textwrap::core::display_width;

/// `document`, with what is folded if `is_unfolded`.
pub fn paint(document: &Document<'_>, style: &Style, is_unfolded: bool) -> String {
    let mut painter = Painter {
        style,
        unfolded_by: document.unfolded_by,
        is_unfolded: is_unfolded || document.unfolded_by.is_empty(),
        painted: String::new(),
        is_below_heading: true,
    };
    if !document.title.is_empty() {
        painter.heading(&document.title);
    }
    painter.blocks(&document.blocks);
    painter.painted
}

/// A text as one line, with its colours.
fn line(text: &Text, style: &Style) -> String {
    let pieces = text.pieces();
    pieces
        .map(|(tone, words)| style.paint(tone, &words))
        .collect()
}

/// Width of a verdict with its mark, so that all of them are in one column.
const VERDICT: usize = 16;

struct Painter<'p> {
    style: &'p Style,
    unfolded_by: &'static str,
    is_unfolded: bool,
    painted: String,
    /// True if nothing is between the last heading and what comes next.
    is_below_heading: bool,
}

impl Painter<'_> {
    fn blocks(&mut self, blocks: &[Block<'_>]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Paragraph(text) => self.paragraph("", text),
            Block::Remark(text) => {
                let mark = self.style.paint(Tone::Doubtful, "! ");
                self.paragraph(&mark, text);
            }
            Block::List(items) => items.iter().for_each(|item| self.paragraph("- ", item)),
            Block::Facts(facts) => {
                let style = self.style;
                let facts = facts
                    .iter()
                    .map(|(name, value)| (name.as_str(), line(value, style)));
                self.put(&labelled(&facts.collect::<Vec<_>>(), style));
            }
            Block::Items(items) => self.items(items),
            Block::Table(table) => self.table(table),
            // Figures with headings are side by side, for which only a page is wide enough.
            Block::Chart(Chart { figures, .. }) => {
                for (_, figure) in figures.iter().filter(|(heading, _)| heading.is_empty()) {
                    self.gap();
                    self.put(&chart(figure, self.style));
                }
            }
            Block::Section(section) => self.section(section),
            Block::Fold(section) if self.is_unfolded => self.section(section),
            Block::Fold(section) => {
                let more = format!("{}: {}", section.title.plain(), self.unfolded_by);
                self.paragraph("", &more.into());
            }
            Block::Rest(blocks) if self.is_unfolded => self.blocks(blocks),
            Block::Rest(_) => {}
        }
    }

    fn put(&mut self, lines: &str) {
        self.painted += lines;
        self.is_below_heading = false;
    }

    /// An empty line, but below a heading.
    fn gap(&mut self) {
        if !self.is_below_heading {
            self.painted.push('\n');
        }
    }

    /// The first words of a heading are strong, those for reference are not.
    fn heading(&mut self, title: &Text) {
        let mut title = title.clone();
        if let Some(Piece::Words(tone, _)) = title.0.first_mut() {
            *tone = Tone::Strong;
        }
        self.painted += &(self.style.text(&line(&title, self.style)) + "\n");
        self.is_below_heading = true;
    }

    fn section(&mut self, section: &Section<'_>) {
        if !self.painted.is_empty() {
            self.painted.push('\n');
        }
        self.heading(&section.title);
        self.blocks(&section.blocks);
    }

    fn paragraph(&mut self, first: &str, text: &Text) {
        let words = line(text, self.style);
        let painted = match text.0.as_slice() {
            // A command stays whole, to be copied.
            [Piece::Command(_)] => format!("{first}{words}\n"),
            _ => paragraph(first, &words, self.style),
        };
        self.put(&painted);
    }

    /// The verdicts in a column of their own.
    fn items(&mut self, items: &[Item]) {
        let lead = |item: &Item| match item.lead.0.as_slice() {
            [Piece::Verdict(word)] if !word.mark.0.is_empty() => {
                format!(
                    "{} {}",
                    self.style.choose(word.mark.0, word.mark.1),
                    word.text
                )
            }
            _ => self.style.text(&item.lead.plain()),
        };
        let leads: Vec<String> = items.iter().map(lead).collect();
        let is_verdict = |item: &&Item| matches!(item.lead.0.as_slice(), [Piece::Verdict(_)]);
        let least = items.iter().find(is_verdict).map_or(0, |_| VERDICT);
        let widest = leads.iter().map(|lead| display_width(lead));
        let width = widest.fold(least, usize::max);
        let indent = " ".repeat(width + 2);
        for (item, lead) in items.iter().zip(leads) {
            let filled = lead.clone() + &" ".repeat(width - display_width(&lead));
            let first = self.style.paint(item.lead.tone(), &filled) + "  ";
            for (index, text) in item.lines.iter().enumerate() {
                self.paragraph(if index == 0 { &first } else { &indent }, text);
            }
        }
    }

    fn table(&mut self, table: &Table) {
        let (first, others) = table.divided();
        let shown = if self.is_unfolded { table } else { &first };
        self.gap();
        self.put(&grid::paint(shown, self.style));
        if let Some(others) = others.filter(|_| !self.is_unfolded) {
            let more = format!("and {} more: {}", others.rows(), self.unfolded_by);
            self.paragraph("", &more.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::paint;
    use crate::document::{Blocks, Document, Item, Piece, Table, text};
    use crate::made_up;
    use crate::show::words::{FASTER, grade};
    use crate::terminal::Style;
    use instrument::finding::Grade;

    fn document() -> Document<'static> {
        let rows = [
            ("memory.latency chain of addresses, 64 MiB", 1.25),
            ("calls", 1.0),
        ];
        let table = Table::of("values", &rows)
            .name("value", |row| row.0)
            .number("B as fast", |row| Piece::ratio(row.1, None))
            .words("verdict", |_| FASTER)
            .first(1);
        let items = [Grade::Certain, Grade::Undecided].map(|it| {
            let because = Piece::faint("[because]").into();
            Item::new(grade(it), ["It is so.".into(), because])
        });
        let blocks = Blocks::default()
            .remark(["Read this first."])
            .table(table)
            .section("Found", Blocks::default().items(items))
            .fold("2 facts", Blocks::default().say(["folded"]))
            .rest(Blocks::default().say([text!["rest ", Piece::command("oscope"), "."]]));
        Document {
            unfolded_by: "--all",
            ..blocks.document("A title")
        }
    }

    const STYLE: Style = made_up::terminal(48);

    #[test]
    fn a_document_reads_from_top_to_bottom_and_names_what_is_folded() {
        insta::assert_snapshot!(paint(&document(), &STYLE, false), @r"
        A title
        ! Read this first.

         value                   │ B as fast │ verdict
        ─────────────────────────┼───────────┼─────────
         memory.latency chain of │   1.250 × │ faster
         addresses, 64 MiB       │           │
        and 1 more: --all

        Found
        ● certain         It is so.
                          [because]
        ○ undecided       It is so.
                          [because]
        2 facts: --all
        ");
    }

    #[test]
    fn an_unfolded_document_has_all_of_it() {
        let text = paint(&document(), &STYLE, true);
        for part in ["calls", "folded", "rest `oscope`"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("--all"), "{text}");
    }
}
