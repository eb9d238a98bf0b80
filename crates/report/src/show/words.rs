//! The words in which oscope judges, each in one place, with the ways to show it; and the display names of
//! other enumerations.

use instrument::claim::Ruling;
use instrument::experiment::Better;
use instrument::figure::MarkOrigin;
use instrument::finding::Grade;
use instrument::noise::Warning;
use instrument::quantity::Unit;
use instrument::results::Verdict;

/// A word that judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// In sentences and tables.
    pub text: &'static str,
    /// In JSON.
    pub key: &'static str,
    /// On the page: the CSS class.
    pub class: &'static str,
    /// In the terminal: the mark in Unicode and in ASCII.
    pub mark: (&'static str, &'static str),
    /// In the terminal: the reason for a colour.
    pub tone: Tone,
}

/// The reason for the colour of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// No reason.
    Plain,
    /// Settled, or for the better.
    Good,
    /// Settled against what was believed.
    Strong,
    /// Nothing to rely on.
    Faint,
    /// With caution.
    Doubtful,
    /// Not to be used, or for the worse.
    Bad,
}

const fn word(
    text: &'static str,
    key: &'static str,
    class: &'static str,
    mark: (&'static str, &'static str),
    tone: Tone,
) -> Word {
    Word {
        text,
        key,
        class,
        mark,
        tone,
    }
}

const NO_MARK: (&str, &str) = ("", "");

// Grades of findings.
const CERTAIN: Word = word("certain", "certain", "certain", ("●", "*"), Tone::Good);
const LIKELY: Word = word("likely", "likely", "likely", ("◐", "~"), Tone::Plain);
/// Of findings, claims and figures alike.
pub(crate) const CANNOT_BE_TOLD: Word = word(
    "cannot be told",
    "cannot_be_told",
    "open",
    ("○", "?"),
    Tone::Faint,
);

// Rulings on claims.
const HOLDS: Word = word("holds", "holds", "certain", ("●", "+"), Tone::Good);
const HOLDS_IN_PART: Word = word(
    "holds in part",
    "holds_in_part",
    "likely",
    ("◐", "~"),
    Tone::Good,
);
const DOES_NOT_HOLD: Word = word(
    "does not hold",
    "does_not_hold",
    "refuted",
    ("✗", "x"),
    Tone::Strong,
);

// Verdicts on estimates.
const SOUND: Word = word("sound", "sound", "", NO_MARK, Tone::Plain);
const TOO_FEW: Word = word(
    "seen too seldom for an estimate",
    "too_few",
    "unsound",
    NO_MARK,
    Tone::Doubtful,
);
const BELOW_RESOLUTION: Word = word(
    "below resolution",
    "below_resolution",
    "unsound",
    NO_MARK,
    Tone::Plain,
);
pub(crate) const BROKEN: Word = word("broken", "broken", "unsound", NO_MARK, Tone::Bad);
/// An estimate that a warning touches.
pub(crate) const DOUBTFUL: Word = word("doubtful", "doubtful", "doubtful", NO_MARK, Tone::Doubtful);

// Verdicts of comparisons.
pub(crate) const FASTER: Word = word("faster", "faster", "faster", NO_MARK, Tone::Good);
pub(crate) const SLOWER: Word = word("slower", "slower", "slower", NO_MARK, Tone::Bad);
pub(crate) const EQUIVALENT: Word = word("equivalent", "equivalent", "open", NO_MARK, Tone::Plain);
/// For a component without a value.
pub(crate) const NOT_MEASURED: &str = "not measured";
/// Of a component of a node among its peers.
pub(crate) const ALIKE: Word = word("alike", "alike", "open", NO_MARK, Tone::Plain);
pub(crate) const INCONCLUSIVE: Word =
    word("inconclusive", "inconclusive", "open", NO_MARK, Tone::Faint);
pub(crate) const NOT_COMPARABLE: Word = word(
    "not comparable",
    "not_comparable",
    "open",
    NO_MARK,
    Tone::Doubtful,
);
pub(crate) const UNTESTED: Word = word("not tested", "untested", "open", NO_MARK, Tone::Plain);

// Outcomes of published figures.
pub(crate) const AS_REPORTED: Word =
    word("as reported", "as_reported", "faster", NO_MARK, Tone::Good);
pub(crate) const DIFFERS: Word = word("differs", "differs", "slower", NO_MARK, Tone::Strong);

// Effects of a property of the machine.
pub(crate) const WOULD_SUFFER: Word = word(
    "would suffer from a run",
    "hurts",
    "refuted",
    ("*", "*"),
    Tone::Doubtful,
);
pub(crate) const DISTURBS: Word = word(
    "disturbs",
    "disturbs",
    "refuted",
    ("!", "!"),
    Tone::Doubtful,
);
pub(crate) const SHAPES: Word = word("shapes numbers", "shapes", "likely", ("~", "~"), Tone::Good);
pub(crate) const LIMITS: Word = word("limits", "limits", "likely", ("-", "-"), Tone::Good);
pub(crate) const FINE: Word = word("fine", "none", "certain", (" ", " "), Tone::Faint);

// Proofs of stored runs.
pub(crate) const PROVEN: Word = word("proven", "proven", "", NO_MARK, Tone::Plain);
pub(crate) const UNPROVEN: Word = word("unproven", "unproven", "doubtful", NO_MARK, Tone::Doubtful);
pub(crate) const DAMAGED: Word = word("damaged", "damaged", "slower", NO_MARK, Tone::Bad);
pub(crate) const UNREADABLE: Word = word("unreadable", "unreadable", "slower", NO_MARK, Tone::Bad);

/// The word for the grade of a finding.
pub fn grade(grade: Grade) -> Word {
    match grade {
        Grade::Certain => CERTAIN,
        Grade::Likely => LIKELY,
        Grade::CannotBeTold => CANNOT_BE_TOLD,
    }
}

/// The word for the ruling on a claim.
pub fn ruling(ruling: Ruling) -> Word {
    match ruling {
        Ruling::Holds => HOLDS,
        Ruling::HoldsInPart => HOLDS_IN_PART,
        Ruling::DoesNotHold => DOES_NOT_HOLD,
        Ruling::CannotBeTold => CANNOT_BE_TOLD,
    }
}

/// The word for the verdict on an estimate.
pub fn verdict(verdict: &Verdict) -> Word {
    match verdict {
        Verdict::Sound => SOUND,
        Verdict::TooFew => TOO_FEW,
        Verdict::BelowResolution => BELOW_RESOLUTION,
        Verdict::Broken(_) => BROKEN,
    }
}

/// The letter beside a value that a kind of warning touches. Its label, its sentence and its advice are
/// those of [`Warning`].
pub fn letter(warning: &Warning) -> char {
    match warning {
        Warning::Drift { .. } => 'd',
        Warning::SeveralModes { .. } => 'm',
        Warning::NotWarm => 'n',
        Warning::TargetMissed { .. } => 'w',
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

#[cfg(test)]
mod tests {
    use super::{grade, ruling};
    use instrument::claim::Ruling;
    use instrument::finding::Grade;

    #[test]
    fn keys_are_the_names_in_json() {
        let named = |value: serde_json::Result<serde_json::Value>| value.expect("a name");
        for each in [Grade::Certain, Grade::Likely, Grade::CannotBeTold] {
            assert_eq!(named(serde_json::to_value(each)), grade(each).key);
        }
        for each in [
            Ruling::Holds,
            Ruling::HoldsInPart,
            Ruling::DoesNotHold,
            Ruling::CannotBeTold,
        ] {
            assert_eq!(named(serde_json::to_value(each)), ruling(each).key);
        }
    }
}
