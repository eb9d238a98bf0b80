//! The seal of a stored run: a hash of all its rows as they lie in the store.
//!
//! It shows, in a fraction of the time of a read, that no row of a run has changed since the run
//! was last read and compared with its checksums. It says nothing about a run that was never
//! compared: the [checksums](crate::checksum) do.

use super::error::Result;
use rusqlite::Connection;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;

/// The tables of a run, each with the tables that lead to it from the run's number.
const ROWS: &[(&str, &str)] = &[
    ("runs", "runs WHERE runs.number = ?1"),
    (
        "machines",
        "runs JOIN machines ON machines.key = runs.machine WHERE runs.number = ?1",
    ),
    (
        "circumstances",
        "circumstances WHERE circumstances.run = ?1",
    ),
    ("experiments", "experiments WHERE experiments.run = ?1"),
    (
        "points",
        "experiments JOIN points ON points.experiment = experiments.key WHERE experiments.run = ?1",
    ),
    (
        "warnings",
        "experiments JOIN points ON points.experiment = experiments.key
         JOIN warnings ON warnings.point = points.key WHERE experiments.run = ?1",
    ),
    (
        "batches",
        "experiments JOIN points ON points.experiment = experiments.key
         JOIN batches ON batches.point = points.key WHERE experiments.run = ?1",
    ),
    (
        "samples",
        "experiments JOIN points ON points.experiment = experiments.key
         JOIN batches ON batches.point = points.key
         JOIN samples ON samples.batch = batches.key WHERE experiments.run = ?1",
    ),
];

/// The hash of all rows of the run `number`, in the order in which the store has them: a BLAKE3
/// hash over those of each table.
pub(super) fn seal(connection: &Connection, number: u64) -> Result<[u8; 32]> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    connection.create_aggregate_function("seal", -1, flags, Rows)?;
    let mut whole = blake3::Hasher::new();
    for (table, rows) in ROWS {
        let all = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
        let columns = all.column_names().into_iter();
        let columns: Vec<String> = columns.map(|name| format!("{table}.{name}")).collect();
        let hash: Vec<u8> = connection.query_row(
            &format!("SELECT seal({}) FROM {rows}", columns.join(", ")),
            [number],
            |row| row.get(0),
        )?;
        whole.update(&hash);
    }
    Ok(whole.finalize().into())
}

/// Hashes the rows that a query gives, inside SQLite: to fetch them column by column takes three
/// times as long.
struct Rows;

#[derive(Default)]
struct Hashed {
    hasher: blake3::Hasher,
    /// Bytes that are not hashed yet: small updates are slow.
    bytes: Vec<u8>,
}

const MOST_WAITING: usize = 32 << 10;

impl Hashed {
    /// Each value follows its type, and text its length, so that no two rows share their bytes.
    fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.bytes.push(0),
            ValueRef::Integer(number) => self.number(1, number.to_le_bytes()),
            ValueRef::Real(number) => self.number(2, number.to_le_bytes()),
            ValueRef::Text(text) => self.content(3, text),
            ValueRef::Blob(blob) => self.content(4, blob),
        }
    }

    fn number(&mut self, kind: u8, number: [u8; 8]) {
        let mut value = [kind; 9];
        value[1..].copy_from_slice(&number);
        self.bytes.extend_from_slice(&value);
    }

    fn content(&mut self, kind: u8, content: &[u8]) {
        self.number(kind, (content.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(content);
    }

    fn flush(&mut self) {
        self.hasher.update(&self.bytes);
        self.bytes.clear();
    }
}

impl Aggregate<Hashed, Vec<u8>> for Rows {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Hashed> {
        Ok(Hashed::default())
    }

    fn step(&self, row: &mut Context<'_>, hashed: &mut Hashed) -> rusqlite::Result<()> {
        for column in 0..row.len() {
            hashed.add(row.get_raw(column));
        }
        if hashed.bytes.len() > MOST_WAITING {
            hashed.flush();
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, hashed: Option<Hashed>) -> rusqlite::Result<Vec<u8>> {
        let mut hashed = hashed.unwrap_or_default();
        hashed.flush();
        Ok(hashed.hasher.finalize().as_bytes().to_vec())
    }
}
