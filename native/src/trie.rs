//! The paths that are read of a line, as a tree of keys.

/// A place in a document that some path leads to, or through.
#[derive(Debug, Default)]
pub struct Node {
    keys: Vec<Key>,
    /// the first key of each bucket: an index + 1
    buckets: Vec<u8>,
    /// the number of the path that ends here
    pub leaf: Option<u32>,
    /// which bit of the keys seen in the object around stands for this one
    pub bit: u32,
}

/// A key of an object: its first bytes as a number, all of them, the node of its value, the next key of its bucket.
#[derive(Debug)]
struct Key {
    head: u64,
    text: Vec<u8>,
    node: u32,
    next: u8,
}

const BUCKETS: usize = 256;
/// Keys of an object that can be told apart.
pub const MOST_KEYS: usize = 128;
/// Bytes of a key that are compared as one number.
const HEAD: usize = 8;

/// The first bytes of a key as a number.
#[inline]
fn head(bytes: &[u8], begin: usize, end: usize) -> u64 {
    if let Some(head) = bytes[begin..].first_chunk::<HEAD>() {
        let more = HEAD.saturating_sub(end - begin) as u32 * 8;
        let all = u64::from_le_bytes(*head);
        return if more == 64 { 0 } else { all << more >> more };
    }
    bytes[begin..end].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[inline]
fn bucket(head: u64, size: usize) -> usize {
    (((head ^ size as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> 56) as usize
}

impl Node {
    pub fn is_inner(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The node of a member of an object, whose key is these bytes.
    #[inline]
    pub fn child(&self, bytes: &[u8], begin: usize, end: usize) -> Option<u32> {
        let (head, size) = (head(bytes, begin, end), end - begin);
        let mut at = self.buckets[bucket(head, size)];
        while at > 0 {
            let own = &self.keys[usize::from(at) - 1];
            if own.head == head && own.text.len() == size && (size <= HEAD || own.text == bytes[begin..end]) {
                return Some(own.node);
            }
            at = own.next;
        }
        None
    }

    fn add(&mut self, key: &[u8], node: u32) {
        if self.buckets.is_empty() {
            self.buckets = vec![0; BUCKETS];
        }
        let head = head(key, 0, key.len());
        let first = &mut self.buckets[bucket(head, key.len())];
        self.keys.push(Key { head, text: key.to_vec(), node, next: *first });
        *first = self.keys.len() as u8;
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
    /// The node that keys lead to.
    pub fn node(&self, keys: &[Vec<u8>]) -> Option<u32> {
        keys.iter().try_fold(0, |at, key| {
            let node: &Node = &self.nodes[at as usize];
            node.is_inner().then(|| node.child(key, 0, key.len())).flatten()
        })
    }

    /// The number of a path, which is new if it is not there; none where an object would have too many keys.
    pub fn path(&mut self, keys: &[Vec<u8>]) -> Option<u32> {
        let mut at = 0;
        for key in keys {
            let found = self.nodes[at].is_inner().then(|| self.nodes[at].child(key, 0, key.len())).flatten();
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
