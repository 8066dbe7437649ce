//! One line of JSON: checked to its end by the strict grammar, with what stands at the paths that are asked for.

use crate::number;
use crate::text;
use crate::trie::{Child, Trie, NONE};

/// How deep objects and lists may nest in a plain line.
const DEEPEST: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Whole,
    Real,
    /// `true`, `false`
    Word,
    Null,
    Object,
    List,
}

/// What stands at a path: bytes of the line, of a text those between its quotes.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub begin: u32,
    pub end: u32,
    pub kind: Kind,
    /// the bytes are what the engine would give as text; of numbers that is not known yet
    pub bare: bool,
    line: u32,
}

/// A text, a number or a truth value of a line that another line of its shape may have other ones of.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub begin: u32,
    pub end: u32,
    pub kind: Kind,
    pub leaf: u32,
}

impl Value {
    /// A value that is written without escapes, of no line in particular.
    #[inline]
    pub fn new(begin: usize, end: usize, kind: Kind) -> Self {
        Value { begin: begin as u32, end: end as u32, kind, bare: true, line: 0 }
    }

    const NONE: Value = Value { begin: 0, end: 0, kind: Kind::Null, bare: false, line: 0 };

    #[inline]
    pub fn bytes<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        &line[self.begin as usize..self.end as usize]
    }

    /// The text that the engine would give; nothing where that is not the bytes as they stand.
    pub fn text<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let bytes = self.bytes(line);
        let plain = match self.kind {
            Kind::Whole | Kind::Real => number::is_canonical(bytes, self.kind == Kind::Whole),
            _ => self.bare,
        };
        plain.then_some(bytes)
    }
}

/// What makes it needless to look into a member of a line: what stands at a path.
pub trait Early {
    /// The path, and the member.
    fn places(&self) -> Option<(u32, u32)>;
    /// Whether nothing of the member is asked for, since this text stands at the path.
    fn is_enough(&mut self, text: &[u8]) -> bool;
}

/// Reads lines, one at a time; what the last one held is asked of it.
pub struct Document<'t, E> {
    trie: &'t Trie,
    pub early: E,
    /// the path and the member of `early`
    places: (u32, u32),
    /// it held what made the member needless
    pub enough: bool,
    values: Vec<Value>,
    line: u32,
    /// nothing was seen since it was set that the engine would write in another way
    bare: bool,
    /// how many values around are asked for as a text
    asked: u32,
    /// bytes beyond ASCII were seen in the line
    pub wide: bool,
    /// of each path whether what stands there tells what the line is
    telling: Vec<bool>,
    /// how many values around tell that
    told: u32,
    /// the values that tell nothing, in order
    pub slots: Vec<Slot>,
    /// there may be lines of its shape: none of its texts is written with escapes, and no list or object is kept
    pub shaped: bool,
}

impl<'t, E: Early> Document<'t, E> {
    /// `telling` are the paths that tell what a line is.
    pub fn new(trie: &'t Trie, early: E, telling: &[u32]) -> Self {
        let mut tells = vec![false; trie.paths as usize];
        telling.iter().for_each(|path| tells[*path as usize] = true);
        let values = vec![Value::NONE; trie.paths as usize];
        let places = early.places().unwrap_or((NONE, NONE));
        Document {
            trie,
            early,
            places,
            enough: false,
            values,
            line: 0,
            bare: true,
            asked: 0,
            wide: false,
            telling: tells,
            told: 0,
            slots: Vec::new(),
            shaped: true,
        }
    }

