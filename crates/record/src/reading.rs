//! A reading as a row of plain columns, for the store's table of samples and for CSV.

use instrument::sample::Reading;

/// The columns of every kind of reading; those of other kinds are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReadingRow {
    /// `difference`, `once`, `latencies` or `value`.
    pub kind: String,
    pub iterations: Option<u64>,
    pub work: Option<f64>,
    pub short_ns: Option<u64>,
    pub long_ns: Option<u64>,
    pub wall_ns: Option<u64>,
    pub count: Option<u64>,
    pub p5_ns: Option<f64>,
    pub p50_ns: Option<f64>,
    pub p95_ns: Option<f64>,
    pub p99_ns: Option<f64>,
    pub value: Option<f64>,
}

impl From<Reading> for ReadingRow {
    fn from(reading: Reading) -> Self {
        match reading {
            Reading::Difference {
                iterations,
                work,
                short_ns,
                long_ns,
            } => Self {
                kind: "difference".into(),
                iterations: Some(iterations),
                work: Some(work),
                short_ns: Some(short_ns),
                long_ns: Some(long_ns),
                ..Self::default()
            },
            Reading::Once { work, wall_ns } => Self {
                kind: "once".into(),
                work: Some(work),
                wall_ns: Some(wall_ns),
                ..Self::default()
            },
            Reading::Latencies {
                count,
                p50_ns,
                p5_ns,
                p95_ns,
                p99_ns,
            } => Self {
                kind: "latencies".into(),
                count: Some(count),
                p5_ns: Some(p5_ns),
                p50_ns: Some(p50_ns),
                p95_ns: Some(p95_ns),
                p99_ns: Some(p99_ns),
                ..Self::default()
            },
            Reading::Value(value) => Self {
                kind: "value".into(),
                value: Some(value),
                ..Self::default()
            },
        }
    }
}

impl ReadingRow {
    /// Converts the row back; `None` if a column of its kind is empty or the kind is unknown.
    pub fn reading(&self) -> Option<Reading> {
        Some(match self.kind.as_str() {
            "difference" => Reading::Difference {
                iterations: self.iterations?,
                work: self.work?,
                short_ns: self.short_ns?,
                long_ns: self.long_ns?,
            },
            "once" => Reading::Once {
                work: self.work?,
                wall_ns: self.wall_ns?,
            },
            "latencies" => Reading::Latencies {
                count: self.count?,
                p50_ns: self.p50_ns?,
                p5_ns: self.p5_ns?,
                p95_ns: self.p95_ns?,
                p99_ns: self.p99_ns?,
            },
            "value" => Reading::Value(self.value?),
            _ => return None,
        })
    }
}
