//! Compressed parts of the page, which keep it small: its data and its collapsed parts.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use std::io::Write as _;

/// Parts that the page's script inserts after the rest is shown.
#[derive(Default)]
pub(super) struct Parts {
    html: Vec<String>,
}

impl Parts {
    /// Stores `html`; returns the number for the attribute `data-part` of a placeholder element,
    /// which the part replaces.
    pub(super) fn keep(&mut self, html: String) -> usize {
        self.html.push(html);
        self.html.len() - 1
    }

    /// All parts, for the script.
    pub(super) fn packed(&self) -> serde_json::Result<String> {
        packed(&self.html)
    }
}

/// `value` as JSON, compressed in zlib format and encoded in base64, which is safe within a
/// `script`.
pub(super) fn packed(value: &impl Serialize) -> serde_json::Result<String> {
    // The best compression takes several times as long, for a page that is 1 % smaller.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // The encoder is slow at the many small writes of a serializer.
    let json = serde_json::to_vec(value)?;
    let compressed = encoder.write_all(&json).and_then(|()| encoder.finish());
    let compressed = compressed.map_err(serde_json::Error::io)?;
    Ok(BASE64_STANDARD.encode(compressed))
}
