//! Documents as pages.

use super::anchor::Anchors;
use super::chart::{Names, escaped, render};
use super::figure::scales;
use crate::document::{
    Block, Blocks, Chart, Column, ColumnKind, Document, Item, Piece, Section, Table, Text,
};
use crate::show::{Tone, Word};
use askama::Template;
use instrument::figure::Figure;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// `document` as a complete HTML document without external references or scripts, with `data` inside.
pub fn paint(document: &Document<'_>, data: Option<&Value>) -> String {
    let mut painter = Painter::default();
    for name in ["top", "method", "data"] {
        painter.anchors.take(name);
    }
    let mut contents = painter.name(&document.blocks, 2);
    painter.blocks(&document.blocks);
    let heading = painter.inline(&document.title);
    let main = std::mem::take(&mut painter.html);
    if let Some(method) = &document.method {
        contents += "<li><a href=\"#method\">Method</a></li>";
        painter.open_heading("h2", "", &method.title);
        painter.blocks(&method.blocks);
    }
    filled(&Page {
        title: document.title.plain(),
        heading,
        contents,
        main,
        method: painter.html,
        data: data.map(|data| data.to_string().replace('<', "\\u003c")),
        version: env!("CARGO_PKG_VERSION"),
        css: include_str!("../../assets/page.css"),
    })
}

/// The text of a template, which nothing but the writing of it can prevent.
pub(super) fn filled(template: &impl Template) -> String {
    template.render().expect("a text can be written to memory")
}

/// The targets of the links in a page by their words: the id and the title of each.
pub(super) type LinkTargets = BTreeMap<String, (String, String)>;

/// `blocks` as a part of another page, below a heading; `targets` are those of that page.
pub(super) fn part(blocks: &Blocks<'_>, name: &str, targets: &LinkTargets) -> String {
    let mut painter = Painter {
        prefix: format!("{name}-"),
        targets: targets.clone(),
        depth: 1,
        ..Painter::default()
    };
    painter.name(&blocks.0, 0);
    painter.blocks(&blocks.0);
    painter.html
}

/// A text within a line of another page, without links.
pub(super) fn inline(text: &Text) -> String {
    Painter::default().inline(text)
}

#[derive(Template)]
#[template(path = "document.html")]
struct Page {
    title: String,
    heading: String,
    contents: String,
    main: String,
    method: String,
    data: Option<String>,
    version: &'static str,
    css: &'static str,
}

/// Tables of more columns do not fit a phone.
const NARROW: usize = 3;

#[derive(Default)]
struct Painter {
    html: String,
    anchors: Anchors,
    /// The ids of all sections, in the order of reading.
    ids: std::collections::VecDeque<String>,
    /// The sections that links lead to, of each title the first.
    targets: LinkTargets,
    depth: usize,
    /// The beginning of each id.
    prefix: String,
}

