//! Any bytes a peer may send after its greeting: understood or refused, never a panic, and what is
//! understood says the same again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oscope_transfer::protocol::{Frame, HEADER_BYTES, Header, LONGEST_BODY};

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Some((header, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
        let Ok(parsed) = Header::parse(header) else { return };
        assert_eq!(parsed.encode(), *header);
        let len = if parsed.is_data { 0 } else { parsed.len as usize };
        assert!(len <= LONGEST_BODY);
        let Some((body, behind)) = behind.split_at_checked(len) else { return };
        if let Ok(frame) = Frame::parse(&parsed, body) {
            let mut again = Vec::new();
            frame.encode(&mut again);
            let (header, body) = again.split_first_chunk::<HEADER_BYTES>().expect("it was just made");
            let header = Header::parse(header).expect("it was just made");
            assert_eq!(Frame::parse(&header, body), Ok(frame));
        }
        rest = behind;
    }
});
