//! Validate a line of JSON by the strict grammar and find the values at requested paths.

use crate::number;
use crate::text;
use crate::trie::{Child, Trie, NONE};

/// Maximum nesting depth of a plain line.
const DEEPEST: u32 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Real,
    Bool,
    Null,
    Object,
    List,
}

/// A value as bytes of the line; of a text, those between its quotes.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub begin: u32,
    pub end: u32,
    pub kind: Kind,
    /// whether the bytes are the text that the engine would return; not yet checked for numbers
    pub bare: bool,
    line: u32,
}

/// A text, number or boolean that may differ between lines of a shape.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub begin: u32,
    pub end: u32,
    pub kind: Kind,
    pub leaf: u32,
}

impl Value {
    /// Create a value without escapes for matching shapes.
    #[inline]
    pub fn new(begin: usize, end: usize, kind: Kind) -> Self {
        Value { begin: begin as u32, end: end as u32, kind, bare: true, line: 0 }
    }

    const NONE: Value = Value { begin: 0, end: 0, kind: Kind::Null, bare: false, line: 0 };

    #[inline]
    pub fn bytes<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        &line[self.begin as usize..self.end as usize]
    }

    /// Return the text that the engine would return if it equals the bytes.
    pub fn text<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let bytes = self.bytes(line);
        let plain = match self.kind {
            Kind::Integer | Kind::Real => number::is_canonical(bytes, self.kind == Kind::Integer),
            _ => self.bare,
        };
        plain.then_some(bytes)
    }
}

/// Decides by the text at one path whether another member of the line can be skipped.
pub trait Shortcut {
    /// Return the path and the node of the member.
    fn paths(&self) -> Option<(u32, u32)>;
    /// Return whether no value of the member is requested, given the text at the path.
    fn can_skip(&mut self, text: &[u8]) -> bool;
}

/// Reader of lines, with the values of the last one.
pub struct Document<'t, E> {
    trie: &'t Trie,
    pub shortcut: E,
    /// the path and the member of `shortcut`
    shortcut_paths: (u32, u32),
    /// the member is skipped in this line
    pub skips_member: bool,
    values: Vec<Value>,
    line: u32,
    /// no byte since the last reset would be printed differently by the engine
    bare: bool,
    /// number of enclosing values that are requested as text
    requested_depth: u32,
    /// the line has bytes that are not ASCII
    pub wide: bool,
    /// whether the value at each path determines the event of the line
    determines_event: Vec<bool>,
    /// number of enclosing values at such paths
    event_depth: u32,
    /// values that do not determine the event, in order
    pub slots: Vec<Slot>,
    /// whether the line can define a shape: it has no escapes, and no list or object is stored
    pub has_shape: bool,
}

impl<'t, E: Shortcut> Document<'t, E> {
    /// Create a reader; `event_paths` are the paths whose values determine the event of a line.
    pub fn new(trie: &'t Trie, shortcut: E, event_paths: &[u32]) -> Self {
        let mut determines_event = vec![false; trie.paths as usize];
        event_paths.iter().for_each(|path| determines_event[*path as usize] = true);
        let values = vec![Value::NONE; trie.paths as usize];
        let shortcut_paths = shortcut.paths().unwrap_or((NONE, NONE));
        Document {
            trie,
            shortcut,
            shortcut_paths,
            skips_member: false,
            values,
            line: 0,
            bare: true,
            requested_depth: 0,
            wide: false,
            determines_event,
            event_depth: 0,
            slots: Vec::new(),
            has_shape: true,
        }
    }

