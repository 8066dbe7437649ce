//! Parse instants in UTC.

const SECOND: i64 = 1_000_000_000;
/// Years whose instants fit 64 bits of nanoseconds.
const YEARS: std::ops::RangeInclusive<i64> = 1970..=2200;

/// Parser that reuses the last second, since consecutive instants mostly share it.
#[derive(Debug, Default)]
pub struct Clock {
    second: [u8; SIZE],
    ns: i64,
}

/// Length of an instant up to its seconds.
const SIZE: usize = 19;

impl Clock {
    /// Parse an instant like the function `parse_utc`.
    #[inline]
    pub fn parse_utc(&mut self, text: &[u8]) -> Option<i64> {
        let (head, tail) = text.split_first_chunk::<SIZE>()?;
        if *head != self.second || self.ns == 0 {
            self.ns = parse_second(head)?;
            self.second = *head;
        }
        Some(self.ns + parse_fraction(tail)?)
    }
}

/// Parse an instant such as `2026-02-05T18:52:16.000794163Z`, with up to nine fractional digits, to nanoseconds since
/// 1970; `None` for other forms.
pub fn parse_utc(text: &[u8]) -> Option<i64> {
    let (head, tail) = text.split_first_chunk::<SIZE>()?;
    Some(parse_second(head)? + parse_fraction(tail)?)
}

/// Parse date and time up to seconds to nanoseconds since 1970.
fn parse_second(head: &[u8; SIZE]) -> Option<i64> {
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| head[*at] != *mark) {
        return None;
    }
    let two = |at: usize| parse_digits(&head[at..at + 2]);
    let (year, month, day) = (parse_digits(&head[..4])?, two(5)?, two(8)?);
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    let valid = YEARS.contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !valid {
        return None;
    }
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(seconds * SECOND)
}

fn parse_fraction(tail: &[u8]) -> Option<i64> {
    match tail {
        b"Z" => Some(0),
        [b'.', digits @ .., b'Z'] if (1..=9).contains(&digits.len()) => {
            Some(parse_digits(digits)? * 10_i64.pow(9 - digits.len() as u32))
        }
        _ => None,
    }
}

#[inline]
fn parse_digits(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0_i64, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Compute the days since 1970 of a date, with years that start in March.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
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
            assert_eq!(parse_utc(text.as_bytes()), expected, "{text}");
            let mut clock = Clock::default();
            assert_eq!(
                (clock.parse_utc(text.as_bytes()), clock.parse_utc(text.as_bytes())),
                (expected, expected),
                "{text}"
            );
        }
    }
}
