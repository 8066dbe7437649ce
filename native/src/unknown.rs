//! The names of records that no event has: how many records of each a file holds, and which is the first.

use std::collections::HashMap;

/// The number of a name that some event has.
pub const NO_NAME: u32 = u32::MAX;
/// Characters of a name; of a longer one the rest is cut.
const LONGEST: usize = 200;

/// Records of a name: its number, how many there are, the line of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub name: u32,
    pub rows: i64,
    pub first: i64,
}

/// All names so far, each with a number, and the counts of the file that is being read.
#[derive(Debug, Default)]
pub struct Unknown {
    numbers: HashMap<Vec<u8>, u32>,
    counts: Vec<Count>,
    /// those of `counts` that are not zero, in the order of their first lines
    counted: Vec<u32>,
}

impl Unknown {
    /// The number of a name.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        let name = cut(name);
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.counts.len() as u32;
        self.numbers.insert(name.to_vec(), number);
        self.counts.push(Count { name: number, rows: 0, first: 0 });
        number
    }

    /// Count a line of a name.
    #[inline]
    pub fn count(&mut self, name: u32, line: i64) {
        let count = &mut self.counts[name as usize];
        if count.rows == 0 {
            count.first = line;
            self.counted.push(name);
        }
        count.rows += 1;
    }

    /// The counts of the file that was read; those of the next begin at zero.
    pub fn take_counts(&mut self) -> Vec<Count> {
        let counts = &mut self.counts;
        let take = |name: u32| std::mem::replace(&mut counts[name as usize], Count { name, ..Count::default() });
        self.counted.drain(..).map(take).collect()
    }

    /// The names, by their numbers.
    pub fn into_names(self) -> Vec<Vec<u8>> {
        let mut names = vec![Vec::new(); self.numbers.len()];
        for (name, number) in self.numbers {
            names[number as usize] = name;
        }
        names
    }
}

/// The first characters of a name.
fn cut(name: &[u8]) -> &[u8] {
    let end = match std::str::from_utf8(name) {
        Ok(text) => text.char_indices().nth(LONGEST).map(|(end, _)| end),
        Err(_) => None,
    };
    &name[..end.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_file_begin_at_zero() {
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
    fn long_names_are_cut_between_characters() {
        let mut unknown = Unknown::default();
        let name = "\u{e9}".repeat(LONGEST);
        assert_eq!(unknown.number(name.as_bytes()), unknown.number((name.clone() + "x").as_bytes()));
        assert_eq!(unknown.into_names(), [name.into_bytes()]);
    }
}
