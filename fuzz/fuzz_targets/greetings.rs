//! Any 64 bytes in place of a greeting or of the answer to it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oscope_transfer::protocol::{Answer, Hello, VERSION};

fuzz_target!(|bytes: [u8; 64]| {
    if let Ok(Some(hello)) = Hello::parse(&bytes) {
        assert_eq!(hello.encode(), bytes);
    }
    if let Ok(answer) = Answer::parse(&bytes) {
        let again = answer.encode();
        assert_eq!(Answer::parse(&again), Ok(answer));
        // Of another version nothing but that is known.
        assert!(answer.version != VERSION || again == bytes);
    }
});
