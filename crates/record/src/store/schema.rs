//! The tables of a store, and their version.

use super::error::{Fault, OrFault};
use rusqlite::{Connection, TransactionBehavior};

const TABLES: &str = include_str!("schema.sql");
/// The version of the tables. Raise it with each change of them.
const VERSION: i32 = 11;
/// "OSCP", in the header of every store.
pub(super) const APPLICATION_ID: i32 = 0x4f53_4350;

/// Makes the tables in an empty file, completely or not at all. Refuses those of another version.
pub(super) fn create(connection: &mut Connection) -> OrFault<()> {
    if version(connection)? == 0 {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
        // Another process may have made them while this one waited for the lock.
        if version(&transaction)? == 0 {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
    }
    ensure_version(connection)
}

/// Refuses a store of another version.
pub(super) fn ensure_version(connection: &Connection) -> OrFault<()> {
    match version(connection)? {
        VERSION => Ok(()),
        0 => Err(Fault::Damaged("it has no tables".into())),
        found => Err(Fault::OtherVersion {
            found,
            known: VERSION,
        }),
    }
}

fn version(connection: &Connection) -> OrFault<i32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}
