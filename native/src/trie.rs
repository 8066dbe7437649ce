//! Requested paths of a line as a tree of keys.

/// A position in a document on some path.
#[derive(Debug, Default)]
pub struct Node {
    keys: Vec<Key>,
    /// first key of each bucket as index + 1, or 0
    buckets: Option<Box<[u8; BUCKETS]>>,
}

/// A key of an object; `head` has its first bytes as a number, `next` is the next key of the bucket.
#[derive(Debug)]
struct Key {
    head: u64,
    text: Vec<u8>,
    child: Child,
    next: u8,
}

/// The target of a key.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    pub node: u32,
    /// number of the path that ends here, or `NONE`
    pub leaf: u32,
    /// bit of this key in the set of keys seen in an object
    pub bit: u32,
    /// whether paths continue below
    pub is_inner: bool,
}

/// No path.
pub const NONE: u32 = u32::MAX;

const BUCKETS: usize = 256;
/// Maximum number of keys per object.
pub const MOST_KEYS: usize = 128;
/// Bytes of a key in `head`.
const HEAD: usize = 8;

/// Pack the first bytes of a key into a number.
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
    /// Find the child with the key `bytes[begin..end]`.
    #[inline]
    pub fn child(&self, bytes: &[u8], begin: usize, end: usize) -> Option<&Child> {
        let (head, size) = (head(bytes, begin, end), end - begin);
        let mut at = self.buckets.as_ref()?[bucket(head, size)];
        while at > 0 {
            let key = &self.keys[usize::from(at) - 1];
            if key.head == head && key.text.len() == size && (size <= HEAD || key.text == bytes[begin..end]) {
                return Some(&key.child);
            }
            at = key.next;
        }
        None
    }

    /// Return the index of a key and add it if necessary; `None` if there are too many keys.
    fn key(&mut self, key: &[u8], node: u32) -> Option<usize> {
        if let Some(index) = self.keys.iter().position(|known| known.text == key) {
            return Some(index);
        }
        if self.keys.len() >= MOST_KEYS {
            return None;
        }
        let head = head(key, 0, key.len());
        let buckets = self.buckets.get_or_insert_with(|| Box::new([0; BUCKETS]));
        let first = &mut buckets[bucket(head, key.len())];
        let child = Child { node, leaf: NONE, bit: self.keys.len() as u32, is_inner: false };
        self.keys.push(Key { head, text: key.to_vec(), child, next: *first });
        *first = self.keys.len() as u8;
        Some(self.keys.len() - 1)
    }
}

/// Nodes, of which the first is the root, and the number of paths.
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
    /// Find the node at some keys.
    pub fn node(&self, keys: &[Vec<u8>]) -> Option<u32> {
        keys.iter().try_fold(0, |at, key| {
            let node: &Node = &self.nodes[at as usize];
            node.child(key, 0, key.len()).map(|child| child.node)
        })
    }

    /// Return the number of a path and add it if necessary; `None` if it is empty or an object has too many keys.
    pub fn path(&mut self, keys: &[Vec<u8>]) -> Option<u32> {
        let (mut at, mut last) = (0, None::<(usize, usize)>);
        for key in keys {
            if let Some((node, index)) = last {
                self.nodes[node].keys[index].child.is_inner = true;
            }
            let new = self.nodes.len() as u32;
            let index = self.nodes[at].key(key, new)?;
            let node = self.nodes[at].keys[index].child.node;
            if node == new {
                self.nodes.push(Node::default());
            }
            last = Some((at, index));
            at = node as usize;
        }
        let (node, index) = last?;
        let child = &mut self.nodes[node].keys[index].child;
        if child.leaf == NONE {
            child.leaf = self.paths;
            self.paths += 1;
        }
        Some(child.leaf)
    }
}
