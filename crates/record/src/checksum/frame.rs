//! Encodes any value as bytes that no other value shares, for [`Checksum`](super::Checksum).
//!
//! Each item begins with a tag of its kind. Text and bytes follow their length, lists and maps end
//! with a tag, and the fields of a struct follow their names. So the bytes can be decoded in only
//! one way. They do not depend on how a file or a database stores numbers: integers use seven bits
//! per byte, floating-point numbers their bit pattern.
//!
//! A field that is later added to a stored type must be omitted while it has its default value
//! (`skip_serializing_if`). The checksums of older runs then stay valid.

use serde::Serialize;
use serde::ser::{self, Serializer};
use std::fmt;

mod mark {
    pub const NONE: u8 = 0;
    pub const SOME: u8 = 1;
    pub const UNIT: u8 = 2;
    pub const FALSE: u8 = 3;
    pub const TRUE: u8 = 4;
    pub const UNSIGNED: u8 = 5;
    pub const SIGNED: u8 = 6;
    pub const REAL: u8 = 7;
    pub const TEXT: u8 = 8;
    pub const BYTES: u8 = 9;
    pub const LIST: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const VARIANT: u8 = 13;
    pub const END: u8 = 14;
}

/// The encoding of `value`.
pub(super) fn framed(value: &impl Serialize) -> Result<Vec<u8>, Unframed> {
    let mut frame = Frame(Vec::with_capacity(2048));
    value.serialize(&mut frame)?;
    Ok(frame.0)
}

/// A value that cannot be serialized, such as a path that is not Unicode.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unframed(String);

impl ser::Error for Unframed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

struct Frame(Vec<u8>);

impl Frame {
    fn mark(&mut self, mark: u8) {
        self.0.push(mark);
    }

