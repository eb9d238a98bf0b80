//! The output of a direct command: lines of text, or JSON.

use crate::arguments::Common;
use crate::output;
use anyhow::Result;
use instrument::quantity::{Bytes, BytesPerSecond, Nanoseconds};
use serde_json::{Map, Value};

/// The version of the JSON format; its schema is `schema/file-1.schema.json` in this crate.
const FORMAT: u32 = 1;
/// From this size on, calls that write to a new file are slow on some systems: a guest takes memory
/// for them in pieces that it may have to get back from its host.
const SLOW_CALL_BYTES: u64 = 1 << 20;
/// Significant digits in text output.
const DIGITS: usize = 4;
/// Width of the column of names.
const WIDTH: usize = 12;

/// Facts in output order.
#[derive(Default)]
pub struct Outcome {
    lines: Vec<(&'static str, String)>,
    fields: Map<String, Value>,
}

impl Outcome {
    /// Adds a line for text output.
    pub fn line(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.lines.push((name, text.into()));
        self
    }

    /// Adds a field for JSON output.
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.into(), value.into());
        self
    }

    /// Adds the wall time, CPU time and speed of the work on `bytes`.
    pub fn timed(self, bytes: u64, wall_ns: u64, cpu_ns: u64) -> Self {
        self.times(wall_ns, cpu_ns)
            .speed_of(bytes, wall_ns)
            .field("bytes", bytes)
    }

    /// Adds the wall time and CPU time.
    pub fn times(self, wall_ns: u64, cpu_ns: u64) -> Self {
        self.line(
            "wall time",
            format!("{:.DIGITS$}", Nanoseconds(wall_ns as f64)),
        )
        .line(
            "CPU time",
            format!("{:.DIGITS$}, over all threads", Nanoseconds(cpu_ns as f64)),
        )
        .field("wall_ns", wall_ns)
        .field("cpu_ns", cpu_ns)
    }

    /// Adds the speed at which `bytes` were moved.
    pub fn speed_of(self, bytes: u64, wall_ns: u64) -> Self {
        let speed = speed(bytes, wall_ns as f64);
        self.line(
            "speed",
            format!(
                "{:.1} MiB/s = {:.0} B/s of wall time",
                speed.0 / f64::from(1 << 20),
                speed.0
            ),
        )
        .field("bytes_per_second", speed.0)
    }

    /// Adds a note where a file was written in calls that are slow on some systems.
    pub fn warned_of_large_calls(self, block_bytes: u64) -> Self {
        if block_bytes < SLOW_CALL_BYTES {
            return self;
        }
        let note = format!(
            "calls that write 1 MiB or more to a new file are several times slower on some \
             systems; `oscope run {}` tells if they are here",
            experiments::WRITES_BY_SIZE
        );
        self.line("note", note.clone()).field("note", note)
    }

    /// Adds the sum.
    pub fn xor(self, xor: files::sum::Xor) -> Self {
        let text = format!("{:08x}", xor.0);
        self.line("xor", text.clone()).field("xor", text)
    }

    /// The facts as JSON.
    pub fn into_json(self) -> Value {
        Value::Object(self.field("format", FORMAT).fields)
    }

    /// Prints the facts.
    pub fn show(self, common: &Common) -> Result<()> {
        let text = if common.json {
            serde_json::to_string_pretty(&self.into_json())? + "\n"
        } else {
            self.lines.iter().fold(String::new(), |all, (name, text)| {
                all + &format!("{name:WIDTH$}{text}\n")
            })
        };
        output::show(&text)
    }
}

/// Bytes divided by wall time.
pub fn speed(bytes: u64, wall_ns: f64) -> BytesPerSecond {
    BytesPerSecond(bytes as f64 * 1e9 / wall_ns.max(1.0))
}

/// `9 × 512 KiB = 4.5 MiB`, for text output.
pub fn blocks(bytes: u64, block_bytes: u64) -> String {
    let total = Bytes(bytes);
    if block_bytes == 0 {
        return total.to_string();
    }
    let count = bytes.div_ceil(block_bytes);
    let calls = if count == 1 { "block" } else { "blocks" };
    format!(
        "{total:.DIGITS$} = {bytes} B, in {count} {calls} of {}",
        Bytes(block_bytes)
    )
}
