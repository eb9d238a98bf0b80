//! Macros by which the compiler checks names: those of choices, and those in sentences.

mod choice;
mod sentence;

use proc_macro::TokenStream;

/// Gives an enum without fields its names: see the trait `choice::Choice`.
///
/// A variant is called by its words in small letters (`OneCore` is `one core`), or as
/// `#[choice("…")]` says.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn choice(input: TokenStream) -> TokenStream {
    finished(choice::derive(input.into()))
}

/// A sentence with the values named in braces, as in `format!`, whose numbers stay numbers:
/// `sentence!("Blocks above {plateau} gain {share}.", share = one - other)`.
///
/// Each name is a variable in scope, or one given after the text; its type says how it is told
/// (`instrument::finding::Say`). The name of a number is what programs know it by.
#[proc_macro]
pub fn sentence(input: TokenStream) -> TokenStream {
    finished(sentence::expand(input.into()))
}

fn finished(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
