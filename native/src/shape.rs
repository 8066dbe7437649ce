//! Lines that are alike but for some values: what one was found to be, the others are.
//!
//! A line is as another when it has the same bytes but for texts and numbers at the same places.  Then it is JSON with
//! the same keys, and of the same event, since what tells that is among the bytes that are the same.

use crate::document::{Kind, Slot, Value};
use crate::number;
use crate::text;

/// A value that differs from line to line, and the bytes ahead of it.
#[derive(Debug)]
struct Step {
    ahead: Vec<u8>,
    kind: Kind,
}

/// What all lines of a shape have.
#[derive(Debug)]
pub struct Shape {
    steps: Vec<Step>,
    behind: Vec<u8>,
    pub form: i16,
    /// the number of the name that its lines have, if that is unknown
    pub name: u32,
    /// which of the values is the instant
    pub time: usize,
    /// what is kept of a line: of each column the value
    pub kept: Vec<Kept>,
    pub event: Option<usize>,
}

/// Where the value of a column comes from.
#[derive(Debug)]
pub enum Kept {
    Missing,
    Same(Vec<u8>),
    Value(usize),
}

/// How far a line of a shape reaches, and whether it holds bytes beyond ASCII.
#[derive(Clone, Copy, Debug)]
pub struct Matched {
    pub end: usize,
    pub wide: bool,
}

impl Shape {
    /// The shape of a line that ends at `end`, whose values that may differ are `slots`, in order.
    pub fn new(line: &[u8], slots: &[Slot], known: (i16, u32, usize), kept: (Option<usize>, Vec<Kept>)) -> Self {
        let mut at = 0;
        let mut steps = Vec::with_capacity(slots.len());
        for slot in slots {
            let (begin, end) = (slot.begin as usize, slot.end as usize);
            let kind = if slot.kind == Kind::Real { Kind::Whole } else { slot.kind };
            steps.push(Step { ahead: line[at..begin].to_vec(), kind });
            at = end;
        }
        let ((form, name, time), (event, kept)) = (known, kept);
        Shape { steps, behind: line[at..].to_vec(), form, name, time, kept, event }
    }

    /// Find the values of a line, if it is of this shape.  The bytes end in a line feed, whatever else they hold.
    #[inline]
    pub fn matched(&self, bytes: &[u8], values: &mut Vec<Value>) -> Option<Matched> {
        values.clear();
        let (mut at, mut wide) = (0, false);
        for step in &self.steps {
            at = same(bytes, at, &step.ahead)?;
            let (kind, end) = match step.kind {
                Kind::Text => {
                    let (end, beyond) = text::run(bytes, at);
                    wide |= beyond;
                    (Kind::Text, end) // the quote that is to end it is the first byte of those ahead of the next value
                }
                Kind::Word => (Kind::Word, [&b"true"[..], b"false"].iter().find_map(|word| same(bytes, at, word))?),
                _ => {
                    let (end, whole) = number::end(bytes, at)?;
                    (if whole { Kind::Whole } else { Kind::Real }, end)
                }
            };
            values.push(Value::new(at, end, kind));
            at = end;
        }
        let end = same(bytes, at, &self.behind)?;
        (bytes.get(end) == Some(&b'\n')).then_some(Matched { end, wide })
    }
}

/// Where some bytes end that stand at a place.
#[inline]
fn same(bytes: &[u8], at: usize, expected: &[u8]) -> Option<usize> {
    let end = at + expected.len();
    (bytes.get(at..end)? == expected).then_some(end)
}

/// The shapes that were found, by bytes of the line that tell most of them apart.
#[derive(Debug)]
pub struct Shapes {
    shapes: Vec<Shape>,
    buckets: Vec<[u16; WAYS]>,
    name: Vec<u8>,
    hits: usize,
}

const BUCKETS: usize = 1024;
/// Shapes of a bucket that are tried.
const WAYS: usize = 4;
const FREE: u16 = u16::MAX;
/// Shapes that are kept; so many would not be found again if there were more.
const MOST: usize = 2000;
/// Shapes that may be found before it is asked whether they come up again.
const TRIED: usize = 100;
/// Members of a line that tell shapes apart.
const MEMBERS: usize = 3;

