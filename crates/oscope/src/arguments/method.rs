//! Methods on the command line: the names of a library's enum, each with its help.

use choice::Choice;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A method; `None` if the program chooses it. The alias keeps clap from making the value optional.
pub type Chosen<M> = Option<M>;

/// The name by which the program chooses the method.
pub const AUTO: &str = "auto";

/// Accepts the names of all methods.
pub fn method<M: Choice + Send + Sync>(
    help: fn(M) -> &'static str,
) -> impl TypedValueParser<Value = M> {
    PossibleValuesParser::new(values(help)).try_map(|name| M::named(&name))
}

/// As [`method`], and accepts [`AUTO`].
pub fn method_or_auto<M: Choice + Send + Sync>(
    auto: &'static str,
    help: fn(M) -> &'static str,
) -> impl TypedValueParser<Value = Chosen<M>> {
    let auto = PossibleValue::new(AUTO).help(auto);
    PossibleValuesParser::new(std::iter::once(auto).chain(values(help)))
        .map(|name| M::named(&name).ok())
}

fn values<M: Choice>(help: fn(M) -> &'static str) -> impl Iterator<Item = PossibleValue> {
    let methods = M::ALL.iter();
    methods.map(move |&method| PossibleValue::new(method.name()).help(help(method)))
}
