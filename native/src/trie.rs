//! The paths that are read of a line, as a tree of keys.

/// A place in a document that some path leads to, or through.
#[derive(Debug, Default)]
pub struct Node {
    keys: Vec<Key>,
    /// the first key of each bucket: an index + 1
    buckets: Option<Box<[u8; BUCKETS]>>,
}

/// A key of an object: its first bytes as a number, all of them, the next key of its bucket.
#[derive(Debug)]
struct Key {
    head: u64,
    text: Vec<u8>,
    child: Child,
    next: u8,
}

/// What a key leads to.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    pub node: u32,
    /// the number of the path that ends here, or `NONE`
    pub leaf: u32,
    /// which bit of the keys seen in the object around stands for this one
    pub bit: u32,
    /// paths lead further
    pub is_inner: bool,
}

/// No path.
pub const NONE: u32 = u32::MAX;

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
    /// The node of a member of an object, whose key is these bytes.
    #[inline]
    pub fn child(&self, bytes: &[u8], begin: usize, end: usize) -> Option<&Child> {
        let (head, size) = (head(bytes, begin, end), end - begin);
        let mut at = self.buckets.as_ref()?[bucket(head, size)];
        while at > 0 {
            let own = &self.keys[usize::from(at) - 1];
            if own.head == head && own.text.len() == size && (size <= HEAD || own.text == bytes[begin..end]) {
                return Some(&own.child);
            }
            at = own.next;
        }
        None
    }

    /// The index of a key, which is new if it is not there; none where there would be too many.
    fn key(&mut self, key: &[u8], node: u32) -> Option<usize> {
        if let Some(found) = self.keys.iter().position(|own| own.text == key) {
            return Some(found);
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
            node.child(key, 0, key.len()).map(|child| child.node)
        })
    }

    /// The number of a path, which is new if it is not there; none where it is empty, or an object would have too many
    /// keys.
    pub fn path(&mut self, keys: &[Vec<u8>]) -> Option<u32> {
        let (mut at, mut last) = (0, None::<(usize, usize)>);
        for key in keys {
            if let Some((node, index)) = last {
                self.nodes[node].keys[index].child.is_inner = true;
            }
            let fresh = self.nodes.len() as u32;
            let index = self.nodes[at].key(key, fresh)?;
            let node = self.nodes[at].keys[index].child.node;
            if node == fresh {
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
