//! The side that has the files.

mod contents;
mod files;
mod flow;
mod greeting;
mod method;
mod pump;
mod replies;
mod session;

pub use contents::Contents;
pub use files::{Farewell, Job, Plan, Source, Summary, send};
pub use session::{Item, Session};

use crate::method::SendMethod;
use crate::{Cover, Limits, Token};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// How files are sent.
#[derive(Clone)]
pub struct Options {
    /// How the sender reads them.
    pub method: SendMethod,
    /// What protects contents. With a token [`Cover::Sealed`], unless both sides say otherwise; without
    /// one nothing can be sealed.
    pub cover: Cover,
    /// What both sides know.
    pub token: Option<Token>,
    /// What is borne.
    pub limits: Limits,
    /// Counts the bytes that were sent, for whoever watches.
    pub progress: Arc<AtomicU64>,
}
