//! All samples of a run as a CSV table.

use crate::run::Run;
use crate::table::{Cells, Row, columns, rows};
use std::io::Write;

/// Writes every timing of `run` as a row of CSV ([RFC
/// 4180](https://www.rfc-editor.org/rfc/rfc4180), but with Unix line ends).
///
/// Each axis of any experiment has a column `axis.NAME`, empty for experiments without that axis.
/// Columns of other kinds of readings are empty too. `unit` is the unit of the metric's estimates
/// and of `value`. `batch`, `pass` and `sample` count from 0. Legs have a row each; CPU time, faults and
/// switches are those of all legs of a sample together. A text that a spreadsheet would take for a
/// formula gets a leading `'`.
///
/// # Errors
/// If the output cannot be written.
pub fn write(run: &Run, output: impl Write) -> std::io::Result<()> {
    let columns = columns(run);
    let mut table = ::csv::Writer::from_writer(output);
    table.write_record(columns.iter().map(|column| no_formula(&column.name)))?;
    for row in rows(run) {
        table.write_record(columns.iter().map(|column| cell(&column.cells, &row)))?;
    }
    table.flush()
}

/// Quotes `text` that begins like a formula, so that a spreadsheet takes it for text. Numbers with
/// a sign stay numbers.
///
/// See [CSV injection](https://owasp.org/www-community/attacks/CSV_Injection).
fn no_formula(text: &str) -> String {
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if begins_formula && text.parse::<f64>().is_err() {
        format!("'{text}")
    } else {
        text.into()
    }
}

fn cell<'t>(cells: &Cells<'t>, row: &Row<'t>) -> String {
    let text = match cells {
        Cells::Text(read) => read(row).map(|text| no_formula(&text)),
        Cells::Integer(read) => read(row).map(|number| number.to_string()),
        Cells::Real(read) => read(row).map(|number| number.to_string()),
    };
    text.unwrap_or_default()
}
