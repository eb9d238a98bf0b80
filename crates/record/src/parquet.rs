//! All samples of a run as one table of typed columns.

use crate::run::Run;
use crate::table::{Cells, Column, Row, columns, rows, unit_name};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

/// Rows that are buffered as columns at a time.
const ROWS_PER_GROUP: usize = 1 << 20;

/// Writes every sample of `run` as a row of a
/// [Parquet](https://parquet.apache.org/docs/file-format/) file, compressed with Snappy.
///
/// The columns are those of [`csv::write`](crate::csv::write): texts, unsigned 64-bit integers and
/// doubles. Empty cells are null. The file's metadata contain, under `oscope.units`, a JSON object
/// with the unit of each column, and under `oscope.run`, `oscope.started`,
/// `oscope.machine_fingerprint` and `oscope.version` the origin of the samples.
///
/// # Errors
/// If the output cannot be written.
pub fn write(run: &Run, output: impl Write + Send) -> Result<(), ParquetError> {
    let columns = columns(run);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata(run, &columns)))
        .build();
    let schema = Arc::new(schema(&columns)?);
    let mut file = SerializedFileWriter::new(output, schema, Arc::new(properties))?;
    let rows: Vec<Row<'_>> = rows(run).collect();
    for rows in rows.chunks(ROWS_PER_GROUP) {
        let mut group = file.next_row_group()?;
        for column in &columns {
            let mut writer = group
                .next_column()?
                .ok_or_else(|| ParquetError::General("the schema has fewer columns".into()))?;
            write_column(&mut writer, column, rows)?;
            writer.close()?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}

fn schema(columns: &[Column<'_>]) -> Result<Type, ParquetError> {
    let field = |column: &Column<'_>| {
        let (physical, logical) = match column.cells {
            Cells::Text(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Cells::Integer(_) => (PhysicalType::INT64, Some(LogicalType::integer(64, false))),
            Cells::Real(_) => (PhysicalType::DOUBLE, None),
        };
        let field = Type::primitive_type_builder(&column.name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::OPTIONAL)
            .build()?;
        Ok(Arc::new(field))
    };
    let fields = columns.iter().map(field);
    Type::group_type_builder("sample")
        .with_fields(fields.collect::<Result<_, ParquetError>>()?)
        .build()
}

fn metadata(run: &Run, columns: &[Column<'_>]) -> Vec<KeyValue> {
    let units: BTreeMap<&str, String> = columns
        .iter()
        .filter_map(|column| Some((column.name.as_str(), unit_name(column.unit?)?)))
        .collect();
    let header = &run.header;
    let entry = |name: &str, value: String| KeyValue::new(format!("oscope.{name}"), value);
    vec![
        entry("run", header.id.clone()),
        entry("started", header.started.to_string()),
        entry("machine_fingerprint", header.machine_fingerprint.clone()),
        entry("version", header.version.clone()),
        entry("units", serde_json::json!(units).to_string()),
    ]
}

fn write_column<'t>(
    writer: &mut SerializedColumnWriter<'_>,
    column: &Column<'t>,
    rows: &[Row<'t>],
) -> Result<(), ParquetError> {
    let rows = rows.iter();
    match &column.cells {
        Cells::Text(read) => {
            let bytes = |row| Some(ByteArray::from(read(row)?.into_owned().into_bytes()));
            write_cells::<ByteArrayType>(writer, rows.map(bytes))
        }
        // The column's logical type is unsigned; only the physical type has a sign.
        Cells::Integer(read) => {
            write_cells::<Int64Type>(writer, rows.map(|row| Some(read(row)?.cast_signed())))
        }
        Cells::Real(read) => write_cells::<DoubleType>(writer, rows.map(read)),
    }
}

fn write_cells<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let cells: Vec<Option<T::T>> = cells.collect();
    let is_there: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    writer
        .typed::<T>()
        .write_batch(&values, Some(&is_there), None)?;
    Ok(())
}
