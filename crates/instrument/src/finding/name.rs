//! Names that are part of the code, read from kept findings.

use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A name that is part of the code. The alias keeps Serde from borrowing it of what it reads.
pub type Name = &'static str;

/// Names read so far. Each stays in memory once, as those in the code do.
static READ: Mutex<BTreeSet<Name>> = Mutex::new(BTreeSet::new());

/// Reads a name.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    let name = Cow::<str>::deserialize(deserializer)?;
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read.get(name.as_ref()) {
        return Ok(known);
    }
    let name: Name = Box::leak(name.into_owned().into_boxed_str());
    read.insert(name);
    Ok(name)
}