impl Painter {
    /// Gives each section its id; returns the list of contents down to this level.
    fn name(&mut self, blocks: &[Block<'_>], levels: usize) -> String {
        let mut contents = String::new();
        for block in blocks {
            match block {
                Block::Section(section) => {
                    let title = section.title.plain();
                    let id = self.prefix.clone() + &self.anchors.take(&title);
                    self.ids.push_back(id.clone());
                    let place = (id.clone(), title.clone());
                    self.targets.entry(title).or_insert(place);
                    let below = self.name(&section.blocks, levels.saturating_sub(1));
                    if levels > 0 {
                        let link =
                            format!("<a href=\"#{id}\">{}</a>", contents_entry(&section.title));
                        let below = match below.as_str() {
                            "" => below,
                            list => format!("<ul>{list}</ul>"),
                        };
                        contents.extend(["<li>", &link, &below, "</li>"]);
                    }
                }
                Block::Rest(blocks) => contents += &self.name(blocks, levels),
                // What few read is not in the contents.
                Block::Fold(Section { blocks, .. }) => {
                    self.name(blocks, 0);
                }
                _ => {}
            }
        }
        contents
    }

    fn blocks(&mut self, blocks: &[Block<'_>]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block<'_>) {
        match block {
            Block::Paragraph(text) => self.element("p", "", text),
            Block::Remark(text) => self.element("p", "missing", text),
            Block::List(items) => {
                self.html += "<ul>";
                for item in items {
                    self.element("li", "", item);
                }
                self.html += "</ul>\n";
            }
            Block::Facts(facts) => {
                self.html += "<dl>";
                for (name, value) in facts {
                    self.html += "<div>";
                    self.element("dt", "", &name.into());
                    self.element("dd", "", value);
                    self.html += "</div>";
                }
                self.html += "</dl>\n";
            }
            Block::Items(items) => {
                self.html += "<ul class=\"findings\">\n";
                for item in items {
                    self.item(item);
                }
                self.html += "</ul>\n";
            }
            Block::Table(table) => {
                let (first, others) = table.divided();
                self.table(&first);
                if let Some(others) = others {
                    let summary = format!("{} more", others.rows());
                    self.fold(&summary.into(), |painter| painter.table(&others));
                }
            }
            Block::Chart(chart) => self.html += &figure(chart),
            Block::Section(section) => self.section(section),
            Block::Fold(section) => {
                self.fold(&section.title, |painter| painter.blocks(&section.blocks));
            }
            Block::Rest(blocks) => self.blocks(blocks),
        }
    }

    fn section(&mut self, section: &Section<'_>) {
        let id = self.ids.pop_front().unwrap_or_default();
        let heading = ["h2", "h3", "h4"][self.depth.min(2)];
        let element = if self.depth == 0 {
            "section"
        } else {
            "article"
        };
        let _ = writeln!(self.html, "<{element} aria-labelledby=\"{id}\">");
        self.open_heading(heading, &id, &section.title);
        self.depth += 1;
        self.blocks(&section.blocks);
        self.depth -= 1;
        let _ = writeln!(self.html, "</{element}>");
    }

    fn open_heading(&mut self, heading: &str, id: &str, title: &Text) {
        let (id, title) = (attribute("id", id), self.inline(title));
        let _ = writeln!(self.html, "<{heading}{id}>{title}</{heading}>");
    }

    fn fold(&mut self, summary: &Text, contents: impl FnOnce(&mut Self)) {
        self.html += "<details>";
        self.element("summary", "", summary);
        contents(self);
        self.html += "</details>\n";
    }

    fn element(&mut self, name: &str, class: &str, text: &Text) {
        let inline = self.inline(text);
        let class = attribute("class", class);
        let _ = writeln!(self.html, "<{name}{class}>{inline}</{name}>");
    }

    fn item(&mut self, item: &Item) {
        let lead = match item.lead.0.as_slice() {
            [Piece::Verdict(word)] => grade(*word),
            _ => format!("<span class=\"lead\">{}</span>", self.inline(&item.lead)),
        };
        let line = |line: &Text| format!("<span class=\"line\">{}</span>\n", self.inline(line));
        let lines: String = item.lines.iter().map(line).collect();
        let _ = writeln!(
            self.html,
            "<li>{lead} <span class=\"sentence\">{lines}</span></li>"
        );
    }

    fn table(&mut self, table: &Table) {
        let title = escaped(&table.title);
        let is_wide = table.columns.len() > NARROW;
        let class = attribute("class", if is_wide { "wide" } else { "" });
        let _ = write!(
            self.html,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table{class}>\n<thead><tr>"
        );
        for column in &table.columns {
            let class = attribute("class", if column.is_number() { "number" } else { "" });
            let _ = write!(
                self.html,
                "<th scope=\"col\"{class}>{}</th>",
                escaped(&column.title)
            );
        }
        self.html += "</tr></thead>\n<tbody>\n";
        for index in 0..table.rows() {
            self.html += "<tr>";
            for (place, column) in table.columns.iter().enumerate() {
                // On a phone, cells are below each other.
                let named = Some(column.title.as_str()).filter(|_| is_wide && place > 0);
                self.cell(column, &column.cells[index], named);
            }
            self.html += "</tr>\n";
        }
        self.html += "</tbody>\n</table></div>\n";
    }

    fn cell(&mut self, column: &Column, text: &Text, named: Option<&str>) {
        let class = match (column.kind, text.0.first()) {
            (ColumnKind::Name, _) => "name",
            (ColumnKind::Count | ColumnKind::Number, _) => "number",
            (ColumnKind::Words, Some(Piece::Verdict(word))) => word.class,
            (ColumnKind::Words, _) => "fact",
        };
        let class = attribute("class", class);
        // A ratio keeps its sign in a narrow column.
        let inline = self.inline(text).replace(" ×", "\u{a0}×");
        let (element, scope) = if column.is_name() {
            ("th", " scope=\"row\"")
        } else {
            ("td", "")
        };
        let named = named.map_or_else(String::new, |name| {
            format!(" data-name=\"{}\"", escaped(name))
        });
        let _ = write!(
            self.html,
            "<{element}{scope}{class}{named}>{inline}</{element}>"
        );
    }

    fn inline(&self, text: &Text) -> String {
        text.0.iter().map(|piece| self.piece(piece)).collect()
    }

    fn piece(&self, piece: &Piece) -> String {
        match piece {
            Piece::Words(tone, words) => {
                let words = escaped(words);
                match tone {
                    _ if words.is_empty() => words,
                    Tone::Plain => words,
                    Tone::Strong => format!("<strong>{words}</strong>"),
                    Tone::Faint => format!("<small>{words}</small>"),
                    Tone::Good => format!("<span class=\"faster\">{words}</span>"),
                    Tone::Bad => format!("<span class=\"slower\">{words}</span>"),
                    Tone::Doubtful => format!(
                        "<span class=\"doubtful\" title=\"a warning touches it\">{words}</span>"
                    ),
                }
            }
            Piece::Number(value, range) => {
                let value = format!("<span class=\"value\">{}</span>", escaped(value));
                match range {
                    Some(range) => {
                        format!("{value} <span class=\"range\">({})</span>", escaped(range))
                    }
                    None => value,
                }
            }
            Piece::Verdict(word) => escaped(word.text),
            Piece::Command(command) => {
                format!("<code class=\"command\">{}</code>", escaped(command))
            }
            Piece::Link(title) => match self.targets.get(title) {
                Some((id, title)) => format!("<a href=\"#{id}\">{}</a>", escaped(title)),
                None => escaped(title),
            },
        }
    }
}

/// The words of a title without those for reference.
fn contents_entry(title: &Text) -> String {
    let pieces = title.0.iter();
    let words = pieces.filter(|it| !matches!(it, Piece::Words(Tone::Faint, _)));
    escaped(words.map(Piece::plain).collect::<String>().trim())
}

/// A verdict as a shape and a word.
fn grade(word: Word) -> String {
    let more = match word.class {
        "likely" => "<path d=\"M6 1.2a4.8 4.8 0 0 0 0 9.6z\"/>",
        "refuted" => "<path d=\"M3.4 3.4l5.2 5.2M8.6 3.4l-5.2 5.2\"/>",
        _ => "",
    };
    format!(
        "<span class=\"grade {}\"><svg viewBox=\"0 0 12 12\" width=\"12\" height=\"12\" aria-hidden=\"true\">\
         <circle cx=\"6\" cy=\"6\" r=\"4.8\"/>{more}</svg>{}</span>",
        word.class, word.text
    )
}

/// One figure, or several side by side.
fn figure(chart: &Chart<'_>) -> String {
    let drawn: String = match chart.figures.as_slice() {
        [("", figure)] => {
            let (scale, _) = scales(figure);
            let drawn = render(figure, scale, Names::InChart);
            format!("<div class=\"plot\">{drawn}</div>")
        }
        several => {
            let one = |(heading, figure): &(&str, Figure)| {
                let drawn = render(figure, figure.y.scale, Names::InChart);
                format!("<div><h4>{}</h4>{drawn}</div>", escaped(heading))
            };
            format!(
                "<div class=\"pair\">{}</div>",
                several.iter().map(one).collect::<String>()
            )
        }
    };
    let title = match chart.title.as_str() {
        "" => String::new(),
        title => format!("<figcaption><h4>{}</h4></figcaption>", escaped(title)),
    };
    let note = match chart.note.as_str() {
        "" => String::new(),
        note => format!("<p class=\"note\">{}</p>", escaped(note)),
    };
    format!("<figure class=\"graph\">{title}{drawn}{note}</figure>\n")
}

/// An attribute, unless it is empty.
fn attribute(name: &str, value: &str) -> String {
    match value {
        "" => String::new(),
        value => format!(" {name}=\"{value}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::paint;
    use crate::document::{Blocks, Item, Piece, Table};
    use crate::show::words::SLOWER;

    const HOSTILE: &str = "</script><img src=x onerror=x>\"'&";

    #[test]
    fn no_text_becomes_markup_and_links_lead_to_their_sections() {
        let table = Table::of(HOSTILE, &[HOSTILE, "b"])
            .name(HOSTILE, |name| Piece::Link((*name).to_owned()))
            .words("verdict", |_| SLOWER)
            .first(1);
        let item = Item::new(SLOWER, [Piece::command(HOSTILE).into()]);
        let document = Blocks::default()
            .table(table)
            .section(HOSTILE, Blocks::default().items([item]))
            .fold(HOSTILE, Blocks::default().remark([HOSTILE]))
            .document(HOSTILE);
        let data = serde_json::json!({ "name": HOSTILE });
        let page = paint(&document, Some(&data));
        let parsed = scraper::Html::parse_document(&page);
        assert_eq!(parsed.errors, Vec::<String>::new());
        let all = |selector: &str| {
            let selector = scraper::Selector::parse(selector).expect("a selector");
            parsed.select(&selector).collect::<Vec<_>>()
        };
        assert_eq!((all("img").len(), all("script").len()), (0, 1));
        let link = all("tbody a")[0].attr("href").expect("an address");
        let section = all("h2")[0].attr("id").expect("an id");
        assert_eq!(link, format!("#{section}"));
        assert_eq!(all("details").len(), 2);
        assert_eq!(all("td.slower").len(), 2);
    }

    #[test]
    fn a_ratio_in_a_table_is_not_broken() {
        let table = Table::of("nodes", &["0.5 ×"]).words("core", |ratio| *ratio);
        let page = paint(&Blocks::default().table(table).document("nodes"), None);
        assert!(page.contains(">0.5\u{a0}×<"), "{page}");
    }
}
