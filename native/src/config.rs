//! What is asked for, as it is handed in: numbers (64 bits, little endian) and texts (a number of bytes, then these).

/// Reads a message front to back.
pub struct Message<'a> {
    rest: &'a [u8],
}

/// A message that ends too early, or says what cannot be.
#[derive(Debug)]
pub struct Malformed;

impl<'a> Message<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Message { rest: bytes }
    }

    pub fn number(&mut self) -> Result<i64, Malformed> {
        let (head, rest) = self.rest.split_first_chunk::<8>().ok_or(Malformed)?;
        self.rest = rest;
        Ok(i64::from_le_bytes(*head))
    }

    /// A number of things, of which each takes a byte at least.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.number()?).map_err(|_| Malformed)?;
        if count > self.rest.len() {
            return Err(Malformed);
        }
        Ok(count)
    }

    pub fn flag(&mut self) -> Result<bool, Malformed> {
        Ok(self.number()? != 0)
    }

    pub fn text(&mut self) -> Result<Vec<u8>, Malformed> {
        let size = self.count()?;
        let (head, rest) = self.rest.split_at(size);
        self.rest = rest;
        Ok(head.to_vec())
    }

    /// A list of whatever `read` reads.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T, Malformed>) -> Result<Vec<T>, Malformed> {
        let count = self.count()?;
        (0..count).map(|_| read(self)).collect()
    }

    /// The keys that lead to a value.
    pub fn path(&mut self) -> Result<Vec<Vec<u8>>, Malformed> {
        self.list(Self::text)
    }
}
