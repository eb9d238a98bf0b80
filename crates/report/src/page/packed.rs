//! Compressed parts of the page, which keep it small: its data and its collapsed parts.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use std::io::Write as _;

/// Parts that the page's script inserts after the rest is shown.
pub(super) type Parts = Vec<String>;

/// Adds `html` to the parts; returns the number for the attribute `data-part` of a placeholder element,
/// which the part replaces.
pub(super) fn keep(parts: &mut Parts, html: String) -> usize {
    parts.push(html);
    parts.len() - 1
}

/// `value` as JSON, compressed in zlib format and encoded in base64, which is safe within a
/// `script`.
pub(super) fn packed(value: &impl Serialize) -> String {
    // The best compression takes several times as long, for a page that is 1 % smaller.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // The encoder is slow at the many small writes of a serializer.
    let json = serde_json::to_vec(value).expect("plain data");
    let compressed = encoder.write_all(&json).and_then(|()| encoder.finish());
    BASE64_STANDARD.encode(compressed.expect("memory takes all that is written"))
}
