//! Count records by names that no event declares.

use std::collections::HashMap;

/// Placeholder for names that some event declares.
pub const NO_NAME: u32 = u32::MAX;
/// Maximum characters of a name; longer ones are truncated.
const MAX_CHARACTERS: usize = 200;

/// Records of a name in a file: number of the name, count, and line of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub name: u32,
    pub rows: i64,
    pub first: i64,
}

/// All names so far with their numbers, and the counts of the current file.
#[derive(Debug, Default)]
pub struct Unknown {
    numbers: HashMap<Vec<u8>, u32>,
    counts: Vec<Count>,
    /// indices of nonzero `counts`, in the order of first lines
    counted: Vec<u32>,
}

impl Unknown {
    /// Return the number of a name and add it if necessary.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        let name = truncate_name(name);
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.counts.len() as u32;
        self.numbers.insert(name.to_vec(), number);
        self.counts.push(Count { name: number, rows: 0, first: 0 });
        number
    }

    /// Count a line with a name.
    #[inline]
    pub fn count(&mut self, name: u32, line: i64) {
        let count = &mut self.counts[name as usize];
        if count.rows == 0 {
            count.first = line;
            self.counted.push(name);
        }
        count.rows += 1;
    }

    /// Return the counts of the current file and reset them.
    pub fn take_counts(&mut self) -> Vec<Count> {
        let counts = &mut self.counts;
        let take = |name: u32| std::mem::replace(&mut counts[name as usize], Count { name, ..Count::default() });
        self.counted.drain(..).map(take).collect()
    }

    /// Return the names in the order of their numbers.
    pub fn into_names(self) -> Vec<Vec<u8>> {
        let mut names = vec![Vec::new(); self.numbers.len()];
        for (name, number) in self.numbers {
            names[number as usize] = name;
        }
        names
    }
}

/// Truncate a name to its first characters.
fn truncate_name(name: &[u8]) -> &[u8] {
    let end = match std::str::from_utf8(name) {
        Ok(text) => text.char_indices().nth(MAX_CHARACTERS).map(|(end, _)| end),
        Err(_) => None,
    };
    &name[..end.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_restart_for_each_file() {
        let mut unknown = Unknown::default();
        let (a, b) = (unknown.number(b"a"), unknown.number(b"b"));
        unknown.count(b, 3);
        unknown.count(b, 5);
        assert_eq!(unknown.take_counts(), [Count { name: b, rows: 2, first: 3 }]);
        unknown.count(a, 1);
        assert_eq!(unknown.take_counts(), [Count { name: a, rows: 1, first: 1 }]);
        assert_eq!(unknown.into_names(), [b"a".to_vec(), b"b".to_vec()]);
    }

    #[test]
    fn long_names_are_truncated_between_characters() {
        let mut unknown = Unknown::default();
        let name = "\u{e9}".repeat(MAX_CHARACTERS);
        assert_eq!(unknown.number(name.as_bytes()), unknown.number((name.clone() + "x").as_bytes()));
        assert_eq!(unknown.into_names(), [name.into_bytes()]);
    }
}
