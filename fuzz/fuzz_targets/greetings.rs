//! Any 64 bytes in place of a greeting or of the answer to it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use oscope_transfer::protocol::{Challenge, Hello, VERSION};

fuzz_target!(|bytes: [u8; 64]| {
    if let Ok(hello) = Hello::parse(&bytes)
        && hello.version == VERSION
    {
        assert_eq!(hello.encode(), bytes);
    }
    if let Ok(challenge) = Challenge::parse(&bytes) {
        assert_eq!(Challenge::parse(&challenge.encode()), Ok(challenge));
    }
});
