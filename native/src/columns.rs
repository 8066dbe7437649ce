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
    /// An empty column of the same kind, which has room for a piece.
    fn alike(&self) -> Self {
        match self {
            Column::Whole { .. } => Column::Whole { values: Vec::with_capacity(MOST), valid: Valid::default() },
            Column::Text { bytes, .. } => {
                let mut ends = Vec::with_capacity(MOST + 1);
                ends.push(0);
                Column::Text { ends, bytes: Vec::with_capacity(bytes.len()), valid: Valid::default() }
            }
        }
    }

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

/// Rows of a piece.  More in one would be copied again and again as they grow, and each time into other memory.
const MOST: usize = 1 << 13;

/// Some of the rows of an event, or of the odd lines, which have neither form nor instant and one text.
#[derive(Debug, Default)]
pub struct Piece {
    pub files: Vec<i16>,
    pub places: Vec<i64>,
    pub forms: Vec<i16>,
    pub instants: Vec<i64>,
    pub columns: Vec<Column>,
}

impl Piece {
    fn alike(&self) -> Self {
        Piece {
            files: Vec::with_capacity(MOST),
            places: Vec::with_capacity(MOST),
            forms: Vec::with_capacity(MOST),
            instants: Vec::with_capacity(MOST),
            columns: self.columns.iter().map(Column::alike).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Bytes that are held, about.
    fn size(&self) -> usize {
        const OWN: usize = 2 + 8 + 2 + 8; // of what all rows have
        self.len() * OWN + self.columns.iter().map(Column::size).sum::<usize>()
    }

    fn truncate(&mut self, rows: usize) {
        self.files.truncate(rows);
        self.places.truncate(rows);
        self.forms.truncate(rows);
        self.instants.truncate(rows);
        for column in &mut self.columns {
            column.truncate(rows);
        }
    }
}

/// All rows of an event, or all odd lines: pieces that are full, and the last.
#[derive(Debug, Default)]
pub struct Rows {
    full: Vec<Piece>,
    last: Piece,
    /// bytes that the full ones hold, about
    held: usize,
}

impl Rows {
    pub fn new(columns: Vec<Column>) -> Self {
        Rows { last: Piece { columns, ..Piece::default() }, ..Rows::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.full.len() * MOST + self.last.len()
    }

    /// Bytes that are held, about.
    pub fn size(&self) -> usize {
        self.held + self.last.size()
    }

    /// The pieces in order, by their numbers from 0; none of them is empty, unless it is the only one.
    pub fn piece(&self, number: usize) -> Option<&Piece> {
        match number.checked_sub(self.full.len()) {
            None => Some(&self.full[number]),
            Some(0) => Some(&self.last),
            Some(_) => None,
        }
    }

    /// Add what all rows have; the columns of what comes back are added to one by one.
    #[inline]
    pub fn push(&mut self, place: Place, form: i16, instant: i64) -> &mut Piece {
        if self.last.len() == MOST {
            self.fill();
        }
        self.last.files.push(place.file);
        self.last.places.push(place.line);
        self.last.forms.push(form);
        self.last.instants.push(instant);
        &mut self.last
    }

    #[cold]
    fn fill(&mut self) {
        let fresh = self.last.alike();
        self.held += self.last.size();
        self.full.push(std::mem::replace(&mut self.last, fresh));
    }

    /// Drop all rows but the first.
    pub fn truncate(&mut self, rows: usize) {
        while rows <= self.full.len() * MOST {
            let Some(piece) = self.full.pop() else { break };
            self.last = piece;
            self.held -= self.last.size();
        }
        self.last.truncate(rows - self.full.len() * MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_dropped_leave_what_was_there() {
        let mut rows = filled(20);
        rows.truncate(10);
        assert_eq!(rows.len(), 10);
        let piece = rows.piece(0).unwrap();
        let Column::Whole { values, valid } = &piece.columns[0] else { panic!() };
        assert_eq!((values.len(), valid.missing, valid.bits.as_slice()), (10, 4, &[0b1011_0110, 0b01][..]));
        let Column::Text { ends, bytes, valid } = &piece.columns[1] else { panic!() };
        assert_eq!((ends.len(), bytes.len(), valid.missing), (11, 14, 3));
    }

    fn filled(rows: usize) -> Rows {
        let mut found = Rows::new(vec![Column::whole(), Column::text()]);
        for line in 0..rows as i64 {
            let piece = found.push(Place { file: 0, line }, 1, line * 10);
            piece.columns[0].push_whole((line % 3 != 0).then_some(line));
            piece.columns[1].push_text((line % 4 != 0).then_some(b"ab"));
        }
        found
    }

    fn lengths(rows: &Rows) -> Vec<usize> {
        (0..).map_while(|number| rows.piece(number)).map(Piece::len).collect()
    }

    #[test]
    fn many_rows_are_pieces() {
        assert_eq!(lengths(&filled(0)), [0]);
        assert_eq!(lengths(&filled(MOST)), [MOST]);
        let rows = filled(2 * MOST + 1);
        assert_eq!(lengths(&rows), [MOST, MOST, 1]);
        let all: Vec<i64> = (0..3).flat_map(|number| rows.piece(number).unwrap().places.clone()).collect();
        assert_eq!(all, (0..=2 * MOST as i64).collect::<Vec<_>>());
    }

    #[test]
    fn rows_are_dropped_from_any_piece() {
        for kept in [2 * MOST + 1, 2 * MOST, 2 * MOST - 1, MOST, 5, 0] {
            let mut rows = filled(2 * MOST + 1);
            rows.truncate(kept);
            assert_eq!((rows.len(), rows.size()), (kept, filled(kept).size()));
            rows.push(Place { file: 0, line: -1 }, 1, 0);
            assert_eq!(rows.len(), kept + 1);
            assert_eq!(rows.piece(kept / MOST).unwrap().places.last(), Some(&-1));
        }
    }
}
