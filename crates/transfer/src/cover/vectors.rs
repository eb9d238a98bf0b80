//! The ciphers and the key derivation against published test vectors.

use super::{Cipher, Half, Keys, Suite};
use aws_lc_rs::aead::{
    AES_256_GCM, Aad, Algorithm, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use twox_hash::XxHash3_128;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

struct Vector<'v> {
    key: &'v str,
    nonce: &'v str,
    additional: &'v str,
    plain: &'v str,
    sealed: &'v str,
    tag: &'v str,
}

fn assert_seals(algorithm: &'static Algorithm, vector: &Vector<'_>) {
    let key = UnboundKey::new(algorithm, &bytes(vector.key)).unwrap();
    let key = LessSafeKey::new(key);
    let nonce = || Nonce::try_assume_unique_for_key(&bytes(vector.nonce)).unwrap();
    let additional = bytes(vector.additional);
    let mut text = bytes(vector.plain);
    let tag = key
        .seal_in_place_separate_tag(nonce(), Aad::from(&additional), &mut text)
        .unwrap();
    assert_eq!(text, bytes(vector.sealed));
    assert_eq!(tag.as_ref(), bytes(vector.tag));
    key.open_in_place_separate_tag(nonce(), Aad::from(&additional), tag.as_ref(), &mut text)
        .unwrap();
    assert_eq!(text, bytes(vector.plain));
}

/// *The Galois/Counter Mode of Operation* by `McGrew` and Viega, as submitted to NIST: test case 16.
#[test]
fn aes_is_as_published() {
    assert_seals(
        &AES_256_GCM,
        &Vector {
            key: "feffe9928665731c6d6a8f9467308308 feffe9928665731c6d6a8f9467308308",
            nonce: "cafebabefacedbaddecaf888",
            additional: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            plain: "d9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72
                    1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b39",
            sealed: "522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa
                     8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662",
            tag: "76fc6ece0f4e1768cddf8853bb2d551b",
        },
    );
}

/// RFC 8439, section 2.8.2.
#[test]
fn cha_cha_is_as_published() {
    assert_seals(
        &CHACHA20_POLY1305,
        &Vector {
            key: "808182838485868788898a8b8c8d8e8f 909192939495969798999a9b9c9d9e9f",
            nonce: "070000004041424344454647",
            additional: "50515253c0c1c2c3c4c5c6c7",
            plain: "4c616469657320616e642047656e746c 656d656e206f662074686520636c6173
                    73206f66202739393a20496620492063 6f756c64206f6666657220796f75206f
                    6e6c79206f6e652074697020666f7220 746865206675747572652c2073756e73
                    637265656e20776f756c642062652069 742e",
            sealed: "d31a8d34648e60db7b86afbc53ef7ec2 a4aded51296e08fea9e2b5a736ee62d6
                     3dbea45e8ca9671282fafb69da92728b 1a71de0a9e060b2905d6a5b67ecd3b36
                     92ddbd7f2d778b8c9803aee328091b58 fab324e4fad675945585808b4831d7bc
                     3ff4def08e4b7a9de576d26586cec64b 6116",
            tag: "1ae10b594f09e26a7e902ecbd0600691",
        },
    );
}

/// RFC 5869, section A.1.
#[test]
fn keys_are_derived_as_published() {
    struct Bytes(usize);
    impl KeyType for Bytes {
        fn len(&self) -> usize {
            self.0
        }
    }
    let salt = Salt::new(HKDF_SHA256, &bytes("000102030405060708090a0b0c"));
    let secret = salt.extract(&[0x0b; 22]);
    let info = bytes("f0f1f2f3f4f5f6f7f8f9");
    let mut derived = [0; 42];
    let info = [&info[..]];
    let key = secret.expand(&info, Bytes(42)).unwrap();
    key.fill(&mut derived).unwrap();
    let published = "3cb25f25faacd57a90434f64d0362f2a 2d2d0a90cf1a5a4c5db02d56ecc4c5bf
                     34007208d5b887185865";
    assert_eq!(derived, bytes(published)[..]);
}

