//! Recognise lines that differ only in some values from an earlier line.
//!
//! Lines of a shape have the same bytes except texts, numbers and booleans at the same positions. They are JSON with the
//! same keys and of the same event, since the values that determine the event are among the equal bytes.

use crate::document::{Kind, Slot, Value};
use crate::number;
use crate::text;

/// A value that differs between lines, and the bytes before it.
#[derive(Debug)]
struct Step {
    prefix: Vec<u8>,
    kind: Kind,
}

/// The common part of some lines.
#[derive(Debug)]
pub struct Shape {
    steps: Vec<Step>,
    suffix: Vec<u8>,
    pub form: i16,
    /// number of the name of its lines if no event declares it
    pub name: u32,
    /// index of the value that is the instant
    pub time: usize,
    /// source of the value of each column
    pub columns: Vec<ColumnSource>,
    pub event: Option<usize>,
}

/// Source of the value of a column.
#[derive(Debug)]
pub enum ColumnSource {
    Missing,
    Constant(Vec<u8>),
    /// index of a value that differs between lines
    Slot(usize),
}

/// End of a line with a shape, begin of the next line, and whether it has bytes that are not ASCII.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    pub end: usize,
    pub next: usize,
    pub wide: bool,
}

impl Shape {
    /// Create the shape of a line; `slots` are the values that may differ, in order.
    pub fn new(
        line: &[u8],
        slots: &[Slot],
        (form, name, time): (i16, u32, usize),
        (event, columns): (Option<usize>, Vec<ColumnSource>),
    ) -> Self {
        let mut at = 0;
        let mut steps = Vec::with_capacity(slots.len());
        for slot in slots {
            let (begin, end) = (slot.begin as usize, slot.end as usize);
            let kind = if slot.kind == Kind::Real { Kind::Integer } else { slot.kind };
            steps.push(Step { prefix: line[at..begin].to_vec(), kind });
            at = end;
        }
        Shape { steps, suffix: line[at..].to_vec(), form, name, time, columns, event }
    }

    /// Match a line with this shape and extract its values. `bytes` must end in a line feed.
    #[inline]
    pub fn match_line(&self, bytes: &[u8], values: &mut Vec<Value>) -> Option<Match> {
        values.clear();
        let (mut at, mut wide) = (0, false);
        for step in &self.steps {
            at = skip_expected(bytes, at, &step.prefix)?;
            let (kind, end) = match step.kind {
                Kind::Text => {
                    let (end, is_wide) = text::skip_plain(bytes, at);
                    wide |= is_wide;
                    (Kind::Text, end) // the next prefix begins with the closing quote
                }
                Kind::Bool => {
                    (Kind::Bool, [&b"true"[..], b"false"].iter().find_map(|word| skip_expected(bytes, at, word))?)
                }
                _ => {
                    let (end, is_integer) = number::find_end(bytes, at)?;
                    (if is_integer { Kind::Integer } else { Kind::Real }, end)
                }
            };
            values.push(Value::new(at, end, kind));
            at = end;
        }
        let end = skip_expected(bytes, at, &self.suffix)?;
        find_next_line(bytes, end).map(|next| Match { end, next, wide })
    }
}

/// Return the begin of the next line if a line ends at `end`, in LF or in CR LF.
#[inline]
pub fn find_next_line(bytes: &[u8], end: usize) -> Option<usize> {
    match bytes.get(end..)? {
        [b'\n', ..] => Some(end + 1),
        [b'\r', b'\n', ..] => Some(end + 2),
        _ => None,
    }
}

/// Return the end of the expected bytes if they are at `at`.
#[inline]
fn skip_expected(bytes: &[u8], at: usize, expected: &[u8]) -> Option<usize> {
    let end = at + expected.len();
    (bytes.get(at..end)? == expected).then_some(end)
}

/// Known shapes in buckets by the first members of the line.
#[derive(Debug)]
pub struct Shapes {
    shapes: Vec<Shape>,
    buckets: Vec<[u16; WAYS]>,
    name: Vec<u8>,
    hits: usize,
}

const BUCKETS: usize = 1024;
/// Shapes per bucket.
const WAYS: usize = 4;
const FREE: u16 = u16::MAX;
/// Maximum number of shapes; more would evict each other from the buckets.
const MAX_SHAPES: usize = 2000;
/// Number of shapes from which on shapes are only added while matches are frequent.
const TRIAL_SHAPES: usize = 100;
/// Number of members that select the bucket.
const MEMBERS: usize = 3;

impl Shapes {
    /// Create an empty set; `name` is the key of the event name.
    pub fn new(name: &[u8]) -> Self {
        Shapes { shapes: Vec::new(), buckets: vec![[FREE; WAYS]; BUCKETS], name: name.to_vec(), hits: 0 }
    }

