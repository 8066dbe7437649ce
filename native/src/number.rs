//! Numbers as JSON writes them, and whether the engine would write them as they stand.

/// Digits of a number that a double of every value keeps as they are.
const EXACT: usize = 15;
/// Digits of an integer that 64 bits hold whatever they are.
const WHOLE: usize = 18;

/// Where a number ends that begins at `at`, and whether it is an integer; nothing where there is none.
#[inline]
pub fn end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut i = at;
    if byte(bytes, i) == b'-' {
        i += 1;
    }
    let first = byte(bytes, i);
    if !first.is_ascii_digit() {
        return None;
    }
    i += 1;
    if first != b'0' {
        i = digits(bytes, i);
    }
    let mut whole = true;
    if byte(bytes, i) == b'.' {
        whole = false;
        i = some_digits(bytes, i + 1)?;
    }
    if matches!(byte(bytes, i), b'e' | b'E') {
        whole = false;
        i += 1;
        if matches!(byte(bytes, i), b'+' | b'-') {
            i += 1;
        }
        i = some_digits(bytes, i)?;
    }
    Some((i, whole))
}

#[inline]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(b'\n')
}

#[inline]
fn digits(bytes: &[u8], mut at: usize) -> usize {
    while byte(bytes, at).is_ascii_digit() {
        at += 1;
    }
    at
}

fn some_digits(bytes: &[u8], at: usize) -> Option<usize> {
    let end = digits(bytes, at);
    (end > at).then_some(end)
}

/// The integer that a text is, if the engine writes it so, and it has no more digits than 64 bits always hold.
#[inline]
pub fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let plain = match digits {
        [b'0'] => !negative,
        [b'1'..=b'9', ..] => digits.len() <= WHOLE,
        _ => false,
    };
    if !plain {
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

/// Whether a number of JSON is written as the engine writes it: an integer as its digits, another number as the
/// shortest decimal that gives it back.
pub fn is_canonical(text: &[u8], whole: bool) -> bool {
    if whole {
        return integer(text).is_some();
    }
    let bare = text.strip_prefix(b"-").unwrap_or(text);
    let Some(point) = bare.iter().position(|byte| *byte == b'.') else { return false };
    let (before, behind) = (&bare[..point], &bare[point + 1..]);
    if !behind.iter().all(u8::is_ascii_digit) || before.len() > EXACT {
        return false; // an exponent, or so large that it would have one
    }
    if behind == b"0" {
        return text != b"-0.0";
    }
    if behind.last() == Some(&b'0') || (before == b"0" && behind.starts_with(b"0000")) {
        return false; // digits that say nothing, or so small that it would have an exponent
    }
    before.len() + behind.len() <= EXACT || is_shortest(text)
}

fn is_shortest(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    text.parse::<f64>().is_ok_and(|value| value.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_their_grammar_does() {
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
            assert_eq!(end(text.as_bytes(), 0), expected, "{text}");
        }
    }

    #[test]
    fn integers_are_those_that_the_engine_writes_so() {
        assert_eq!(integer(b"-17"), Some(-17));
        assert_eq!(integer(b"999999999999999999"), Some(999_999_999_999_999_999));
        for text in ["", "-", "-0", "00", "+1", "1.0", "1e3", "1_0", "9999999999999999999"] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_canonical_as_the_shortest_that_gives_them_back() {
        for text in ["1.0", "0.05", "-2.5", "0.04987654321012345", "123456789.25", "0.0"] {
            assert!(is_canonical(text.as_bytes(), false), "{text}");
        }
        for text in ["1.50", "1e3", "-0.0", "0.00001", "0.10000000000000000555", "1234567890123456.5"] {
            assert!(!is_canonical(text.as_bytes(), false), "{text}");
        }
    }
}
