//! Things that only the user can name, as a directory on another machine.
//!
//! An experiment defines the type of such a thing and declares that it takes one. The program
//! passes on what the user named; it reaches the worker as JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A thing that only the user can name.
pub trait Given: Serialize + DeserializeOwned {
    /// The option that names it, and its use.
    const TAKEN: Taken;
}

/// The option that names a thing, and the use that an experiment has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The option, as in `--dir`.
    pub option: &'static str,
    /// The use, as the part of a sentence that follows the option: `names where …`.
    pub purpose: &'static str,
    /// A command that names one.
    pub example: &'static str,
    /// The reason why the experiment is left out if the user names none, as half a sentence; `None`
    /// if the experiment can do without.
    pub without: Option<&'static str>,
}

/// The things that the user named for a run. Each is there, or there is a reason why it cannot be
/// used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Givens(BTreeMap<String, Result<Value, String>>);

impl Givens {
    /// Adds a thing, or the reason why it cannot be used.
    pub fn add<G: Given>(&mut self, given: Result<G, String>) {
        let value =
            given.and_then(|given| serde_json::to_value(given).map_err(|error| error.to_string()));
        self.0.insert(G::TAKEN.option.to_owned(), value);
    }

    /// The thing of this type, or the reason why it cannot be used; `None` if the user named none.
    pub fn get<G: Given>(&self) -> Option<Result<G, String>> {
        let value = self.0.get(G::TAKEN.option)?.clone();
        Some(
            value
                .and_then(|value| serde_json::from_value(value).map_err(|error| error.to_string())),
        )
    }

    /// The reason why the thing cannot be used, or why an experiment cannot do without it.
    pub(crate) fn missing(&self, taken: &Taken) -> Option<String> {
        match self.0.get(taken.option) {
            Some(given) => given.as_ref().err().cloned(),
            None => taken.without.map(str::to_owned),
        }
    }

    /// True if the user named none.
    pub(crate) fn is_unnamed(&self, taken: &Taken) -> bool {
        !self.0.contains_key(taken.option)
    }
}

#[cfg(test)]
mod tests {
    use super::{Given, Givens, Taken};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Lamp {
        watts: u32,
    }

    impl Given for Lamp {
        const TAKEN: Taken = Taken {
            option: "--lamp",
            purpose: "names a lamp",
            example: "oscope run light --lamp NAME",
            without: Some("it needs a lamp"),
        };
    }

    #[test]
    fn a_thing_reaches_the_worker_as_it_was_named_or_with_its_reason() {
        let mut given = Givens::default();
        assert_eq!(given.get::<Lamp>(), None);
        assert_eq!(given.missing(&Lamp::TAKEN), Some("it needs a lamp".into()));
        assert!(given.is_unnamed(&Lamp::TAKEN));
        given.add(Ok(Lamp { watts: 7 }));
        let sent = serde_json::to_string(&given).expect("plain data");
        let given: Givens = serde_json::from_str(&sent).expect("as it was sent");
        assert_eq!(given.get(), Some(Ok(Lamp { watts: 7 })));
        assert_eq!(given.missing(&Lamp::TAKEN), None);
        let mut broken = Givens::default();
        broken.add::<Lamp>(Err("it is broken".into()));
        assert_eq!(broken.get::<Lamp>(), Some(Err("it is broken".into())));
        assert_eq!(broken.missing(&Lamp::TAKEN), Some("it is broken".into()));
        assert!(!broken.is_unnamed(&Lamp::TAKEN));
    }
}
