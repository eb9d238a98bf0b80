//! The words in which oscope judges, each with its mark, its colour and its CSS class, and the names of other
//! enumerations for readers.

use instrument::claim::Ruling;
use instrument::experiment::{Better, Isolation};
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
    /// On the page: the CSS class.
    pub class: &'static str,
    /// In the terminal: the mark in Unicode and in ASCII.
    pub mark: (&'static str, &'static str),
    /// In the terminal: the reason for a colour.
    pub tone: Tone,
}

/// The reason for the colour of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// No reason.
    #[default]
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

const fn word(text: &'static str, class: &'static str, tone: Tone) -> Word {
    marked(("", ""), text, class, tone)
}

const fn marked(
    mark: (&'static str, &'static str),
    text: &'static str,
    class: &'static str,
    tone: Tone,
) -> Word {
    Word {
        text,
        class,
        mark,
        tone,
    }
}

// Grades of findings.
const CERTAIN: Word = marked(("●", "*"), "certain", "certain", Tone::Good);
const LIKELY: Word = marked(("◐", "~"), "likely", "likely", Tone::Plain);
/// Of findings, claims and figures alike.
pub(crate) const UNDECIDED: Word = marked(("○", "?"), "undecided", "open", Tone::Faint);

// Rulings on claims.
const HOLDS: Word = marked(("●", "+"), "holds", "certain", Tone::Good);
const HOLDS_IN_PART: Word = marked(("◐", "~"), "holds in part", "likely", Tone::Good);
const DOES_NOT_HOLD: Word = marked(("✗", "x"), "does not hold", "refuted", Tone::Strong);

// Verdicts on estimates.
const SOUND: Word = word("sound", "", Tone::Plain);
const TOO_FEW: Word = word("seen too seldom for an estimate", "unsound", Tone::Doubtful);
const BELOW_RESOLUTION: Word = word("below resolution", "unsound", Tone::Plain);
pub(crate) const BROKEN: Word = word("broken", "unsound", Tone::Bad);
/// An estimate that a warning touches.
pub(crate) const DOUBTFUL: Word = word("doubtful", "doubtful", Tone::Doubtful);

// Verdicts of comparisons.
pub(crate) const FASTER: Word = word("faster", "faster", Tone::Good);
pub(crate) const SLOWER: Word = word("slower", "slower", Tone::Bad);
pub(crate) const EQUIVALENT: Word = word("equivalent", "open", Tone::Plain);
/// For a component without a value.
pub(crate) const NOT_MEASURED: &str = "not measured";
/// For a node without a component that enough other nodes have.
pub(crate) const NOT_JUDGED: &str = "not judged";
/// Of a component of a node among its peers.
pub(crate) const ALIKE: Word = word("alike", "open", Tone::Plain);
pub(crate) const INCONCLUSIVE: Word = word("inconclusive", "open", Tone::Faint);
pub(crate) const NOT_COMPARABLE: Word = word("not comparable", "open", Tone::Doubtful);
pub(crate) const UNTESTED: Word = word("not tested", "open", Tone::Plain);

// Outcomes of published figures.
pub(crate) const AS_REPORTED: Word = word("as reported", "faster", Tone::Good);
pub(crate) const DIFFERS: Word = word("differs", "slower", Tone::Strong);

// Effects of a property of the machine.
pub(crate) const WOULD_SUFFER: Word = marked(
    ("*", "*"),
    "would suffer from a run",
    "refuted",
    Tone::Doubtful,
);
pub(crate) const DISTURBS: Word = marked(("!", "!"), "disturbs", "refuted", Tone::Doubtful);
pub(crate) const SHAPES: Word = marked(("~", "~"), "shapes numbers", "likely", Tone::Good);
pub(crate) const LIMITS: Word = marked(("-", "-"), "limits", "likely", Tone::Good);
pub(crate) const FINE: Word = marked((" ", " "), "fine", "certain", Tone::Faint);

// Proofs of stored runs.
pub(crate) const PROVEN: Word = word("proven", "", Tone::Plain);
pub(crate) const UNPROVEN: Word = word("unproven", "doubtful", Tone::Doubtful);
pub(crate) const DAMAGED: Word = word("damaged", "slower", Tone::Bad);
pub(crate) const UNREADABLE: Word = word("unreadable", "slower", Tone::Bad);

/// The word for the grade of a finding.
pub fn grade(grade: Grade) -> Word {
    match grade {
        Grade::Certain => CERTAIN,
        Grade::Likely => LIKELY,
        Grade::Undecided => UNDECIDED,
    }
}

/// The word for the ruling on a claim.
pub fn ruling(ruling: Ruling) -> Word {
    match ruling {
        Ruling::Holds => HOLDS,
        Ruling::HoldsInPart => HOLDS_IN_PART,
        Ruling::DoesNotHold => DOES_NOT_HOLD,
        Ruling::Undecided => UNDECIDED,
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

/// The letter next to a value that a kind of warning touches. Its label, its sentence and its advice are
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

/// How samples are spread over processes, as a sentence.
pub fn isolation(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::FreshProcess => "Each batch of samples is taken in a fresh process.",
        Isolation::OneProcess => "One process takes all samples of a point.",
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
