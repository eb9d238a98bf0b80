//! Any bytes a peer may send after its greeting: understood or refused, never a panic, and what is
//! understood says the same again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oscope_transfer::protocol::{Frame, HEADER_BYTES, Header, LONGEST_ANNOUNCEMENT};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Some((header, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let Ok(parsed) = Header::parse(header) else { return };
        assert_eq!(parsed.encode(), *header);
        let len = if parsed.is_data() { 0 } else { parsed.len as usize };
        assert!(len <= LONGEST_ANNOUNCEMENT);
        let Some((body, behind)) = behind.split_at_checked(len) else { return };
        if let Ok(frame) = Frame::parse(&parsed, body) {
            let mut again = Vec::new();
            frame.encode(&mut again);
            // Reasons are cut when they are said, and not when they are heard.
            let is_cut = matches!(
                frame,
                Frame::Abort { .. } | Frame::Receipt { .. } | Frame::Ready { .. }
            );
            if !is_cut {
                assert_eq!(again, [&header[..], body].concat());
            }
        }
        rest = behind;
    }
});
