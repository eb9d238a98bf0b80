//! The words for what has a name of its own.

use instrument::claim::Ruling;
use instrument::experiment::Better;
use instrument::figure::MarkOrigin;
use instrument::finding::Grade;
use instrument::quantity::Unit;

/// How sure a finding is, in words.
pub fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Certain => "certain",
        Grade::Likely => "likely",
        Grade::CannotBeTold => "cannot be told",
    }
}

/// Whether a claim holds, in words.
pub fn ruling(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Holds => "holds",
        Ruling::HoldsInPart => "holds in part",
        Ruling::DoesNotHold => "does not hold",
        Ruling::CannotBeTold => "cannot be told",
    }
}

/// Which way a metric is better, in words.
pub fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "neither way is better",
    }
}

/// Where a mark of a figure comes from, in words.
pub fn origin(origin: MarkOrigin) -> &'static str {
    match origin {
        MarkOrigin::Found => "found",
        MarkOrigin::Documented => "documented",
    }
}

/// What the values of a unit are called where no value is at hand, as in a list of metrics.
pub fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::BytesPerSecond => "bytes per second",
        Unit::OperationsPerSecond => "operations per second",
        Unit::Nanoseconds => "time of one operation",
        Unit::Bytes => "bytes",
        Unit::Count => "a number",
        Unit::Share => "per cent",
        Unit::Ratio => "a ratio",
    }
}
