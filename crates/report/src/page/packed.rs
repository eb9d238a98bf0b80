//! What the page holds compressed, to be small: its data, and what is folded away at first.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use std::io::Write as _;

/// Pieces of the page that its script puts in their places after the rest is shown.
#[derive(Default)]
pub(super) struct Parts {
    html: Vec<String>,
}

impl Parts {
    /// Keeps `html`; gives the number by which an element of the page names it, in an attribute
    /// `data-part`. The part takes that element's place.
    pub(super) fn keep(&mut self, html: String) -> usize {
        self.html.push(html);
        self.html.len() - 1
    }

    /// All of them, for the script.
    pub(super) fn packed(&self) -> serde_json::Result<String> {
        packed(&self.html)
    }
}

/// `value` as JSON, compressed as by zlib and written in base 64, which is safe within a `script`.
pub(super) fn packed(value: &impl Serialize) -> serde_json::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut encoder, value)?;
    let compressed = encoder.flush().and_then(|()| encoder.finish());
    let compressed = compressed.map_err(serde_json::Error::io)?;
    Ok(BASE64_STANDARD.encode(compressed))
}