/// Long frames take a different code path than short ones. Another library (`ring` 0.17) made the
/// tags and the XXH3 of their input, in big-endian order.
#[test]
fn frames_of_all_lengths_are_as_another_library_makes_them() {
    let made = [
        (
            Suite::Aes,
            [
                (
                    0,
                    0xc1f6_7b4b_d112_937e_6ab1_c3c9_c7fb_839e,
                    0x99aa_06d3_0147_98d8_6001_c324_468d_497f,
                ),
                (
                    1,
                    0x7bff_9e51_f910_dbc8_def6_0750_e160_efef,
                    0xf2b9_3b5a_90a4_4fda_cf40_cb34_7633_9b0f,
                ),
                (
                    16,
                    0xe4f5_758e_1502_3d66_4308_37a3_36c0_e44f,
                    0xecf7_056f_a3cb_aa59_027e_7fcd_83fb_2a6f,
                ),
                (
                    255,
                    0xb740_1dc9_e23d_4582_8b2c_7d79_d41f_ab29,
                    0xdc2f_d14e_d3ca_f5e1_bdd5_70d8_9303_2b9b,
                ),
                (
                    4097,
                    0x1926_276c_a612_8a60_1a3f_08da_930e_e23d,
                    0x4d5f_eb24_999c_fa10_3644_effe_06ad_8668,
                ),
                (
                    (512 << 10) - 1,
                    0x9f7a_7e17_11a5_101c_4576_7b30_5c97_76bf,
                    0xc6a5_ce44_429a_1ebf_a268_d8eb_ab37_2192,
                ),
                (
                    512 << 10,
                    0xe071_0148_cdb0_8a3d_3305_7b3f_a58c_d6bd,
                    0xdae2_efbb_b2e3_de8a_4d56_dc92_e8f2_d8cc,
                ),
            ],
        ),
        (
            Suite::ChaCha,
            [
                (
                    0,
                    0x6a41_6b4c_9ca6_5c46_cce6_3a53_f5ee_0940,
                    0x99aa_06d3_0147_98d8_6001_c324_468d_497f,
                ),
                (
                    1,
                    0xa014_a80c_bc42_d7e6_152c_563d_5df6_a5ca,
                    0x284c_1009_06a5_e66e_48a8_95eb_05a3_c780,
                ),
                (
                    16,
                    0x61d4_1375_2146_570e_2706_c1a9_d73f_9d3e,
                    0xd203_740d_b437_075b_28ba_1ffd_71b3_c6ae,
                ),
                (
                    255,
                    0x4c9b_141d_b3ef_a12f_ddb2_75d7_c3a3_d1a6,
                    0x5866_11b2_3cc8_0284_17df_2678_574e_2fcb,
                ),
                (
                    4097,
                    0x71ec_f87f_84d4_5e7f_4685_9e62_a64f_b94f,
                    0x0e5f_37fa_7434_dd21_83f3_a179_39f5_1a1f,
                ),
                (
                    (512 << 10) - 1,
                    0xeca5_bafb_7e2a_46a7_f43e_c873_eb45_b346,
                    0x1bd8_4c46_43bb_9196_9150_c156_e4e0_ab00,
                ),
                (
                    512 << 10,
                    0x9200_a322_30f5_1192_db3a_4f05_82d9_d4fc,
                    0xd6f2_a0ab_1ee5_9706_51df_110c_53dc_867b,
                ),
            ],
        ),
    ];
    for (suite, frames) in made {
        let cipher = || Cipher::new(Keys::new(suite, &[7; 32], b"a".to_vec()));
        for (len, tag, sum) in frames {
            let plain: Vec<u8> = (0..len).map(|index: usize| (index % 251) as u8).collect();
            let mut body = plain.clone();
            let check = cipher().seal(5, Half::Body, &[3; 16], &mut body);
            assert_eq!(u128::from_be_bytes(check), tag, "{suite:?}, {len} bytes");
            assert_eq!(XxHash3_128::oneshot(&body), sum, "{suite:?}, {len} bytes");
            assert!(cipher().open(5, Half::Body, &[3; 16], &mut body, &check));
            assert_eq!(body, plain);
        }
    }
}
