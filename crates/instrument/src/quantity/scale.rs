//! Unit prefixes: how a number is parsed and printed with them.

use std::fmt;

/// A unit's symbol and the number of base units in it.
pub(super) type Scale = (&'static str, f64);

/// The units of one quantity: those used for printing (ascending, the base unit first), and those
/// that parsing also accepts.
pub(super) struct Scales {
    pub(super) quantity: &'static str,
    pub(super) example: &'static str,
    pub(super) printed: &'static [Scale],
    pub(super) understood: &'static [Scale],
}

/// A text that is not a quantity of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a {quantity}: {reason}")]
pub struct ParseQuantityError {
    text: String,
    quantity: &'static str,
    reason: String,
}

impl Scales {
    /// The number of `text` and the factor of its unit. They stay separate so that callers that
    /// need exact integers can multiply them exactly.
    pub(super) fn split<'t>(&self, text: &'t str) -> Result<(&'t str, f64), ParseQuantityError> {
        let trimmed = text.trim();
        let end = number_length(trimmed);
        let (number, unit) = trimmed.split_at(end);
        if number.is_empty() {
            return Err(self.no_number(text));
        }
        let unit = match unit.trim_start() {
            "" => self.printed[0].0,
            unit => unit,
        };
        let scale = self.all().find(|(symbol, _)| *symbol == unit);
        let (_, factor) = scale.ok_or_else(|| {
            let known: Vec<&str> = self.all().map(|(symbol, _)| *symbol).collect();
            let known = known.join(", ");
            self.refused(text, format!("the unit '{unit}' is not one of {known}"))
        })?;
        Ok((number, *factor))
    }

    /// The value of `text` in base units; negative and infinite values are errors.
    pub(super) fn parse(&self, text: &str) -> Result<f64, ParseQuantityError> {
        let (number, factor) = self.split(text)?;
        let number: f64 = number.parse().map_err(|_| self.no_number(text))?;
        let value = number * factor;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.refused(text, "it is too large"))
        }
    }

    pub(super) fn no_number(&self, text: &str) -> ParseQuantityError {
        let example = self.example;
        self.refused(
            text,
            format!("it must begin with a number, such as {example}"),
        )
    }

    pub(super) fn refused(&self, text: &str, reason: impl Into<String>) -> ParseQuantityError {
        ParseQuantityError {
            text: text.to_owned(),
            quantity: self.quantity,
            reason: reason.into(),
        }
    }

    /// Prints `value` exactly, or rounded if the format has a precision (significant digits).
    pub(super) fn format(&self, value: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match f.precision() {
            Some(digits) => self.rounded(value, digits),
            None => self.exact(value),
        };
        // `pad` would cut the text at the precision, which here counts digits.
        let width = f.width().unwrap_or(0);
        match f.align() {
            Some(fmt::Alignment::Right) => write!(f, "{text:>width$}"),
            _ => write!(f, "{text:<width$}"),
        }
    }

    /// `value` in the largest unit that does not make the text longer.
    pub(super) fn exact(&self, value: f64) -> String {
        let fits = |(_, factor): &&Scale| {
            let scaled = value / factor;
            scaled.abs() >= 1.0
                && (scaled * factor).to_bits() == value.to_bits()
                && scaled.to_string().len() <= value.to_string().len()
        };
        let (symbol, factor) = self.printed.iter().rfind(fits).unwrap_or(&self.printed[0]);
        format!("{} {symbol}", value / factor)
    }

    pub(super) fn rounded(&self, value: f64, digits: usize) -> String {
        let reaches = |(_, factor): &Scale| value.abs() >= *factor;
        let index = self.printed.iter().rposition(reaches).unwrap_or(0);
        let (symbol, factor) = self.printed[index];
        let text = significant(value / factor, digits);
        // 1023.97 MiB/s would round up to 1024 MiB/s: the next unit is better.
        let is_full = |next: &f64| {
            let shown = text.parse::<f64>();
            shown.is_ok_and(|shown| shown.abs() >= next / factor)
        };
        match self.printed.get(index + 1) {
            Some((next, of_next)) if is_full(of_next) => {
                format!("{} {next}", significant(value / of_next, digits))
            }
            _ => format!("{text} {symbol}"),
        }
    }

    fn all(&self) -> impl Iterator<Item = &'static Scale> {
        self.printed.iter().chain(self.understood)
    }
}

/// `value` with `digits` significant digits, never in exponent form. All digits before the decimal
/// point are kept.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let decimals = |value: f64| {
        let magnitude = value.abs().log10().floor();
        (digits as f64 - 1.0 - magnitude).max(0.0) as usize
    };
    let text = format!("{value:.*}", decimals(value));
    // 9.996 with three digits would print as 10.00, one digit too many.
    match text.parse::<f64>() {
        Ok(shown) if shown != 0.0 => format!("{value:.*}", decimals(shown)),
        _ => text,
    }
}

fn number_length(text: &str) -> usize {
    let mut seen_point = false;
    text.char_indices()
        .find(|&(_, c)| {
            let point = c == '.' && !seen_point;
            seen_point |= c == '.';
            !(c.is_ascii_digit() || point)
        })
        .map_or(text.len(), |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::significant;

    #[test]
    fn significant_digits_are_counted_from_the_first() {
        let shown = |value, digits| significant(value, digits);
        assert_eq!(shown(1234.5, 3), "1234");
        assert_eq!(shown(12.345, 3), "12.3");
        assert_eq!(shown(9.996, 3), "10.0");
        assert_eq!(shown(0.001_234, 2), "0.0012");
        assert_eq!(shown(-1.5, 2), "-1.5");
        assert_eq!(shown(0.0, 3), "0");
    }
}
