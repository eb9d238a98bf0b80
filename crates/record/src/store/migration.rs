//! Schema versions: upgrades a store of any older version to the one that this program knows.

use super::error::{Fault, Result};
use rusqlite::{Connection, TransactionBehavior};

/// Entry n upgrades schema n to schema n + 1; the first upgrades an empty file to schema 1. A
/// released migration never changes: add a new one.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/1.sql"),
    include_str!("migrations/2.sql"),
    include_str!("migrations/3.sql"),
    include_str!("migrations/4.sql"),
    include_str!("migrations/5.sql"),
    include_str!("migrations/6.sql"),
];

/// Entry n presents a store of schema n + 1 as one of the newest schema to a read-only connection.
/// SQLite resolves names to temporary views first.
const VIEWS: &[&str] = &[
    "CREATE TEMP VIEW runs AS
       SELECT *, 0 AS proven, NULL AS checksum, 0 AS redacted, NULL AS listing_checksum FROM main.runs;
     CREATE TEMP VIEW circumstances AS
       SELECT *, NULL AS checksum, NULL AS limited FROM main.circumstances;
     CREATE TEMP VIEW experiments AS SELECT *, NULL AS checksum FROM main.experiments;
     CREATE TEMP VIEW points AS SELECT *, NULL AS checksum FROM main.points;
     CREATE TEMP VIEW batches AS
       SELECT *, NULL AS checksum, NULL AS pass, NULL AS full_speed_ns, NULL AS full_speed FROM main.batches;
     CREATE TEMP VIEW samples AS
       SELECT *, NULL AS legs, NULL AS reference_ns, NULL AS around FROM main.samples;
     CREATE TEMP VIEW redaction AS SELECT NULL AS key WHERE FALSE;
     CREATE TEMP VIEW judgements AS SELECT NULL AS run, NULL AS code, NULL AS seal,
       NULL AS analysis, NULL AS checksum WHERE FALSE;",
    "CREATE TEMP VIEW runs AS SELECT *, 0 AS redacted, NULL AS listing_checksum FROM main.runs;
     CREATE TEMP VIEW circumstances AS SELECT *, NULL AS limited FROM main.circumstances;
     CREATE TEMP VIEW batches AS
       SELECT *, NULL AS pass, NULL AS full_speed_ns, NULL AS full_speed FROM main.batches;
     CREATE TEMP VIEW samples AS
       SELECT *, NULL AS legs, NULL AS reference_ns, NULL AS around FROM main.samples;
     CREATE TEMP VIEW redaction AS SELECT NULL AS key WHERE FALSE;
     CREATE TEMP VIEW judgements AS SELECT NULL AS run, NULL AS code, NULL AS seal,
       NULL AS analysis, NULL AS checksum WHERE FALSE;",
    "CREATE TEMP VIEW batches AS
       SELECT *, NULL AS pass, NULL AS full_speed_ns, NULL AS full_speed FROM main.batches;
     CREATE TEMP VIEW samples AS
       SELECT *, NULL AS legs, NULL AS reference_ns, NULL AS around FROM main.samples;
     CREATE TEMP VIEW judgements AS SELECT NULL AS run, NULL AS code, NULL AS seal,
       NULL AS analysis, NULL AS checksum WHERE FALSE;",
    "CREATE TEMP VIEW batches AS SELECT *, NULL AS full_speed FROM main.batches;
     CREATE TEMP VIEW samples AS SELECT *, NULL AS around FROM main.samples;
     CREATE TEMP VIEW judgements AS SELECT NULL AS run, NULL AS code, NULL AS seal,
       NULL AS analysis, NULL AS checksum WHERE FALSE;",
    "CREATE TEMP VIEW batches AS SELECT *, NULL AS full_speed FROM main.batches;
     CREATE TEMP VIEW samples AS SELECT *, NULL AS around FROM main.samples;",
];

/// "OSCP", in the header of every store.
pub(super) const APPLICATION_ID: i32 = 0x4f53_4350;

/// Upgrades the schema completely or not at all.
pub(super) fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<()> {
    if pending(version(connection)?, migrations)?.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    // Another process may have upgraded it while this one waited for the lock.
    for migration in pending(version(&transaction)?, migrations)? {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", migrations.len())?;
    Ok(transaction.commit()?)
}

/// Presents a store of an older schema to this connection as if it were up to date. Writes nothing.
pub(super) fn show_as_current(connection: &Connection) -> Result<()> {
    let found = version(connection)?;
    if pending(found, MIGRATIONS)?.is_empty() {
        return Ok(());
    }
    let views = found.checked_sub(1).and_then(|place| VIEWS.get(place));
    let views = views.ok_or_else(|| Fault::Damaged("it has no schema".into()))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection.execute_batch(views)?)
}

/// True if the store has the schema that this program knows.
pub(super) fn is_current(connection: &Connection) -> Result<bool> {
    Ok(version(connection)? == MIGRATIONS.len())
}

fn pending<'a>(found: usize, migrations: &'a [&'a str]) -> Result<&'a [&'a str]> {
    migrations.get(found..).ok_or(Fault::Newer {
        found,
        known: migrations.len(),
    })
}

fn version(connection: &Connection) -> Result<usize> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE a (x); INSERT INTO a VALUES (1);";
    const SECOND: &str = "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 1;";

    fn at(migrations: &[&str]) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, migrations).unwrap();
        connection
    }

    fn y(connection: &Connection) -> rusqlite::Result<i64> {
        connection.query_row("SELECT y FROM a", [], |row| row.get(0))
    }

    #[test]
    fn an_older_schema_is_brought_up_to_date_with_its_content() {
        let mut connection = at(&[FIRST]);
        migrate(&mut connection, &[FIRST, SECOND]).unwrap();
        assert_eq!(y(&connection), Ok(2));
        assert_eq!(version(&connection).unwrap(), 2);
        migrate(&mut connection, &[FIRST, SECOND]).unwrap();
    }

    /// The columns of each table, as queries see them.
    fn columns(connection: &Connection) -> Vec<String> {
        let mut names = Vec::new();
        for table in [
            "runs",
            "circumstances",
            "experiments",
            "points",
            "batches",
            "samples",
            "redaction",
            "judgements",
        ] {
            let all = connection
                .prepare(&format!("SELECT * FROM {table}"))
                .unwrap();
            let of_table = all.column_names().into_iter();
            names.extend(of_table.map(|column| format!("{table}.{column}")));
        }
        names
    }

    #[test]
    fn every_older_schema_is_shown_as_the_current_one() {
        let current = columns(&at(MIGRATIONS));
        for version in 1..=MIGRATIONS.len() {
            let connection = at(&MIGRATIONS[..version]);
            show_as_current(&connection).unwrap();
            assert_eq!(columns(&connection), current, "{version}");
        }
        let empty = show_as_current(&at(&[]));
        assert!(matches!(empty, Err(Fault::Damaged(_))));
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let mut connection = at(&[FIRST, SECOND]);
        let refused = migrate(&mut connection, &[FIRST]);
        assert!(matches!(refused, Err(Fault::Newer { found: 2, known: 1 })));
        assert_eq!(y(&connection), Ok(2));
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut connection = at(&[FIRST]);
        migrate(&mut connection, &[FIRST, SECOND, "nonsense"]).unwrap_err();
        y(&connection).unwrap_err();
        assert_eq!(version(&connection).unwrap(), 1);
    }
}
