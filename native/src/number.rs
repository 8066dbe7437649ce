//! Parse JSON numbers and check whether the engine would print them unchanged.

/// Significant digits that every double preserves.
const EXACT_DIGITS: usize = 15;
/// Digits of an integer that always fits 64 bits.
const INTEGER_DIGITS: usize = 18;

/// Find the end of the number at `at`; return it with whether the number is an integer.
#[inline]
pub fn find_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut i = at;
    if byte_at(bytes, i) == b'-' {
        i += 1;
    }
    let first = byte_at(bytes, i);
    if !first.is_ascii_digit() {
        return None;
    }
    i += 1;
    if first != b'0' {
        i = skip_digits(bytes, i);
    }
    let mut is_integer = true;
    if byte_at(bytes, i) == b'.' {
        is_integer = false;
        i = skip_some_digits(bytes, i + 1)?;
    }
    if matches!(byte_at(bytes, i), b'e' | b'E') {
        is_integer = false;
        i += 1;
        if matches!(byte_at(bytes, i), b'+' | b'-') {
            i += 1;
        }
        i = skip_some_digits(bytes, i)?;
    }
    Some((i, is_integer))
}

#[inline]
fn byte_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(b'\n')
}

#[inline]
fn skip_digits(bytes: &[u8], mut at: usize) -> usize {
    while byte_at(bytes, at).is_ascii_digit() {
        at += 1;
    }
    at
}

fn skip_some_digits(bytes: &[u8], at: usize) -> Option<usize> {
    let end = skip_digits(bytes, at);
    (end > at).then_some(end)
}

/// Parse an integer if the engine would print it in the same way and it has at most `INTEGER_DIGITS` digits.
#[inline]
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let is_canonical = match digits {
        [b'0'] => !negative,
        [b'1'..=b'9', ..] => digits.len() <= INTEGER_DIGITS,
        _ => false,
    };
    if !is_canonical {
        return None;
    }
    let mut value = 0_i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -value } else { value })
}

/// Whether the engine would print a JSON number unchanged: integers as digits, others as the shortest decimal that
/// parses to the same value.
pub fn is_canonical(text: &[u8], is_integer: bool) -> bool {
    if is_integer {
        return parse_integer(text).is_some();
    }
    let bare = text.strip_prefix(b"-").unwrap_or(text);
    let Some(point) = bare.iter().position(|byte| *byte == b'.') else { return false };
    let (integral, fraction) = (&bare[..point], &bare[point + 1..]);
    if !fraction.iter().all(u8::is_ascii_digit) || integral.len() > EXACT_DIGITS {
        return false; // printed with an exponent
    }
    if fraction == b"0" {
        return text != b"-0.0";
    }
    if fraction.last() == Some(&b'0') || (integral == b"0" && fraction.starts_with(b"0000")) {
        return false; // trailing zeros, or printed with an exponent
    }
    integral.len() + fraction.len() <= EXACT_DIGITS || is_shortest(text)
}

fn is_shortest(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    text.parse::<f64>().is_ok_and(|value| value.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_number_follows_grammar() {
        for (text, expected) in [
            ("0,", Some((1, true))),
            ("-12}", Some((3, true))),
            ("01", Some((1, true))),
            ("1.5e+3 ", Some((6, false))),
            ("1.", None),
            ("-", None),
            ("1e", None),
            (".5", None),
            ("", None),
        ] {
            assert_eq!(find_end(text.as_bytes(), 0), expected, "{text}");
        }
    }

    #[test]
    fn integers_parse_in_canonical_form_only() {
        assert_eq!(parse_integer(b"-17"), Some(-17));
        assert_eq!(parse_integer(b"999999999999999999"), Some(999_999_999_999_999_999));
        for text in ["", "-", "-0", "00", "+1", "1.0", "1e3", "1_0", "9999999999999999999"] {
            assert_eq!(parse_integer(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_canonical_in_shortest_form_only() {
        for text in ["1.0", "0.05", "-2.5", "0.04987654321012345", "123456789.25", "0.0"] {
            assert!(is_canonical(text.as_bytes(), false), "{text}");
        }
        for text in ["1.50", "1e3", "-0.0", "0.00001", "0.10000000000000000555", "1234567890123456.5"] {
            assert!(!is_canonical(text.as_bytes(), false), "{text}");
        }
    }
}
