//! The sending side.

mod files;
mod gathering;
mod greeting;
mod job;
mod method;
mod pump;
mod replies;
mod session;

pub use files::send;
pub use job::{Job, Plan, Source, Summary, tree};
pub use pump::Contents;
pub use session::Session;

use crate::method::SendMethod;
use crate::{Cover, Limits, Token};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Options of a sender.
#[derive(Clone)]
pub struct Options {
    /// The method of reading files.
    pub method: SendMethod,
    /// Protection of file contents. With a token it is [`Cover::Sealed`] unless both sides choose
    /// otherwise; without one nothing can be sealed.
    pub cover: Cover,
    /// The shared secret. Without one, the sender trusts only a receiver on this machine that
    /// belongs to its own user or to root.
    pub token: Option<Token>,
    /// True to send to any receiver without a token.
    pub insecure: bool,
    /// Patience and stop flag.
    pub limits: Limits,
    /// Counter of sent bytes, for a progress display.
    pub progress: Arc<AtomicU64>,
}
