//! The Parquet table of all samples has the same cells as the CSV table.

use crate::common::{complete, random};
use ::parquet::basic::{Compression, Type as PhysicalType};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use oscope_record::{Run, parquet};
use proptest::prelude::*;
use std::fs::File;

/// The Parquet file of `run`, opened by the library's own reader.
fn written(run: &Run) -> SerializedFileReader<File> {
    let mut file = tempfile::tempfile().unwrap();
    parquet::write(run, &mut file).unwrap();
    SerializedFileReader::new(file).unwrap()
}

/// The names of the columns, then the cells of each row.
fn table(reader: &SerializedFileReader<File>) -> Vec<Vec<String>> {
    let schema = reader.metadata().file_metadata().schema();
    let names = schema.get_fields().iter().map(|field| field.name().into());
    let mut table = vec![names.collect()];
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let cells = row.get_column_iter().map(|(_, cell)| match cell {
            Field::Null => String::new(),
            Field::Str(text) => as_text_in_csv(text),
            Field::ULong(number) => number.to_string(),
            Field::Double(number) => number.to_string(),
            other => panic!("no column has cells like {other:?}"),
        });
        table.push(cells.collect());
    }
    table
}

/// A text as a CSV cell, quoted if it looks like a formula.
fn as_text_in_csv(text: &str) -> String {
    let begins_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if begins_formula && text.parse::<f64>().is_err() {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

fn as_csv(run: &Run) -> Vec<Vec<String>> {
    let mut bytes = Vec::new();
    oscope_record::csv::write(run, &mut bytes).unwrap();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(bytes.as_slice());
    let rows = reader.records();
    rows.map(|row| row.unwrap().iter().map(String::from).collect())
        .collect()
}

#[test]
fn columns_have_types_units_and_compression() {
    let run = complete(1);
    let reader = written(&run);
    let metadata = reader.metadata();
    let columns = metadata.row_group(0).columns();
    let of = |name: &str| {
        let column = columns
            .iter()
            .find(|column| column.column_path().string() == name);
        column.unwrap()
    };
    for (name, physical) in [
        ("experiment", PhysicalType::BYTE_ARRAY),
        ("axis.operation", PhysicalType::BYTE_ARRAY),
        ("axis.block_size", PhysicalType::INT64),
        ("wall_ns", PhysicalType::INT64),
        ("reference_ns", PhysicalType::INT64),
        ("value", PhysicalType::DOUBLE),
    ] {
        assert_eq!(of(name).column_type(), physical, "{name}");
        assert_eq!(of(name).compression(), Compression::SNAPPY);
    }
    let pairs = metadata.file_metadata().key_value_metadata().unwrap();
    let value = |key: &str| {
        let pair = pairs.iter().find(|pair| pair.key == key).unwrap();
        pair.value.clone().unwrap()
    };
    assert_eq!(value("oscope.run"), run.header.id);
    let units: serde_json::Value = serde_json::from_str(&value("oscope.units")).unwrap();
    assert_eq!(units["wall_ns"], "nanoseconds");
    assert_eq!(units["axis.block_size"], "bytes");
    assert_eq!(units["metric"], serde_json::Value::Null);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_cell_reads_back_as_in_csv(run in random::run()) {
        prop_assert_eq!(table(&written(&run)), as_csv(&run));
    }
}
