//! Instants in UTC, as most logs write them.

const SECOND: i64 = 1_000_000_000;
/// Years whose instants 64 bits of nanoseconds hold whole.
const YEARS: std::ops::RangeInclusive<i64> = 1970..=2200;

/// Reads instants, most of which are within the second of the one before.
#[derive(Debug, Default)]
pub struct Clock {
    second: [u8; SIZE],
    ns: i64,
}

/// Bytes of an instant up to its second.
const SIZE: usize = 19;

impl Clock {
    /// As `utc`.
    #[inline]
    pub fn utc(&mut self, text: &[u8]) -> Option<i64> {
        let (head, tail) = text.split_first_chunk::<SIZE>()?;
        if *head != self.second || self.ns == 0 {
            self.ns = second(head)?;
            self.second = *head;
        }
        Some(self.ns + fraction(tail)?)
    }
}

/// The nanoseconds since 1970 of `2026-02-05T18:52:16.000794163Z`, whose fraction has up to nine digits, or is not
/// there; nothing for any other text.
pub fn utc(text: &[u8]) -> Option<i64> {
    let (head, tail) = text.split_first_chunk::<SIZE>()?;
    Some(second(head)? + fraction(tail)?)
}

/// The nanoseconds of a second.
fn second(head: &[u8; SIZE]) -> Option<i64> {
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| head[*at] != *mark) {
        return None;
    }
    let two = |at: usize| number(&head[at..at + 2]);
    let (year, month, day) = (number(&head[..4])?, two(5)?, two(8)?);
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    let valid = YEARS.contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !valid {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(seconds * SECOND)
}

fn fraction(tail: &[u8]) -> Option<i64> {
    match tail {
        b"Z" => Some(0),
        [b'.', digits @ .., b'Z'] if (1..=9).contains(&digits.len()) => {
            Some(number(digits)? * 10_i64.pow(9 - digits.len() as u32))
        }
        _ => None,
    }
}

#[inline]
fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0_i64, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a date, whose year is counted from March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let from_march = (month + 9) % 12;
    let year = year - i64::from(month <= 2);
    let before = year * 365 + year / 4 - year / 100 + year / 400;
    before + (from_march * 306 + 5) / 10 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_exact() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2024-10-19T10:16:27.0268422Z", Some(1_729_332_987_026_842_200)),
            ("2024-02-29T23:59:59.000000001Z", Some(1_709_251_199_000_000_001)),
            ("2000-02-29T00:00:00Z", Some(951_782_400_000_000_000)),
            ("2100-02-29T00:00:00Z", None),
            ("2024-10-19T10:16:60Z", None),
            ("2024-10-19T24:00:00Z", None),
            ("2024-10-19T10:16:27.1234567891Z", None),
            ("2024-10-19T10:16:27.Z", None),
            ("2024-10-19T10:16:27", None),
            ("1969-12-31T23:59:59Z", None),
        ] {
            assert_eq!(utc(text.as_bytes()), expected, "{text}");
            let mut clock = Clock::default();
            assert_eq!((clock.utc(text.as_bytes()), clock.utc(text.as_bytes())), (expected, expected), "{text}");
        }
    }
}
