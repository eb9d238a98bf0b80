//! Macros that let the compiler check names: names of choices, and names in sentences.

mod choice;
mod sentence;

use proc_macro::TokenStream;

/// Derives names for an enum without fields: see the trait `choice::Choice`.
///
/// The name of a variant is its words in lower case (`OneCore` is `one core`), or the string in
/// `#[choice("…")]`.
#[proc_macro_derive(Choice, attributes(choice))]
pub fn choice(input: TokenStream) -> TokenStream {
    finished(choice::derive(input.into()))
}

/// A sentence with values named in braces, as in `format!`, that keeps its numbers
/// machine-readable: `sentence!("Blocks above {plateau} gain {share}.", share = one - other)`.
///
/// Each name is a variable in scope or an argument after the text. The value's type decides its
/// form in the sentence (`instrument::finding::Say`). The name identifies a number to programs.
#[proc_macro]
pub fn sentence(input: TokenStream) -> TokenStream {
    finished(sentence::expand(input.into()))
}

fn finished(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
