//! Enums whose variants have names. Files, command lines, axes and sentences all use the same
//! names.

pub use macros::Choice;

// The derived code refers to this crate by name, inside this crate too.
#[cfg(test)]
extern crate self as choice;

/// An enum without fields in which each variant has a name. `#[derive(Choice)]` implements it
/// together with `Display` and `FromStr`.
pub trait Choice: Copy + PartialEq + 'static {
    /// Every variant, in the order of the definition.
    const ALL: &'static [Self];

    /// The name of the variant.
    fn name(self) -> &'static str;

    /// The variant with this name.
    ///
    /// # Errors
    /// [`NoSuchChoice`] with the list of valid names.
    fn named(name: &str) -> Result<Self, NoSuchChoice> {
        let found = Self::ALL.iter().find(|choice| choice.name() == name);
        found.copied().ok_or_else(|| NoSuchChoice {
            name: name.to_owned(),
            names: Self::names().collect(),
        })
    }

    /// Every name, in the order of the definition.
    fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|choice| choice.name())
    }
}

/// A name that no variant has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no '{name}'; the names are {}", .names.join(", "))]
pub struct NoSuchChoice {
    /// The name in the input.
    pub name: String,
    /// The valid names.
    pub names: Vec<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::Choice;

    #[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
    enum Placement {
        OneCore,
        #[choice("2 cores")]
        TwoCores,
    }

    #[test]
    fn a_name_is_read_back_as_its_variant() {
        for placement in Placement::ALL {
            assert_eq!(Placement::named(placement.name()), Ok(*placement));
        }
        assert_eq!(
            Placement::names().collect::<Vec<_>>(),
            ["one core", "2 cores"]
        );
        assert_eq!("one core".parse(), Ok(Placement::OneCore));
        assert_eq!(format!("{:>9}", Placement::TwoCores), "  2 cores");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_list_of_valid_ones() {
        let refused = Placement::named("three").expect_err("unknown");
        assert_eq!(
            refused.to_string(),
            "there is no 'three'; the names are one core, 2 cores"
        );
    }
}
