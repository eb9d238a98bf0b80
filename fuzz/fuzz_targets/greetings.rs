//! Any 64 bytes in place of a greeting or of the answer to it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oscope_transfer::protocol::{Hello, Verdict};

fuzz_target!(|bytes: [u8; 64]| {
    if let Ok(Some(hello)) = Hello::parse(&bytes) {
        assert_eq!(hello.encode(), bytes);
    }
    if let Ok(verdict) = Verdict::parse(&bytes) {
        // Of another version nothing but that is known.
        assert!(verdict == Verdict::Version || verdict.encode() == bytes);
    }
});
