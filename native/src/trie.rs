//! The paths that are read of a line, as a tree of keys.

/// A place in a document that some path leads to, or through.
#[derive(Debug, Default)]
pub struct Node {
    keys: Vec<(Vec<u8>, u32)>,
    /// first key of a bucket, and of each key the next one: indices + 1
    buckets: Vec<u8>,
    next: Vec<u8>,
    /// the number of the path that ends here
    pub leaf: Option<u32>,
    /// which bit of the keys seen in the object around stands for this one
    pub bit: u32,
}

const BUCKETS: usize = 256;
/// Keys of an object that can be told apart.
pub const MOST_KEYS: usize = 128;

fn bucket(key: &[u8]) -> usize {
    let ends = match key {
        [] => 0,
        [first, .., last] => usize::from(*first) * 5 + usize::from(*last) * 31,
        [only] => usize::from(*only),
    };
    (ends + key.len() * 7) % BUCKETS
}

impl Node {
    pub fn is_inner(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The node of a member of an object.
    #[inline]
    pub fn child(&self, key: &[u8]) -> Option<u32> {
        let mut at = self.buckets[bucket(key)];
        while at > 0 {
            let (own, node) = &self.keys[usize::from(at) - 1];
            if own == key {
                return Some(*node);
            }
            at = self.next[usize::from(at) - 1];
        }
        None
    }

    fn add(&mut self, key: &[u8], node: u32) {
        if self.buckets.is_empty() {
            self.buckets = vec![0; BUCKETS];
        }
        let own = bucket(key);
        self.next.push(self.buckets[own]);
        self.keys.push((key.to_vec(), node));
        self.buckets[own] = self.keys.len() as u8;
    }
}

/// The nodes, the first of which is the root, and how many paths there are.
#[derive(Debug)]
pub struct Trie {
    pub nodes: Vec<Node>,
    pub paths: u32,
}

impl Default for Trie {
    fn default() -> Self {
        Trie { nodes: vec![Node::default()], paths: 0 }
    }
}

impl Trie {
    /// The number of a path, which is new if it is not there; none where an object would have too many keys.
    pub fn path(&mut self, keys: &[Vec<u8>]) -> Option<u32> {
        let mut at = 0;
        for key in keys {
            let found = self.nodes[at].is_inner().then(|| self.nodes[at].child(key)).flatten();
            at = match found {
                Some(node) => node as usize,
                None => self.grown(at, key)?,
            };
        }
        let paths = self.paths;
        let leaf = *self.nodes[at].leaf.get_or_insert(paths);
        if leaf == paths {
            self.paths += 1;
        }
        Some(leaf)
    }

    fn grown(&mut self, at: usize, key: &[u8]) -> Option<usize> {
        let bit = self.nodes[at].keys.len();
        if bit >= MOST_KEYS {
            return None;
        }
        let node = self.nodes.len();
        self.nodes.push(Node { bit: bit as u32, ..Node::default() });
        self.nodes[at].add(key, node as u32);
        Some(node)
    }
}