impl Shapes {
    /// `name` is the key of the line whose value is the name of its event.
    pub fn new(name: &[u8]) -> Self {
        Shapes { shapes: Vec::new(), buckets: vec![[FREE; WAYS]; BUCKETS], name: name.to_vec(), hits: 0 }
    }

    /// The shape of a line, and its values.
    #[inline]
    pub fn find(&mut self, bytes: &[u8], values: &mut Vec<Value>) -> Option<(&Shape, Matched)> {
        let bucket = &mut self.buckets[bucket(bytes, &self.name)?];
        for way in 0..WAYS {
            let index = bucket[way];
            let shape = self.shapes.get(usize::from(index))?;
            if let Some(matched) = shape.matched(bytes, values) {
                bucket[..=way].rotate_right(1);
                self.hits += 1;
                return Some((shape, matched));
            }
        }
        None
    }

    /// Whether it is worth while to know more shapes.
    pub fn may_learn(&self) -> bool {
        self.shapes.len() < TRIED || (self.shapes.len() < MOST && self.hits > self.shapes.len() * 4)
    }

    pub fn learn(&mut self, bytes: &[u8], shape: Shape) {
        let Some(bucket) = bucket(bytes, &self.name) else { return };
        let ways = &mut self.buckets[bucket];
        ways.rotate_right(1);
        ways[0] = self.shapes.len() as u16;
        self.shapes.push(shape);
    }
}

/// The bucket of a line, by the keys of its first members, and the name of its event where that is among them.
#[inline]
fn bucket(bytes: &[u8], name: &[u8]) -> Option<usize> {
    let mut hash = 0;
    let mut at = same(bytes, 0, b"{")?;
    for _ in 0..MEMBERS {
        let begin = same(bytes, at, b"\"")?;
        let end = text::run(bytes, begin).0;
        let key = &bytes[begin..end];
        hash = mixed(hash, key);
        let Some(begin) = same(bytes, end, b"\":\"") else { break };
        let end = text::run(bytes, begin).0;
        if key == name {
            hash = mixed(hash, &bytes[begin..end]);
            break;
        }
        let Some(next) = same(bytes, end, b"\",") else { break };
        at = next;
    }
    Some((hash >> 32) as usize % BUCKETS)
}

/// A hash that goes on over more bytes.
#[inline]
fn mixed(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        hash = step(hash, u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
    }
    let rest = chunks.remainder().iter().fold(bytes.len() as u64, |word, byte| word << 8 | u64::from(*byte));
    step(hash, rest)
}

#[inline]
fn step(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        let line = br#"{"at":"now","n":1,"ok":true}"#;
        let slot = |begin, end, kind| Slot { begin, end, kind, leaf: 0 };
        let slots = [slot(7, 10, Kind::Text), slot(16, 17, Kind::Whole), slot(23, 27, Kind::Word)];
        Shape::new(line, &slots, (3, 7, 0), (None, vec![]))
    }

    fn matched(line: &str) -> Option<Vec<String>> {
        let mut values = Vec::new();
        let bytes = format!("{line}\n").into_bytes();
        let found = shape().matched(&bytes, &mut values)?;
        assert_eq!(found.end, line.len());
        Some(values.iter().map(|value| String::from_utf8_lossy(value.bytes(&bytes)).into_owned()).collect())
    }

    #[test]
    fn lines_of_a_shape_differ_in_values_alone() {
        let some = |values: [&str; 3]| Some(values.map(str::to_owned).to_vec());
        assert_eq!(matched(r#"{"at":"then","n":-2.5e3,"ok":false}"#), some(["then", "-2.5e3", "false"]));
        assert_eq!(matched(r#"{"at":"","n":0,"ok":true}"#), some(["", "0", "true"]));
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
            assert_eq!(matched(line), None, "{line}");
        }
    }

    #[test]
    fn shapes_are_found_again() {
        let mut shapes = Shapes::new(b"what");
        let mut values = Vec::new();
        let text = "{\"at\":\"then\",\"n\":2,\"ok\":false}\n";
        assert!(shapes.find(text.as_bytes(), &mut values).is_none());
        shapes.learn(text.as_bytes(), shape());
        let other = text.replace("then", "now").replace('2', "-17");
        let (found, matched) = shapes.find(other.as_bytes(), &mut values).unwrap();
        assert_eq!((found.form, found.name, matched.end, values.len()), (3, 7, 31, 3));
    }
}
