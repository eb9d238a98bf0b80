//! The ways through the file.

use instrument::experiment::MeasureError;

/// A way through the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file) enum Pass {
    /// Over what is there.
    Write,
    ReadWarm,
    ReadCold,
    /// Into a file that is empty before.
    WriteNew,
}

impl Pass {
    pub(super) const ALL: [Self; 4] = [Self::Write, Self::ReadWarm, Self::ReadCold, Self::WriteNew];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::ReadWarm => "read warm",
            Self::ReadCold => "read cold",
            Self::WriteNew => "write new",
        }
    }

    pub(super) fn named(name: &str) -> Result<Self, MeasureError> {
        let known = Self::ALL.into_iter().find(|pass| pass.name() == name);
        known.ok_or_else(|| MeasureError::Unsupported(format!("there is no pass '{name}'")))
    }
}

#[cfg(test)]
mod tests {
    use super::Pass;

    #[test]
    fn a_pass_is_found_by_its_name() {
        for pass in Pass::ALL {
            assert_eq!(Pass::named(pass.name()).ok(), Some(pass));
        }
    }
}