    /// Where the object ends that begins at the first byte; nothing when it is not plain.  The bytes end in a line
    /// feed, whatever else they hold.
    #[inline]
    pub fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.line == u32::MAX {
            self.values.fill(Value::NONE);
            self.line = 0;
        }
        self.line += 1;
        self.bare = true;
        self.asked = 0;
        self.wide = false;
        self.enough = false;
        self.told = 0;
        self.slots.clear();
        self.shaped = true;
        if bytes.first() != Some(&b'{') {
            return None;
        }
        self.object(bytes, 1, Some(0), 1)
    }

    /// What stands at a path of the line that was read last, null included.
    #[inline]
    pub fn at(&self, path: u32) -> Option<&Value> {
        let value = &self.values[path as usize];
        (value.line == self.line).then_some(value)
    }

    #[inline]
    fn blank(&mut self, bytes: &[u8], mut at: usize) -> usize {
        while matches!(byte(bytes, at), b' ' | b'\t') {
            self.bare = false;
            at += 1;
        }
        at
    }

    fn object(&mut self, bytes: &[u8], at: usize, node: Option<u32>, depth: u32) -> Option<usize> {
        let trie = self.trie;
        let inner = node.map(|node| &trie.nodes[node as usize]);
        let mut seen = 0_u128;
        let mut at = self.blank(bytes, at);
        if byte(bytes, at) == b'}' {
            return Some(at + 1);
        }
        loop {
            if byte(bytes, at) != b'"' {
                return None;
            }
            let (end, bare) = self.string(bytes, at + 1)?;
            let child = match inner {
                // A key that is written with escapes may be one that is asked for.
                Some(_) if !bare => return None,
                Some(inner) => inner.child(bytes, at + 1, end),
                None => None,
            };
            if let Some(child) = child {
                let bit = 1 << child.bit;
                if seen & bit != 0 {
                    return None;
                }
                seen |= bit;
            }
            at = self.blank(bytes, end + 1);
            if byte(bytes, at) != b':' {
                return None;
            }
            at = self.blank(bytes, at + 1);
            at = self.value(bytes, at, child, depth)?;
            at = self.blank(bytes, at);
            match byte(bytes, at) {
                b',' => at = self.blank(bytes, at + 1),
                b'}' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    fn list(&mut self, bytes: &[u8], at: usize, depth: u32) -> Option<usize> {
        let mut at = self.blank(bytes, at);
        if byte(bytes, at) == b']' {
            return Some(at + 1);
        }
        loop {
            at = self.value(bytes, at, None, depth)?;
            at = self.blank(bytes, at);
            match byte(bytes, at) {
                b',' => at = self.blank(bytes, at + 1),
                b']' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    #[inline]
    fn value(&mut self, bytes: &[u8], at: usize, child: Option<&Child>, depth: u32) -> Option<usize> {
        let leaf = child.map_or(NONE, |child| child.leaf);
        let (kind, end) = match byte(bytes, at) {
            b'"' => {
                let (end, bare) = self.string(bytes, at + 1)?;
                self.found(leaf, at + 1, end, Kind::Text, bare);
                if leaf == self.places.0 && leaf != NONE && bare {
                    self.enough = self.early.is_enough(&bytes[at + 1..end]);
                }
                return Some(end + 1);
            }
            b'-' | b'0'..=b'9' => {
                let (end, whole) = number::end(bytes, at)?;
                if self.asked > 0 && !number::is_canonical(&bytes[at..end], whole) {
                    self.bare = false;
                }
                (if whole { Kind::Whole } else { Kind::Real }, end)
            }
            b'{' | b'[' => return self.nested(bytes, at, child, depth),
            b't' => (Kind::Word, word(bytes, at, b"true")?),
            b'f' => (Kind::Word, word(bytes, at, b"false")?),
            b'n' => (Kind::Null, word(bytes, at, b"null")?),
            _ => return None,
        };
        self.found(leaf, at, end, kind, true);
        Some(end)
    }

    fn nested(&mut self, bytes: &[u8], at: usize, child: Option<&Child>, depth: u32) -> Option<usize> {
        if depth >= DEEPEST {
            return None;
        }
        let child = child.filter(|child| !(self.enough && child.node == self.places.1));
        let leaf = child.map_or(NONE, |child| child.leaf);
        let node = child.filter(|child| child.is_inner).map(|child| child.node);
        let around = self.bare;
        let tells = self.tells(leaf);
        self.told += u32::from(tells);
        if leaf != NONE {
            self.shaped &= tells;
            self.bare = true;
            self.asked += 1;
        }
        let (kind, end) = if bytes[at] == b'{' {
            (Kind::Object, self.object(bytes, at + 1, node, depth + 1)?)
        } else {
            (Kind::List, self.list(bytes, at + 1, depth + 1)?)
        };
        self.told -= u32::from(tells);
        if leaf != NONE {
            self.asked -= 1;
            self.found(leaf, at, end, kind, self.bare);
            self.bare &= around;
        }
        Some(end)
    }

    #[inline]
    fn found(&mut self, leaf: u32, begin: usize, end: usize, kind: Kind, bare: bool) {
        if let Some(value) = self.values.get_mut(leaf as usize) {
            *value = Value { begin: begin as u32, end: end as u32, kind, bare, line: self.line };
        }
        let scalar = matches!(kind, Kind::Text | Kind::Whole | Kind::Real | Kind::Word);
        if scalar && self.told == 0 && !self.tells(leaf) {
            self.shaped &= bare;
            self.slots.push(Slot { begin: begin as u32, end: end as u32, kind, leaf });
        }
    }

    #[inline]
    fn tells(&self, leaf: u32) -> bool {
        self.telling.get(leaf as usize).is_some_and(|tells| *tells)
    }

    /// Where the quote stands that ends a text, and whether it is written without escapes.
    #[inline]
    fn string(&mut self, bytes: &[u8], at: usize) -> Option<(usize, bool)> {
        let (end, wide) = text::run(bytes, at);
        self.wide |= wide;
        match byte(bytes, end) {
            b'"' => Some((end, true)),
            b'\\' => self.escaped(bytes, end).map(|end| (end, false)),
            _ => None,
        }
    }

    /// The same from a backslash on.
    fn escaped(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        self.bare = false;
        loop {
            match byte(bytes, at) {
                b'"' => return Some(at),
                b'\\' => at = escape(bytes, at + 1)?,
                _ => return None,
            }
            let (end, wide) = text::run(bytes, at);
            self.wide |= wide;
            at = end;
        }
    }
}

#[inline]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(b'\n')
}

#[inline]
fn word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(word).then_some(at + word.len())
}

/// Where an escape ends whose backslash stands before `at`.  Halves of surrogate pairs are not plain.
fn escape(bytes: &[u8], at: usize) -> Option<usize> {
    match byte(bytes, at) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let digits = bytes.get(at + 1..at + 5)?;
            let surrogate = matches!(digits[0], b'd' | b'D') && !digits[1].is_ascii_digit()
                || matches!(digits[0], b'd' | b'D') && digits[1] >= b'8';
            let plain = !surrogate && digits.iter().all(u8::is_ascii_hexdigit);
            plain.then_some(at + 5)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text `skip` at the first path makes the second member needless.
    struct Skip;

    impl Early for Skip {
        fn places(&self) -> Option<(u32, u32)> {
            Some((0, 2))
        }

        fn is_enough(&mut self, text: &[u8]) -> bool {
            text == b"skip"
        }
    }

    fn trie() -> Trie {
        let mut trie = Trie::default();
        for path in [&["a"][..], &["b"], &["b", "c"]] {
            let keys: Vec<Vec<u8>> = path.iter().map(|key| key.as_bytes().to_vec()).collect();
            trie.path(&keys).unwrap();
        }
        trie
    }

    fn read(line: &str) -> Option<Vec<Option<String>>> {
        let trie = trie();
        let mut document = Document::new(&trie, Skip, &[]);
        let bytes = format!("{line}\n").into_bytes();
        let end = document.read(&bytes)?;
        (end == line.len()).then(|| {
            (0..trie.paths)
                .map(|path| {
                    let text = document.at(path)?.text(&bytes)?;
                    Some(String::from_utf8_lossy(text).into_owned())
                })
                .collect()
        })
    }

    #[test]
    fn values_at_paths_are_found() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            read(r#"{"a":"x y","z":[1,{"a":2}],"b":{"c":-5,"d":1.5}}"#),
            Some(vec![some("x y"), some(r#"{"c":-5,"d":1.5}"#), some("-5")])
        );
        assert_eq!(read(r#"{"a":"x\n","b":[1, 2]}"#), Some(vec![None, None, None]));
        assert_eq!(read(r#"{ "a" : null }"#), Some(vec![some("null"), None, None]));
        assert_eq!(read(r#"{"b":{"e":1.50}}"#), Some(vec![None, None, None]));
        assert_eq!(read(r#"{"a":"skip","b":{"c":1}}"#), Some(vec![some("skip"), None, None]));
        assert_eq!(read(r#"{"a":"skip","b":{"c":1,}}"#), None);
    }

    #[test]
    fn what_is_not_strict_json_is_not_plain() {
        for line in [
            "",
            "{",
            "{}}",
            "[]",
            r#"{"a":1,}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":01}"#,
            r#"{"a":NaN}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"b":{"c":1,"c":1}}"#,
            r#"{"\u0061":1}"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\ud800"}"#,
            "{\"a\":\"\t\"}",
            r#"{"a":tru}"#,
            r#"{"a":1}x"#,
            r#"{'a':1}"#,
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"z":[1,]}"#,
            r#"{"z":[1 2]}"#,
        ] {
            assert_eq!(read(line), None, "{line}");
        }
        let deep = format!("{{\"z\":{}{}}}", "[".repeat(100), "]".repeat(100));
        assert_eq!(read(&deep), None);
    }
}
