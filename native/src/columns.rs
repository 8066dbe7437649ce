//! What is kept of the lines of an event: a row each, in the order of the lines.

/// The values of a path, of which some may be missing.
#[derive(Debug)]
pub enum Column {
    Whole { values: Vec<i64>, valid: Valid },
    Text { ends: Vec<i64>, bytes: Vec<u8>, valid: Valid },
}

/// One bit a row; there are some only where a value is missing.
#[derive(Debug, Default)]
pub struct Valid {
    pub bits: Vec<u8>,
    pub missing: i64,
    rows: usize,
}

impl Valid {
    #[inline]
    fn push(&mut self, valid: bool) {
        if !valid || self.missing > 0 {
            self.push_bit(valid);
        }
        self.rows += 1;
    }

    #[cold]
    fn push_bit(&mut self, valid: bool) {
        if self.missing == 0 {
            self.bits = vec![u8::MAX; self.rows.div_ceil(8)];
            if self.rows % 8 != 0 {
                self.bits[self.rows / 8] = (1 << (self.rows % 8)) - 1;
            }
        }
        if self.rows % 8 == 0 {
            self.bits.push(0);
        }
        self.bits[self.rows / 8] |= u8::from(valid) << (self.rows % 8);
        self.missing += i64::from(!valid);
    }

    fn truncate(&mut self, rows: usize) {
        if self.missing == 0 {
            self.rows = rows;
            return;
        }
        for row in rows..self.rows {
            if self.bits[row / 8] & (1 << (row % 8)) == 0 {
                self.missing -= 1;
            }
        }
        self.bits.truncate(rows.div_ceil(8));
        if rows % 8 != 0 {
            self.bits[rows / 8] &= (1 << (rows % 8)) - 1;
        }
        self.rows = rows;
    }
}

impl Column {
    pub fn whole() -> Self {
        Column::Whole { values: Vec::new(), valid: Valid::default() }
    }

    pub fn text() -> Self {
        Column::Text { ends: vec![0], bytes: Vec::new(), valid: Valid::default() }
    }

    #[inline]
    pub fn push_whole(&mut self, value: Option<i64>) {
        if let Column::Whole { values, valid } = self {
            values.push(value.unwrap_or(0));
            valid.push(value.is_some());
        }
    }

    #[inline]
    pub fn push_text(&mut self, value: Option<&[u8]>) {
        if let Column::Text { ends, bytes, valid } = self {
            bytes.extend_from_slice(value.unwrap_or(b""));
            ends.push(bytes.len() as i64);
            valid.push(value.is_some());
        }
    }

    /// Bytes that it holds, about.
    fn size(&self) -> usize {
        match self {
            Column::Whole { values, .. } => values.len() * 8,
            Column::Text { ends, bytes, .. } => ends.len() * 8 + bytes.len(),
        }
    }

    fn truncate(&mut self, rows: usize) {
        match self {
            Column::Whole { values, valid } => {
                values.truncate(rows);
                valid.truncate(rows);
            }
            Column::Text { ends, bytes, valid } => {
                ends.truncate(rows + 1);
                bytes.truncate(ends[rows] as usize);
                valid.truncate(rows);
            }
        }
    }
}

/// Where a row comes from: the number of its file, and of its line there from 0.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub file: i16,
    pub line: i64,
}

/// The rows of an event, or the odd lines, which have neither form nor instant and one text.
#[derive(Debug, Default)]
pub struct Rows {
    pub files: Vec<i16>,
    pub places: Vec<i64>,
    pub forms: Vec<i16>,
    pub instants: Vec<i64>,
    pub columns: Vec<Column>,
}

impl Rows {
    pub fn new(columns: Vec<Column>) -> Self {
        Rows { columns, ..Rows::default() }
    }

    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Bytes that are held, about.
    pub fn size(&self) -> usize {
        const OWN: usize = 2 + 8 + 2 + 8; // of what all rows have
        self.len() * OWN + self.columns.iter().map(Column::size).sum::<usize>()
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Add what all rows have; their columns are added to one by one.
    #[inline]
    pub fn push(&mut self, place: Place, form: i16, instant: i64) {
        self.files.push(place.file);
        self.places.push(place.line);
        self.forms.push(form);
        self.instants.push(instant);
    }

    /// Drop all rows but the first.
    pub fn truncate(&mut self, rows: usize) {
        self.files.truncate(rows);
        self.places.truncate(rows);
        self.forms.truncate(rows);
        self.instants.truncate(rows);
        for column in &mut self.columns {
            column.truncate(rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_dropped_leave_what_was_there() {
        let mut rows = Rows::new(vec![Column::whole(), Column::text()]);
        for line in 0..20 {
            rows.push(Place { file: 0, line }, 1, line * 10);
            rows.columns[0].push_whole((line % 3 != 0).then_some(line));
            rows.columns[1].push_text((line % 4 != 0).then_some(b"ab"));
        }
        rows.truncate(10);
        assert_eq!(rows.len(), 10);
        let Column::Whole { values, valid } = &rows.columns[0] else { panic!() };
        assert_eq!((values.len(), valid.missing, valid.bits.as_slice()), (10, 4, &[0b1011_0110, 0b01][..]));
        let Column::Text { ends, bytes, valid } = &rows.columns[1] else { panic!() };
        assert_eq!((ends.len(), bytes.len(), valid.missing), (11, 14, 3));
    }
}
