//! Parse instants in ISO 8601.

const SECOND: i64 = 1_000_000_000;
/// Years whose instants fit 64 bits of nanoseconds.
const YEARS: std::ops::RangeInclusive<i64> = 1970..=2200;

const MINUTE: i64 = 60 * SECOND;

/// Parser that reuses the last second, since consecutive instants mostly share it.
#[derive(Debug, Default)]
pub struct Clock {
    second: [u8; SIZE],
    ns: i64,
    /// ns by which instants without a zone are ahead of UTC; without it, they are not parsed
    offset: Option<i64>,
}

/// Length of an instant up to its seconds.
const SIZE: usize = 19;

impl Clock {
    pub fn new(offset: Option<i64>) -> Self {
        Clock { offset, ..Clock::default() }
    }

    /// Parse an instant such as `2026-02-05T18:52:16.000794163Z`, with up to nine fractional digits, to nanoseconds
    /// since 1970; `None` for other forms.
    #[inline]
    pub fn parse(&mut self, text: &[u8]) -> Option<i64> {
        let (head, tail) = text.split_first_chunk::<SIZE>()?;
        if *head != self.second || self.ns == 0 {
            self.ns = parse_second(head)?;
            self.second = *head;
        }
        let (fraction, zone) = parse_fraction(tail)?;
        let offset = if zone.is_empty() { self.offset? } else { parse_zone(zone)? };
        Some(self.ns + fraction - offset)
    }
}

/// Parse date and time up to seconds to nanoseconds since 1970.
fn parse_second(head: &[u8; SIZE]) -> Option<i64> {
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if !matches!(head[10], b'T' | b' ') || marks.iter().any(|(at, mark)| head[*at] != *mark) {
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

/// Parse the fraction of a second, if any, to nanoseconds; return it and the rest, which is the zone.
#[inline]
fn parse_fraction(tail: &[u8]) -> Option<(i64, &[u8])> {
    let [mark @ (b'.' | b','), rest @ ..] = tail else { return Some((0, tail)) };
    let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, zone) = rest.split_at(count);
    if !(1..=9).contains(&count) || (*mark == b',' && zone == b"Z") {
        return None; // the engine refuses a comma in UTC
    }
    Some((parse_digits(digits)? * 10_i64.pow(9 - count as u32), zone))
}

/// Parse a zone, `Z`, `+05:30` or `-0800`, to the nanoseconds by which it is ahead of UTC.
#[inline]
fn parse_zone(zone: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match zone {
        b"Z" => return Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] | [sign @ (b'+' | b'-'), h1, h2, m1, m2] => {
            (*sign, parse_digits(&[*h1, *h2])?, parse_digits(&[*m1, *m2])?)
        }
        _ => return None,
    };
    let offset = (hours * 60 + minutes) * MINUTE;
    (hours <= 15 && minutes < 60).then_some(if sign == b'-' { -offset } else { offset })
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
            ("1970-01-01 01:30:00.5+01:30", Some(500_000_000)),
            ("1970-01-01T00:00:00,25-0015", Some(900_250_000_000)),
            ("1970-01-01T00:00:00,25Z", None),
            ("1970-01-01T00:00:00+16:00", None),
            ("1970-01-01T00:00:00+01:60", None),
            ("1970-01-01T00:00:00+1:00", None),
            ("1970-01-01T00:00:00 Z", None),
        ] {
            let mut clock = Clock::default();
            assert_eq!((clock.parse(text.as_bytes()), clock.parse(text.as_bytes())), (expected, expected), "{text}");
        }
    }

    #[test]
    fn default_zone_is_that_of_instants_without_one() {
        let mut clock = Clock::new(Some(2 * 60 * MINUTE));
        assert_eq!(clock.parse(b"1970-01-01 02:00:01.5"), Some(1_500_000_000));
        assert_eq!(clock.parse(b"1970-01-01 02:00:01.5Z"), Some(7_201_500_000_000));
    }
}
