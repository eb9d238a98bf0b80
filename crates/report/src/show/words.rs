//! Display names of enumerations.

use instrument::claim::Ruling;
use instrument::experiment::Better;
use instrument::figure::MarkOrigin;
use instrument::finding::Grade;
use instrument::quantity::Unit;

/// The grade of a finding as text.
pub fn grade(grade: Grade) -> &'static str {
    match grade {
        Grade::Certain => "certain",
        Grade::Likely => "likely",
        Grade::CannotBeTold => "cannot be told",
    }
}

/// The ruling on a claim as text.
pub fn ruling(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Holds => "holds",
        Ruling::HoldsInPart => "holds in part",
        Ruling::DoesNotHold => "does not hold",
        Ruling::CannotBeTold => "cannot be told",
    }
}

/// The better direction of a metric as text.
pub fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "neither way is better",
    }
}

/// The origin of a mark as text.
pub fn origin(origin: MarkOrigin) -> &'static str {
    match origin {
        MarkOrigin::Found => "found",
        MarkOrigin::Documented => "documented",
    }
}

/// The name of a unit without a value, for example in a list of metrics.
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
