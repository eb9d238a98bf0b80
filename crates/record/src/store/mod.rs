//! The store: all runs of one user on one machine, in one SQLite file.

mod candidate;
mod claims;
mod column;
mod earlier;
mod error;
mod history;
mod judged;
mod open;
mod read;
mod recorder;
mod room;
mod schema;
mod selector;
mod summary;
mod verify;
mod write;

pub use candidate::Candidate;
pub use error::Error;
pub use history::{HistoryQuery, HistoryRun};
pub use judged::{Judged, Snapshot};
pub use open::{DEFAULT_NAME, Store, default_path, is_store};
pub use recorder::Recorder;
pub use selector::{BlankSelector, RunSelector};
pub use summary::RunSummary;
pub use verify::{Verification, VerifiedRun};
