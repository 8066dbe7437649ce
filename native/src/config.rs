//! Decode request messages: numbers (64 bits, little endian) and texts (byte count, then bytes).

/// Reader of a message.
pub struct Message<'a> {
    rest: &'a [u8],
}

/// A message that is truncated or has invalid values.
#[derive(Debug)]
pub struct Malformed;

impl<'a> Message<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Message { rest: bytes }
    }

    /// Read a number.
    pub fn number(&mut self) -> Result<i64, Malformed> {
        let (head, rest) = self.rest.split_first_chunk::<8>().ok_or(Malformed)?;
        self.rest = rest;
        Ok(i64::from_le_bytes(*head))
    }

    /// Read the number of items, each of which takes at least one byte.
    pub fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.number()?).map_err(|_| Malformed)?;
        if count > self.rest.len() {
            return Err(Malformed);
        }
        Ok(count)
    }

    /// Read a boolean.
    pub fn flag(&mut self) -> Result<bool, Malformed> {
        Ok(self.number()? != 0)
    }

    /// Read a text.
    pub fn text(&mut self) -> Result<Vec<u8>, Malformed> {
        let size = self.count()?;
        let (head, rest) = self.rest.split_at(size);
        self.rest = rest;
        Ok(head.to_vec())
    }

    /// Read a list with `read` for each item.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T, Malformed>) -> Result<Vec<T>, Malformed> {
        let count = self.count()?;
        (0..count).map(|_| read(self)).collect()
    }

    /// Read a path as keys from the root of a document.
    pub fn path(&mut self) -> Result<Vec<Vec<u8>>, Malformed> {
        self.list(Self::text)
    }
}