    /// Find the shape of a line and extract its values.
    #[inline]
    pub fn find(&mut self, bytes: &[u8], values: &mut Vec<Value>) -> Option<(&Shape, Match)> {
        let bucket = &mut self.buckets[choose_bucket(bytes, &self.name)?];
        for way in 0..WAYS {
            let index = bucket[way];
            let shape = self.shapes.get(usize::from(index))?;
            if let Some(matched) = shape.match_line(bytes, values) {
                bucket[..=way].rotate_right(1);
                self.hits += 1;
                return Some((shape, matched));
            }
        }
        None
    }

    /// Whether more shapes are worth adding.
    pub fn may_learn(&self) -> bool {
        self.shapes.len() < TRIAL_SHAPES || (self.shapes.len() < MAX_SHAPES && self.hits > self.shapes.len() * 4)
    }

    /// Add the shape of a line.
    pub fn learn(&mut self, bytes: &[u8], shape: Shape) {
        let Some(bucket) = choose_bucket(bytes, &self.name) else { return };
        let ways = &mut self.buckets[bucket];
        ways.rotate_right(1);
        ways[0] = self.shapes.len() as u16;
        self.shapes.push(shape);
    }
}

/// Choose a bucket by the first keys of a line, and by its event name if it is among their values.
#[inline]
fn choose_bucket(bytes: &[u8], name: &[u8]) -> Option<usize> {
    let mut hash = 0;
    let mut at = skip_expected(bytes, 0, b"{")?;
    for _ in 0..MEMBERS {
        let begin = skip_expected(bytes, at, b"\"")?;
        let end = text::skip_plain(bytes, begin).0;
        let key = &bytes[begin..end];
        hash = mix_bytes(hash, key);
        let Some(begin) = skip_expected(bytes, end, b"\":\"") else { break };
        let end = text::skip_plain(bytes, begin).0;
        if key == name {
            hash = mix_bytes(hash, &bytes[begin..end]);
            break;
        }
        let Some(next) = skip_expected(bytes, end, b"\",") else { break };
        at = next;
    }
    Some((hash >> 32) as usize % BUCKETS)
}

/// Mix bytes into a hash.
#[inline]
fn mix_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        hash = mix_word(hash, u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
    }
    let rest = chunks.remainder().iter().fold(bytes.len() as u64, |word, byte| word << 8 | u64::from(*byte));
    mix_word(hash, rest)
}

#[inline]
fn mix_word(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create_shape() -> Shape {
        let line = br#"{"at":"now","n":1,"ok":true}"#;
        let slot = |begin, end, kind| Slot { begin, end, kind, leaf: 0 };
        let slots = [slot(7, 10, Kind::Text), slot(16, 17, Kind::Integer), slot(23, 27, Kind::Bool)];
        Shape::new(line, &slots, (3, 7, 0), (None, vec![]))
    }

    fn extract_values(line: &str) -> Option<Vec<String>> {
        let mut values = Vec::new();
        let bytes = format!("{line}\n").into_bytes();
        let line_match = create_shape().match_line(&bytes, &mut values)?;
        assert_eq!(line_match.end, line.len());
        Some(values.iter().map(|value| String::from_utf8_lossy(value.bytes(&bytes)).into_owned()).collect())
    }

    #[test]
    fn lines_of_a_shape_differ_only_in_values() {
        let some = |values: [&str; 3]| Some(values.map(str::to_owned).to_vec());
        assert_eq!(extract_values(r#"{"at":"then","n":-2.5e3,"ok":false}"#), some(["then", "-2.5e3", "false"]));
        assert_eq!(extract_values(r#"{"at":"","n":0,"ok":true}"#), some(["", "0", "true"]));
        for line in [
            r#"{"at":"a\n","n":1,"ok":true}"#,
            r#"{"at":"a","n":01,"ok":true}"#,
            r#"{"at":"a","n":null,"ok":true}"#,
            r#"{"at":"a","n":"1","ok":true}"#,
            r#"{"at":"a","m":1,"ok":true}"#,
            r#"{"at":"a","n":1,"ok":true} "#,
            r#"{"at":"a","n":1,"ok":true"#,
            r#"{"at":"a","n":1,"ok":truex}"#,
            r#"{"at":"a","n":1"#,
            "{",
            "",
        ] {
            assert_eq!(extract_values(line), None, "{line}");
        }
    }

    #[test]
    fn shapes_are_found_again() {
        let mut shapes = Shapes::new(b"what");
        let mut values = Vec::new();
        let text = "{\"at\":\"then\",\"n\":2,\"ok\":false}\n";
        assert!(shapes.find(text.as_bytes(), &mut values).is_none());
        shapes.learn(text.as_bytes(), create_shape());
        let other = text.replace("then", "now").replace('2', "-17");
        let (shape, matched) = shapes.find(other.as_bytes(), &mut values).unwrap();
        assert_eq!((shape.form, shape.name, matched.end, values.len()), (3, 7, 31, 3));
    }
}
