//! Documents of the program that it reads again: hand-ins and reference machines.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The reason why a document cannot be read, for readers.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

/// Reads `text`, a document of the given kind in this version of its format.
pub(crate) fn read<T: DeserializeOwned>(
    text: &str,
    kind: &str,
    format: u32,
) -> Result<T, Unreadable> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let malformed = |error| Unreadable(format!("it is no {kind}: {error}"));
    let found: Version = serde_json::from_str(text).map_err(malformed)?;
    if found.format != format {
        return Err(Unreadable(format!(
            "format {} of a {kind} is unknown to this version of oscope",
            found.format
        )));
    }
    serde_json::from_str(text).map_err(malformed)
}