    /// LEB128: seven bits per byte, the lowest first; the last byte has no top bit. Most numbers
    /// are small, and fewer bytes are faster to hash.
    fn unsigned(&mut self, mark: u8, mut value: u64) {
        self.mark(mark);
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn bytes(&mut self, mark: u8, bytes: &[u8]) {
        self.unsigned(mark, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn variant(&mut self, name: &str) {
        self.bytes(mark::VARIANT, name.as_bytes());
    }
}

type Done = Result<(), Unframed>;

impl<'f> Serializer for &'f mut Frame {
    type Ok = ();
    type Error = Unframed;
    type SerializeSeq = &'f mut Frame;
    type SerializeTuple = &'f mut Frame;
    type SerializeTupleStruct = &'f mut Frame;
    type SerializeTupleVariant = &'f mut Frame;
    type SerializeMap = &'f mut Frame;
    type SerializeStruct = &'f mut Frame;
    type SerializeStructVariant = &'f mut Frame;

    fn serialize_bool(self, value: bool) -> Done {
        self.mark(if value { mark::TRUE } else { mark::FALSE });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Done {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Done {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Done {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Done {
        self.mark(mark::SIGNED);
        self.0.extend_from_slice(&value.to_le_bytes());
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Done {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Done {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Done {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Done {
        self.unsigned(mark::UNSIGNED, value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Done {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Done {
        // SQLite does not keep the sign of a zero. Adding zero removes it and changes nothing else.
        let bits = (value + 0.0).to_bits();
        self.mark(mark::REAL);
        self.0.extend_from_slice(&bits.to_le_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Done {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Done {
        self.bytes(mark::TEXT, value.as_bytes());
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.bytes(mark::BYTES, value);
        Ok(())
    }

    fn serialize_none(self) -> Done {
        self.mark(mark::NONE);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        self.mark(mark::SOME);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.mark(mark::UNIT);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Done {
        self.variant(name);
        self.serialize_unit()
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Done {
        self.variant(name);
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Unframed> {
        self.mark(mark::LIST);
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Unframed> {
        self.mark(mark::LIST);
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Unframed> {
        self.mark(mark::LIST);
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self, Unframed> {
        self.variant(name);
        self.mark(mark::LIST);
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Unframed> {
        self.mark(mark::MAP);
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Unframed> {
        self.mark(mark::STRUCT);
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Self, Unframed> {
        self.variant(name);
        self.mark(mark::STRUCT);
        Ok(self)
    }
}

/// Items of a list, for each of Serde's kinds of lists.
macro_rules! list {
    ($($trait:ident $method:ident),*) => {$(
        impl ser::$trait for &mut Frame {
            type Ok = ();
            type Error = Unframed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                value.serialize(&mut **self)
            }

            fn end(self) -> Done {
                self.mark(mark::END);
                Ok(())
            }
        }
    )*};
}

list!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

/// Named fields, for each of Serde's kinds of structs.
macro_rules! fields {
    ($($trait:ident),*) => {$(
        impl ser::$trait for &mut Frame {
            type Ok = ();
            type Error = Unframed;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Done {
                self.bytes(mark::TEXT, name.as_bytes());
                value.serialize(&mut **self)
            }

            fn end(self) -> Done {
                self.mark(mark::END);
                Ok(())
            }
        }
    )*};
}

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for &mut Frame {
    type Ok = ();
    type Error = Unframed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(&mut **self)
    }

    fn end(self) -> Done {
        self.mark(mark::END);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{framed, mark};
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use serde_json::{Map, Number, Value};

    /// Values that are easily confused: few letters, short texts, small numbers, deep nesting.
    fn value() -> impl Strategy<Value = Value> {
        let text = "[ab\u{0}\u{8}\u{e}]{0,3}";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0_u64..3).prop_map(Value::from),
            prop_oneof![Just(127), Just(128), Just(1 << 14), any::<u64>()].prop_map(Value::from),
            (-2_i64..0).prop_map(Value::from),
            prop_oneof![Just(0.5), Just(1.0), Just(1e300)].prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 16, 4, move |inner| {
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(Value::from),
                btree_map(text, inner, 0..3).prop_map(|map| Value::from(Map::from_iter(map))),
            ]
        })
    }

    /// Decodes one value from the front of `bytes`. Values that decode uniquely cannot be confused.
    fn read(bytes: &mut &[u8]) -> Value {
        let number = |bytes: &mut &[u8]| {
            let (number, rest) = bytes.split_at(8);
            *bytes = rest;
            <[u8; 8]>::try_from(number).unwrap()
        };
        let unsigned = |bytes: &mut &[u8]| {
            let length = 1 + bytes.iter().take_while(|byte| **byte >= 0x80).count();
            let (number, rest) = bytes.split_at(length);
            *bytes = rest;
            let seven_bits = number.iter().rev();
            seven_bits.fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
        };
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        let mut items = |read_one: &mut dyn FnMut(&mut &[u8])| {
            while bytes[0] != mark::END {
                read_one(bytes);
            }
            *bytes = &bytes[1..];
        };
        match *first {
            mark::UNIT => Value::Null,
            mark::FALSE => false.into(),
            mark::TRUE => true.into(),
            mark::UNSIGNED => unsigned(bytes).into(),
            mark::SIGNED => i64::from_le_bytes(number(bytes)).into(),
            mark::REAL => Number::from_f64(f64::from_le_bytes(number(bytes))).into(),
            mark::TEXT => {
                let length = unsigned(bytes) as usize;
                let (text, rest) = bytes.split_at(length);
                *bytes = rest;
                str::from_utf8(text).unwrap().into()
            }
            mark::LIST => {
                let mut list = Vec::new();
                items(&mut |bytes| list.push(read(bytes)));
                list.into()
            }
            mark::MAP => {
                let mut map = Map::new();
                items(&mut |bytes| {
                    let key = read(bytes).as_str().unwrap().to_owned();
                    map.insert(key, read(bytes));
                });
                map.into()
            }
            other => panic!("no value begins with {other}"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn whatever_is_framed_can_be_read_in_one_way_only(value in value()) {
            let bytes = framed(&value).unwrap();
            let mut rest = bytes.as_slice();
            prop_assert_eq!(read(&mut rest), value);
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn different_values_have_different_frames(one in value(), other in value()) {
            let same = framed(&one).unwrap() == framed(&other).unwrap();
            prop_assert_eq!(same, one == other);
        }
    }

    #[test]
    fn neighbours_do_not_run_into_each_other() {
        let frame = |value: &dyn erased::Framed| value.frame();
        let all = [
            frame(&("ab", "c")),
            frame(&("a", "bc")),
            frame(&("abc", "")),
            frame(&("abc",)),
            frame(&(Some("a"), None::<&str>)),
            frame(&(None::<&str>, Some("a"))),
            frame(&(vec!["a"], vec!["b"])),
            frame(&(vec!["a", "b"], Vec::<&str>::new())),
            frame(&(1_u64, 2_u64)),
            frame(&(1_i64, 2_i64)),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(!all[..index].contains(one), "{index}");
        }
        assert_eq!(frame(&0.0), frame(&-0.0));
    }

    mod erased {
        /// A value of any type that can be encoded.
        pub trait Framed {
            fn frame(&self) -> Vec<u8>;
        }

        impl<T: serde::Serialize> Framed for T {
            fn frame(&self) -> Vec<u8> {
                super::framed(self).unwrap()
            }
        }
    }
}
