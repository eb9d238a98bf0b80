//! A result in the order of reading. A view makes a document of a typed result; the terminal, the page and
//! Markdown each paint a document once.
//!
//! Painters know no view, and only they escape, align, colour and wrap. JSON is made of the result itself.

mod table;
mod text;

pub use table::{Column, ColumnKind, Table, TableBuilder};
pub(crate) use text::text;
pub use text::{Piece, Text};

use instrument::figure::Figure;

/// A result in the order of reading.
#[derive(Clone, Debug, Default)]
pub struct Document<'a> {
    /// The title.
    pub title: Text,
    /// The contents.
    pub blocks: Vec<Block<'a>>,
    /// The options that show what is folded, for a terminal: `--all`. Without any, nothing is folded there.
    pub unfolded_by: &'static str,
    /// The method, for a page, whose readers may have no manual.
    pub method: Option<Section<'a>>,
}

/// A part of a document.
#[derive(Clone, Debug)]
pub enum Block<'a> {
    /// A paragraph.
    Paragraph(Text),
    /// A caveat to read before the numbers.
    Remark(Text),
    /// Statements without order.
    List(Vec<Text>),
    /// Names with their values.
    Facts(Vec<(String, Text)>),
    /// Judged things.
    Items(Vec<Item>),
    /// A table.
    Table(Table),
    /// A chart.
    Chart(Chart<'a>),
    /// A heading and what it is above.
    Section(Section<'a>),
    /// Parts that are shown on demand.
    Fold(Section<'a>),
    /// Parts for readers with much room: on a page, and in the terminal on demand.
    Rest(Vec<Block<'a>>),
}

/// A heading and what it is above.
#[derive(Clone, Debug, Default)]
pub struct Section<'a> {
    /// The heading.
    pub title: Text,
    /// The contents.
    pub blocks: Vec<Block<'a>>,
}

/// A judged thing.
#[derive(Clone, Debug)]
pub struct Item {
    /// The verdict, in a column of its own.
    pub lead: Text,
    /// The thing, then what the verdict rests on.
    pub lines: Vec<Text>,
}

/// A chart: one figure, or several side by side.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// The title.
    pub title: String,
    /// The figures, each with its heading.
    pub figures: Vec<(&'a str, Figure)>,
    /// Words below it.
    pub note: String,
    /// The name of a file that has it as a picture.
    pub file: Option<String>,
}

impl Item {
    /// A judged thing.
    pub fn new(lead: impl Into<Text>, lines: impl IntoIterator<Item = Text>) -> Self {
        Self {
            lead: lead.into(),
            lines: lines.into_iter().collect(),
        }
    }
}

/// Parts of a document in the order of reading. What is empty adds nothing.
#[derive(Clone, Debug, Default)]
pub struct Blocks<'a>(pub Vec<Block<'a>>);

impl<'a> Blocks<'a> {
    /// Adds paragraphs.
    #[must_use]
    pub fn say<T: Into<Text>>(self, paragraphs: impl IntoIterator<Item = T>) -> Self {
        let paragraphs = paragraphs.into_iter();
        self.with(paragraphs.map(|words| Block::Paragraph(words.into())))
    }

    /// Adds caveats.
    #[must_use]
    pub fn remark<T: Into<Text>>(self, remarks: impl IntoIterator<Item = T>) -> Self {
        let remarks = remarks.into_iter();
        self.with(remarks.map(|words| Block::Remark(words.into())))
    }

    /// Adds a list of statements.
    #[must_use]
    pub fn list<T: Into<Text>>(self, statements: impl IntoIterator<Item = T>) -> Self {
        let statements: Vec<Text> = statements.into_iter().map(Into::into).collect();
        self.with((!statements.is_empty()).then_some(Block::List(statements)))
    }

    /// Adds names with their values.
    #[must_use]
    pub fn facts<N: Into<String>, T: Into<Text>>(
        self,
        facts: impl IntoIterator<Item = (N, T)>,
    ) -> Self {
        let facts = facts
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let facts: Vec<(String, Text)> = facts.collect();
        self.with((!facts.is_empty()).then_some(Block::Facts(facts)))
    }

    /// Adds judged things.
    #[must_use]
    pub fn items(self, items: impl IntoIterator<Item = Item>) -> Self {
        let items: Vec<Item> = items.into_iter().collect();
        self.with((!items.is_empty()).then_some(Block::Items(items)))
    }

    /// Adds a table.
    #[must_use]
    pub fn table(self, table: impl Into<Table>) -> Self {
        let table = table.into();
        self.with((table.rows() > 0).then_some(Block::Table(table)))
    }

    /// Adds charts.
    #[must_use]
    pub fn charts(self, charts: impl IntoIterator<Item = Chart<'a>>) -> Self {
        self.with(charts.into_iter().map(Block::Chart))
    }

    /// Adds a section.
    #[must_use]
    pub fn section(self, title: impl Into<Text>, blocks: Self) -> Self {
        self.with(blocks.below(title).map(Block::Section))
    }

    /// Adds parts that are shown on demand.
    #[must_use]
    pub fn fold(self, title: impl Into<Text>, blocks: Self) -> Self {
        self.with(blocks.below(title).map(Block::Fold))
    }

    /// Adds parts for readers with much room.
    #[must_use]
    pub fn rest(self, blocks: Self) -> Self {
        self.with((!blocks.0.is_empty()).then_some(Block::Rest(blocks.0)))
    }

    /// Adds further blocks.
    #[must_use]
    pub fn with(mut self, blocks: impl IntoIterator<Item = Block<'a>>) -> Self {
        self.0.extend(blocks);
        self
    }

    /// A document of these parts.
    pub fn document(self, title: impl Into<Text>) -> Document<'a> {
        Document {
            title: title.into(),
            blocks: self.0,
            ..Document::default()
        }
    }

    fn below(self, title: impl Into<Text>) -> Option<Section<'a>> {
        (!self.0.is_empty()).then(|| Section {
            title: title.into(),
            blocks: self.0,
        })
    }
}

impl<'a> IntoIterator for Blocks<'a> {
    type Item = Block<'a>;
    type IntoIter = std::vec::IntoIter<Block<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Chart<'_> {
    /// One figure.
    pub fn of(figure: Figure, title: &str, file: Option<String>) -> Self {
        Self {
            title: title.to_owned(),
            figures: vec![("", figure)],
            note: String::new(),
            file,
        }
    }
}
