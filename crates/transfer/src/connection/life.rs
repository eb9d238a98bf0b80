//! Signs of life, as both directions of a connection know them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Knowledge that the two directions of a connection share about both sides.
#[derive(Default)]
pub(super) struct Life {
    /// Number of times the peer has said that it is at work.
    heard: AtomicU64,
    /// True while this side only waits for the peer.
    listens: AtomicBool,
    /// True if bytes of the peer came since this was last asked.
    has_come: AtomicBool,
}

impl Life {
    /// Number of times the peer has said that it is at work.
    pub(super) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    /// The peer says that it is at work.
    pub(super) fn hear(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes of the peer came.
    pub(super) fn come(&self) {
        self.has_come.store(true, Ordering::Relaxed);
    }

    /// True if bytes of the peer came since the last call.
    pub(super) fn has_come(&self) -> bool {
        self.has_come.swap(false, Ordering::Relaxed)
    }

    /// Sets if this side only waits for the peer.
    pub(super) fn listen(&self, listens: bool) {
        self.listens.store(listens, Ordering::Relaxed);
    }

    /// True while this side only waits for the peer.
    pub(super) fn is_listening(&self) -> bool {
        self.listens.load(Ordering::Relaxed)
    }
}
