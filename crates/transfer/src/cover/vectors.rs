//! Sealed frames as another library (`ring` 0.17) makes them: the ciphers and the key derivation are
//! those that the protocol names. Long frames take a different code path than short ones.

use super::{Cipher, Half, Keys, Suite};
use twox_hash::XxHash3_128;

/// Length of a body, its tag, and the XXH3 of the sealed body, in big-endian order.
const AES: &str = "
         0 c1f67b4bd112937e6ab1c3c9c7fb839e 99aa06d3014798d86001c324468d497f
         1 7bff9e51f910dbc8def60750e160efef f2b93b5a90a44fdacf40cb3476339b0f
        16 e4f5758e15023d66430837a336c0e44f ecf7056fa3cbaa59027e7fcd83fb2a6f
       255 b7401dc9e23d45828b2c7d79d41fab29 dc2fd14ed3caf5e1bdd570d893032b9b
      4097 1926276ca6128a601a3f08da930ee23d 4d5feb24999cfa103644effe06ad8668
    524287 9f7a7e1711a5101c45767b305c9776bf c6a5ce44429a1ebfa268d8ebab372192
    524288 e0710148cdb08a3d33057b3fa58cd6bd dae2efbbb2e3de8a4d56dc92e8f2d8cc
";

const CHA_CHA: &str = "
         0 6a416b4c9ca65c46cce63a53f5ee0940 99aa06d3014798d86001c324468d497f
         1 a014a80cbc42d7e6152c563d5df6a5ca 284c100906a5e66e48a895eb05a3c780
        16 61d413752146570e2706c1a9d73f9d3e d203740db437075b28ba1ffd71b3c6ae
       255 4c9b141db3efa12fddb275d7c3a3d1a6 586611b23cc8028417df2678574e2fcb
      4097 71ecf87f84d45e7f46859e62a64fb94f 0e5f37fa7434dd2183f3a17939f51a1f
    524287 eca5bafb7e2a46a7f43ec873eb45b346 1bd84c4643bb91969150c156e4e0ab00
    524288 9200a32230f51192db3a4f0582d9d4fc d6f2a0ab1ee5970651df110c53dc867b
";

#[test]
fn frames_of_all_lengths_are_as_another_library_makes_them() {
    for (suite, frames) in [(Suite::Aes, AES), (Suite::ChaCha, CHA_CHA)] {
        let cipher = || Cipher::new(Keys::new(suite, &[7; 32], b"a".to_vec()));
        let mut frames = frames.split_whitespace();
        while let Some(len) = frames.next() {
            let len: usize = len.parse().unwrap();
            let plain: Vec<u8> = (0..len).map(|index| (index % 251) as u8).collect();
            let mut body = plain.clone();
            let check = cipher().seal(5, Half::Body, &[3; 16], &mut body);
            for made in [u128::from_be_bytes(check), XxHash3_128::oneshot(&body)] {
                let expected = frames.next().unwrap();
                assert_eq!(format!("{made:032x}"), expected, "{suite:?}, {len} bytes");
            }
            assert!(cipher().open(5, Half::Body, &[3; 16], &mut body, &check));
            assert_eq!(body, plain);
        }
    }
}