    /// Read the object at the first byte and return its end, or `None` if it is not plain. `bytes` must end in a line
    /// feed.
    #[inline]
    pub fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.line == u32::MAX {
            self.values.fill(Value::NONE);
            self.line = 0;
        }
        self.line += 1;
        self.bare = true;
        self.requested_depth = 0;
        self.wide = false;
        self.skips_member = false;
        self.event_depth = 0;
        self.slots.clear();
        self.has_shape = true;
        if bytes.first() != Some(&b'{') {
            return None;
        }
        self.read_object(bytes, 1, Some(0), 1)
    }

    /// Return the value, possibly null, at a path of the last line.
    #[inline]
    pub fn at(&self, path: u32) -> Option<&Value> {
        let value = &self.values[path as usize];
        (value.line == self.line).then_some(value)
    }

    #[inline]
    fn skip_blanks(&mut self, bytes: &[u8], mut at: usize) -> usize {
        while matches!(byte_at(bytes, at), b' ' | b'\t') {
            self.bare = false;
            at += 1;
        }
        at
    }

    fn read_object(&mut self, bytes: &[u8], at: usize, node: Option<u32>, depth: u32) -> Option<usize> {
        let trie = self.trie;
        let inner = node.map(|node| &trie.nodes[node as usize]);
        let mut seen = 0_u128;
        let mut at = self.skip_blanks(bytes, at);
        if byte_at(bytes, at) == b'}' {
            return Some(at + 1);
        }
        loop {
            if byte_at(bytes, at) != b'"' {
                return None;
            }
            let (end, bare) = self.read_string(bytes, at + 1)?;
            let child = match inner {
                // A key with escapes may equal a requested one.
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
            at = self.skip_blanks(bytes, end + 1);
            if byte_at(bytes, at) != b':' {
                return None;
            }
            at = self.skip_blanks(bytes, at + 1);
            at = self.read_value(bytes, at, child, depth)?;
            at = self.skip_blanks(bytes, at);
            match byte_at(bytes, at) {
                b',' => at = self.skip_blanks(bytes, at + 1),
                b'}' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    fn read_list(&mut self, bytes: &[u8], at: usize, depth: u32) -> Option<usize> {
        let mut at = self.skip_blanks(bytes, at);
        if byte_at(bytes, at) == b']' {
            return Some(at + 1);
        }
        loop {
            at = self.read_value(bytes, at, None, depth)?;
            at = self.skip_blanks(bytes, at);
            match byte_at(bytes, at) {
                b',' => at = self.skip_blanks(bytes, at + 1),
                b']' => return Some(at + 1),
                _ => return None,
            }
        }
    }

    #[inline]
    fn read_value(&mut self, bytes: &[u8], at: usize, child: Option<&Child>, depth: u32) -> Option<usize> {
        let leaf = child.map_or(NONE, |child| child.leaf);
        let (kind, end) = match byte_at(bytes, at) {
            b'"' => {
                let (end, bare) = self.read_string(bytes, at + 1)?;
                self.record(leaf, at + 1, end, Kind::Text, bare);
                if leaf == self.shortcut_paths.0 && leaf != NONE && bare {
                    self.skips_member = self.shortcut.can_skip(&bytes[at + 1..end]);
                }
                return Some(end + 1);
            }
            b'-' | b'0'..=b'9' => {
                let (end, is_integer) = number::find_end(bytes, at)?;
                if self.requested_depth > 0 && !number::is_canonical(&bytes[at..end], is_integer) {
                    self.bare = false;
                }
                (if is_integer { Kind::Integer } else { Kind::Real }, end)
            }
            b'{' | b'[' => return self.read_nested(bytes, at, child, depth),
            b't' => (Kind::Bool, match_word(bytes, at, b"true")?),
            b'f' => (Kind::Bool, match_word(bytes, at, b"false")?),
            b'n' => (Kind::Null, match_word(bytes, at, b"null")?),
            _ => return None,
        };
        self.record(leaf, at, end, kind, true);
        Some(end)
    }

    fn read_nested(&mut self, bytes: &[u8], at: usize, child: Option<&Child>, depth: u32) -> Option<usize> {
        if depth >= DEEPEST {
            return None;
        }
        let child = child.filter(|child| !(self.skips_member && child.node == self.shortcut_paths.1));
        let leaf = child.map_or(NONE, |child| child.leaf);
        let node = child.filter(|child| child.is_inner).map(|child| child.node);
        let outer_bare = self.bare;
        let determines_event = self.determines_event(leaf);
        self.event_depth += u32::from(determines_event);
        if leaf != NONE {
            self.has_shape &= determines_event;
            self.bare = true;
            self.requested_depth += 1;
        }
        let (kind, end) = if bytes[at] == b'{' {
            (Kind::Object, self.read_object(bytes, at + 1, node, depth + 1)?)
        } else {
            (Kind::List, self.read_list(bytes, at + 1, depth + 1)?)
        };
        self.event_depth -= u32::from(determines_event);
        if leaf != NONE {
            self.requested_depth -= 1;
            self.record(leaf, at, end, kind, self.bare);
            self.bare &= outer_bare;
        }
        Some(end)
    }

    #[inline]
    fn record(&mut self, leaf: u32, begin: usize, end: usize, kind: Kind, bare: bool) {
        if let Some(value) = self.values.get_mut(leaf as usize) {
            *value = Value { begin: begin as u32, end: end as u32, kind, bare, line: self.line };
        }
        let is_scalar = matches!(kind, Kind::Text | Kind::Integer | Kind::Real | Kind::Bool);
        if is_scalar && self.event_depth == 0 && !self.determines_event(leaf) {
            self.has_shape &= bare;
            self.slots.push(Slot { begin: begin as u32, end: end as u32, kind, leaf });
        }
    }

    #[inline]
    fn determines_event(&self, leaf: u32) -> bool {
        self.determines_event.get(leaf as usize).is_some_and(|determines| *determines)
    }

    /// Find the closing quote of a text; return its index and whether the text has no escapes.
    #[inline]
    fn read_string(&mut self, bytes: &[u8], at: usize) -> Option<(usize, bool)> {
        let (end, wide) = text::skip_plain(bytes, at);
        self.wide |= wide;
        match byte_at(bytes, end) {
            b'"' => Some((end, true)),
            b'\\' => self.read_escaped(bytes, end).map(|end| (end, false)),
            _ => None,
        }
    }

    /// Find the closing quote from a backslash on.
    fn read_escaped(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        self.bare = false;
        loop {
            match byte_at(bytes, at) {
                b'"' => return Some(at),
                b'\\' => at = skip_escape(bytes, at + 1)?,
                _ => return None,
            }
            let (end, wide) = text::skip_plain(bytes, at);
            self.wide |= wide;
            at = end;
        }
    }
}

#[inline]
fn byte_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(b'\n')
}

#[inline]
fn match_word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes[at..].starts_with(word).then_some(at + word.len())
}

/// Find the end of the escape whose backslash is before `at`; halves of surrogate pairs are not plain.
fn skip_escape(bytes: &[u8], at: usize) -> Option<usize> {
    match byte_at(bytes, at) {
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

    /// Skips the member at node 2 when the text at the first path is `skip`.
    struct Skip;

    impl Shortcut for Skip {
        fn paths(&self) -> Option<(u32, u32)> {
            Some((0, 2))
        }

        fn can_skip(&mut self, text: &[u8]) -> bool {
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
    fn invalid_json_is_not_plain() {
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
