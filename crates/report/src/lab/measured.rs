//! The measured answer to a question.

use super::{Candidate, Measure, Question};
use crate::reproduce::{Here, Measurements, Missing, Query};
use instrument::quantity::{Quantity, Unit};
use instrument::results::Results;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The results that answer the questions: of one system, or of two that are compared.
pub struct Sides<'a> {
    here: Measurements<'a>,
    first: Option<Measurements<'a>>,
}

/// The measured answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// A number with its interval.
    Number(Quantity),
    /// The best of the choices.
    Choice {
        /// Its name.
        choice: String,
        /// True if its interval is apart from those of all others.
        is_certain: bool,
        /// All choices with their values.
        of: Vec<Rival>,
    },
    /// Nothing, for this reason.
    Nothing(String),
}

/// A choice with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rival {
    /// The choice.
    pub choice: String,
    /// Its value.
    pub value: Quantity,
}

impl<'a> Sides<'a> {
    /// The results of one system, the newest first; `first` has those of another to compare with.
    pub fn new(here: &'a [Results<'a>], first: Option<&'a [Results<'a>]>) -> Self {
        Self {
            here: Measurements::new(here, &[]),
            first: first.map(|first| Measurements::new(first, &[])),
        }
    }

    /// True if two systems were measured.
    pub fn are_two(&self) -> bool {
        self.first.is_some()
    }

    /// The measured answer to `question`.
    pub fn answer(&self, question: &Question) -> Found {
        let found = match &question.measured {
            Measure::Value(query) => self.value(query).map(|here| here.quantity),
            Measure::Ratio(both) => self
                .value(&both[0])
                .and_then(|one| over(&one, &self.value(&both[1])?)),
            Measure::Against { query, printed } => self.value(query).and_then(|here| {
                match (&self.first, printed.find()) {
                    // Two systems share no pass, so that nothing cancels.
                    (Some(first), _) => {
                        let ratio = here.quantity.over(first.value(query)?.quantity);
                        ratio.ok_or_else(Missing::ratio)
                    }
                    (None, Some((_, figure))) => {
                        let ratio = here.quantity.times(1.0 / figure.value());
                        Ok(ratio.in_unit(Unit::Ratio))
                    }
                    (None, None) => Err(Missing::because("nothing was printed")),
                }
            }),
            Measure::Highest(of) => return self.best(of, |ratio| ratio > 1.0),
            Measure::Lowest(of) => return self.best(of, |ratio| ratio < 1.0),
        };
        match found {
            Ok(quantity) => Found::Number(quantity),
            Err(missing) => Found::Nothing(missing.reason),
        }
    }

    fn value(&self, query: &Query) -> Result<Here<'a>, Missing> {
        self.here.value(query)
    }

    /// The choice that beats all others; `beats` judges its value over another's.
    fn best(&self, of: &[Candidate], beats: fn(f64) -> bool) -> Found {
        let mut values: Vec<(&str, Here<'_>)> = Vec::new();
        for Candidate { name, query } in of {
            match self.value(query) {
                Ok(here) => values.push((name, here)),
                Err(missing) => return Found::Nothing(format!("{name}: {}", missing.reason)),
            }
        }
        let is_best = |one: &Here<'_>| {
            let mut others = values.iter();
            others.all(|(_, other)| !beats(other.quantity.value / one.quantity.value))
        };
        let Some((name, best)) = values.iter().find(|(_, here)| is_best(here)) else {
            return Found::Nothing("no choice is the best".to_owned());
        };
        let mut others = values.iter().filter(|(other, _)| other != name);
        let is_certain = others.all(|(_, other)| {
            let ratio = over(best, other).ok().and_then(|ratio| ratio.interval);
            ratio.is_some_and(|ratio| beats(ratio.low) && beats(ratio.high))
        });
        Found::Choice {
            choice: (*name).to_owned(),
            is_certain,
            of: values
                .iter()
                .map(|(name, here)| Rival {
                    choice: (*name).to_owned(),
                    value: here.quantity,
                })
                .collect(),
        }
    }
}

fn over(one: &Here<'_>, other: &Here<'_>) -> Result<Quantity, Missing> {
    one.over(other).ok_or_else(Missing::ratio)
}
