//! Comparisons: the caveats, the largest differences in one table, what else differs, then all values.

use super::catalogue::named;
use super::ratios::ratios;
use super::{differing, listed, method};
use crate::comparison::{Comparison, Row, Side};
use crate::document::{Blocks, Chart, Document, Piece, Table, TableBuilder};
use crate::lists::by_key;

/// Rows, facts and reasons to show at first.
const FIRST_ROWS: usize = 15;
const FIRST_FACTS: usize = 10;
const FIRST_LEFT_OUT: usize = 5;

/// The document of `comparisons`, which share their first side.
pub fn comparison<'a>(comparisons: &'a [Comparison<'a>]) -> Document<'a> {
    let blocks = match comparisons {
        [one] => of(one),
        several => several.iter().fold(Blocks::default(), |blocks, one| {
            blocks.section(title(one), of(one))
        }),
    };
    let judged = "The unit is a session, one whole run. Each session gives one value of a metric at a point. The \
                  ratio is that of the geometric means over the sessions, turned so that more is better. The mood \
                  of a session, which the metrics of a group share, is taken apart. The spread of what remains is \
                  drawn towards the spread that all metrics together show (Smyth 2004). A difference counts if it \
                  is larger than the margin (TREAT, McCarthy and Smyth 2009). Two sides are equivalent if it is \
                  smaller both ways (two one-sided tests). Of the differences at most 5 % may be false (Benjamini \
                  and Hochberg 1995). The rest is inconclusive.";
    let drawn = "The charts show how many times as fast B is: above 1 it is better. Markers are filled where B is \
                 called faster or slower.";
    Document {
        unfolded_by: "--all",
        method: Some(method("How this was compared", [judged, drawn])),
        ..blocks.document(comparisons.first().map(title).unwrap_or_default())
    }
}

fn title(comparison: &Comparison<'_>) -> String {
    /// The facts below name the sides in full.
    const LONG: usize = 60;
    let [a, b] = [comparison.question.a, comparison.question.b].map(Side::title);
    match format!("{b} against {a}") {
        long if long.chars().count() > LONG => "B against A".to_owned(),
        title => title,
    }
}

fn of<'a>(comparison: &'a Comparison<'a>) -> Blocks<'a> {
    let question = &comparison.question;
    let rows = [comparison.differences(), comparison.open()].concat();
    let mut ids = comparison.rows.iter().map(|row| row.definition.id.as_str());
    let first = ids.next();
    let is_one = ids.all(|id| Some(id) == first);
    let name = |row: &Row<'_>| {
        if is_one {
            row.place()
        } else {
            format!("{} {}", row.definition.id, row.place())
        }
    };
    let facts = differing(
        &comparison.circumstances,
        [("A", |it| &it.a), ("B", |it| &it.b)],
    );
    Blocks::default()
        .facts([("A", question.a.title()), ("B", question.b.title())])
        .say([Piece::strong(comparison.counts().sentence())])
        .remark(&comparison.remarks)
        .list(comparison.statements())
        .table(table(&rows, name).first(FIRST_ROWS))
        .section(
            "What else differs between the sides",
            Blocks::default().table(facts.first(FIRST_FACTS)),
        )
        .section(
            "Not compared",
            listed(&comparison.left_out(), FIRST_LEFT_OUT),
        )
        .rest(all(comparison))
}

/// The ratios of these rows with both values, the verdict last.
fn table<'t, 'r>(
    rows: &'t [&'r Row<'r>],
    name: impl Fn(&Row<'r>) -> String,
) -> TableBuilder<'t, &'r Row<'r>> {
    Table::of("values of both sides", rows)
        .name("value", |row| name(row))
        .number("A", |row| row.show(&row.a))
        .number("B", |row| row.show(&row.b))
        .words("B as fast (95 %)", |row| {
            Piece::doubtful_ratio(row.ratio, row.interval, row.doubtful)
        })
        .words("verdict", |row| row.verdict.word())
}

/// The counts of each group, then each experiment with its charts and all its values.
fn all<'a>(comparison: &'a Comparison<'a>) -> Blocks<'a> {
    let groups = comparison.groups();
    let groups = groups
        .into_iter()
        .filter(|(_, counts)| counts.total() < comparison.rows.len());
    let groups = groups.map(|(group, counts)| (group, counts.sentence()));
    let groups = Blocks::default().section("By group", Blocks::default().facts(groups));
    let rows = comparison.rows.iter();
    let rows = by_key(rows.map(|row| (row.definition.id.as_str(), row)));
    rows.into_iter().fold(groups, |blocks, (_, rows)| {
        let definition = rows[0].definition;
        let numbers = Blocks::default().table(table(&rows, Row::place));
        let numbers_title = format!("{} values", rows.len());
        let charts = Blocks::default().charts([Chart::of(ratios(definition, &rows), "", None)]);
        blocks.section(named(definition), charts.fold(numbers_title, numbers))
    })
}
