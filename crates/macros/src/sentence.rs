//! `sentence!`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, LitStr, Result, Token};

/// The text and the arguments after it.
struct Input {
    text: LitStr,
    given: Vec<(Ident, Expr)>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let text = input.parse()?;
        let mut given = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let name = input.parse()?;
            input.parse::<Token![=]>()?;
            given.push((name, input.parse()?));
        }
        Ok(Self { text, given })
    }
}

#[derive(Debug, PartialEq)]
enum Piece {
    Text(String),
    Name(String),
}

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let Input { text, given } = syn::parse2(input)?;
    let pieces = pieces(&text.value()).map_err(|reason| Error::new(text.span(), reason))?;
    for (name, _) in &given {
        if !pieces.contains(&Piece::Name(name.to_string())) {
            let reason = format!("the sentence does not name '{name}'");
            return Err(Error::new(name.span(), reason));
        }
    }
    // Mixed-site hygiene hides this name from the code around the macro.
    let sentence = Ident::new("sentence", Span::mixed_site());
    let given = given
        .iter()
        .map(|(name, value)| quote! { let #name = #value; });
    let said = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => quote! { #sentence.push_text(#text); },
        Piece::Name(name) => {
            let variable = Ident::new(name, text.span());
            quote! { ::instrument::finding::Say::say(&#variable, #name, &mut #sentence); }
        }
    });
    Ok(quote! {{
        #(#given)*
        let mut #sentence = ::instrument::finding::Sentence::default();
        #(#said)*
        #sentence
    }})
}

/// Splits a text at its names; a doubled brace means a single one.
fn pieces(text: &str) -> std::result::Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            plain.push_str(brace);
            rest = after;
            continue;
        }
        let end = rest.find('}').filter(|_| brace == "{");
        let end =
            end.ok_or("a brace has no counterpart: write {{ or }} for a brace in the text")?;
        let name = &rest[..end];
        if syn::parse_str::<Ident>(name).is_err() {
            return Err(format!("'{name}' is no name of a value"));
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(Piece::Name(name.into()));
        rest = &rest[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::{Piece, expand, pieces};
    use quote::quote;

    #[test]
    fn a_text_is_cut_at_its_names() {
        let text = |text: &str| Piece::Text(text.into());
        let name = |name: &str| Piece::Name(name.into());
        assert_eq!(
            pieces("From {a} on, {{b}} and {a}."),
            Ok(vec![
                text("From "),
                name("a"),
                text(" on, {b} and "),
                name("a"),
                text(".")
            ])
        );
        assert_eq!(pieces(""), Ok(vec![]));
    }

    #[test]
    fn braces_that_name_nothing_are_refused() {
        for text in ["{", "}", "{a", "a}", "{}", "{a b}", "{1}", "{a:?}"] {
            pieces(text).expect_err(text);
        }
    }

    #[test]
    fn a_value_that_the_sentence_does_not_name_is_refused() {
        let refused = expand(quote! { "Nothing.", gain = 1 }).expect_err("unused");
        assert!(refused.to_string().contains("'gain'"), "{refused}");
    }
}
