//! `#[derive(Choice)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Result, Variant};

pub(crate) fn derive(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input, "only an enum has choices"));
    };
    let variants: Vec<_> = data.variants.iter().map(|it| &it.ident).collect();
    let names: Vec<_> = data.variants.iter().map(name).collect::<Result<_>>()?;
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            return Err(Error::new_spanned(
                &data.variants[index],
                format!("another variant is called '{name}' as well"),
            ));
        }
    }
    let type_name = &input.ident;
    Ok(quote! {
        impl ::choice::Choice for #type_name {
            const ALL: &'static [Self] = &[#(Self::#variants),*];

            fn name(self) -> &'static str {
                match self {
                    #(Self::#variants => #names),*
                }
            }
        }

        impl ::std::fmt::Display for #type_name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(::choice::Choice::name(*self))
            }
        }

        impl ::std::str::FromStr for #type_name {
            type Err = ::choice::NoSuchChoice;

            fn from_str(name: &str) -> ::std::result::Result<Self, Self::Err> {
                ::choice::Choice::named(name)
            }
        }
    })
}

fn name(variant: &Variant) -> Result<String> {
    if !matches!(variant.fields, Fields::Unit) {
        return Err(Error::new_spanned(variant, "a choice has no fields"));
    }
    let stated = variant.attrs.iter().find(|it| it.path().is_ident("choice"));
    match stated {
        Some(attribute) => Ok(attribute.parse_args::<LitStr>()?.value()),
        None => Ok(words(&variant.ident.to_string())),
    }
}

/// Turns `OneCore` into `one core`.
fn words(identifier: &str) -> String {
    let mut words = String::new();
    for (index, letter) in identifier.chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::derive;
    use quote::quote;

    fn refusal(input: proc_macro2::TokenStream) -> String {
        derive(input).expect_err("refused").to_string()
    }

    #[test]
    fn names_are_words_in_small_letters_unless_stated() {
        let code = derive(quote! {
            enum Placement { OneCore, #[choice("TCP")] Tcp }
        });
        let code = code.expect("an enum without fields").to_string();
        assert!(
            code.contains(r#""one core""#) && code.contains(r#""TCP""#),
            "{code}"
        );
    }

    #[test]
    fn types_without_names_and_names_used_twice_are_refused() {
        assert!(refusal(quote! { struct Placement; }).contains("only an enum"));
        assert!(refusal(quote! { enum Placement { Core(u8) } }).contains("no fields"));
        let twice = refusal(quote! { enum Placement { Core, #[choice("core")] Other } });
        assert!(twice.contains("'core'"), "{twice}");
    }
}
