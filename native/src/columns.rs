//! Rows of the lines of an event, in the order of the lines.

/// Values of a path, some of which may be missing.
#[derive(Debug)]
pub enum Column {
    Integer { values: Vec<i64>, valid: Valid },
    Text { ends: Vec<i64>, bytes: Vec<u8>, valid: Valid },
}

/// Validity bits, one per row; empty while no value is missing.
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
    /// Create an empty column of the same kind with capacity for a piece.
    fn new_like(&self) -> Self {
        match self {
            Column::Integer { .. } => {
                Column::Integer { values: Vec::with_capacity(PIECE_ROWS), valid: Valid::default() }
            }
            Column::Text { bytes, .. } => {
                let mut ends = Vec::with_capacity(PIECE_ROWS + 1);
                ends.push(0);
                Column::Text { ends, bytes: Vec::with_capacity(bytes.len()), valid: Valid::default() }
            }
        }
    }

    pub fn integer() -> Self {
        Column::Integer { values: Vec::new(), valid: Valid::default() }
    }

    pub fn text() -> Self {
        Column::Text { ends: vec![0], bytes: Vec::new(), valid: Valid::default() }
    }

    #[inline]
    pub fn push_integer(&mut self, value: Option<i64>) {
        if let Column::Integer { values, valid } = self {
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

    /// Approximate size in bytes.
    fn size(&self) -> usize {
        match self {
            Column::Integer { values, .. } => values.len() * 8,
            Column::Text { ends, bytes, .. } => ends.len() * 8 + bytes.len(),
        }
    }

    fn truncate(&mut self, rows: usize) {
        match self {
            Column::Integer { values, valid } => {
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

/// Origin of a row: number of the file, and of the line from 0.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub file: i16,
    pub line: i64,
}

/// Rows per piece. Larger vectors would be copied repeatedly as they grow.
const PIECE_ROWS: usize = 1 << 13;

/// Rows of an event, or odd lines as one text column; odd lines have no form and no instant.
#[derive(Debug, Default)]
pub struct Piece {
    pub files: Vec<i16>,
    pub places: Vec<i64>,
    pub forms: Vec<i16>,
    pub instants: Vec<i64>,
    pub columns: Vec<Column>,
}

impl Piece {
    fn new_like(&self) -> Self {
        Piece {
            files: Vec::with_capacity(PIECE_ROWS),
            places: Vec::with_capacity(PIECE_ROWS),
            forms: Vec::with_capacity(PIECE_ROWS),
            instants: Vec::with_capacity(PIECE_ROWS),
            columns: self.columns.iter().map(Column::new_like).collect(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Approximate size in bytes.
    fn size(&self) -> usize {
        const FIXED: usize = 2 + 8 + 2 + 8; // file, place, form, instant
        self.len() * FIXED + self.columns.iter().map(Column::size).sum::<usize>()
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

/// All rows of an event, or all odd lines: full pieces and the last one.
#[derive(Debug, Default)]
pub struct Rows {
    full: Vec<Piece>,
    last: Piece,
    /// approximate size of the full pieces in bytes
    full_size: usize,
}

impl Rows {
    pub fn new(columns: Vec<Column>) -> Self {
        Rows { last: Piece { columns, ..Piece::default() }, ..Rows::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.full.len() * PIECE_ROWS + self.last.len()
    }

    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        self.full_size + self.last.size()
    }

    /// Return a piece by its number from 0; only a sole piece may be empty.
    pub fn piece(&self, number: usize) -> Option<&Piece> {
        match number.checked_sub(self.full.len()) {
            None => Some(&self.full[number]),
            Some(0) => Some(&self.last),
            Some(_) => None,
        }
    }

    /// Add a row; the caller adds its values to the columns of the returned piece.
    #[inline]
    pub fn push(&mut self, place: Place, form: i16, instant: i64) -> &mut Piece {
        if self.last.len() == PIECE_ROWS {
            self.start_piece();
        }
        self.last.files.push(place.file);
        self.last.places.push(place.line);
        self.last.forms.push(form);
        self.last.instants.push(instant);
        &mut self.last
    }

    #[cold]
    fn start_piece(&mut self) {
        let next = self.last.new_like();
        self.full_size += self.last.size();
        self.full.push(std::mem::replace(&mut self.last, next));
    }

    /// Drop all rows after the first `rows`.
    pub fn truncate(&mut self, rows: usize) {
        while rows <= self.full.len() * PIECE_ROWS {
            let Some(piece) = self.full.pop() else { break };
            self.last = piece;
            self.full_size -= self.last.size();
        }
        self.last.truncate(rows - self.full.len() * PIECE_ROWS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncate_preserves_first_rows() {
        let mut rows = fill_rows(20);
        rows.truncate(10);
        assert_eq!(rows.len(), 10);
        let piece = rows.piece(0).unwrap();
        let Column::Integer { values, valid } = &piece.columns[0] else { panic!() };
        assert_eq!((values.len(), valid.missing, valid.bits.as_slice()), (10, 4, &[0b1011_0110, 0b01][..]));
        let Column::Text { ends, bytes, valid } = &piece.columns[1] else { panic!() };
        assert_eq!((ends.len(), bytes.len(), valid.missing), (11, 14, 3));
    }

    fn fill_rows(count: usize) -> Rows {
        let mut rows = Rows::new(vec![Column::integer(), Column::text()]);
        for line in 0..count as i64 {
            let piece = rows.push(Place { file: 0, line }, 1, line * 10);
            piece.columns[0].push_integer((line % 3 != 0).then_some(line));
            piece.columns[1].push_text((line % 4 != 0).then_some(b"ab"));
        }
        rows
    }

    fn lengths(rows: &Rows) -> Vec<usize> {
        (0..).map_while(|number| rows.piece(number)).map(Piece::len).collect()
    }

    #[test]
    fn rows_are_split_into_pieces() {
        assert_eq!(lengths(&fill_rows(0)), [0]);
        assert_eq!(lengths(&fill_rows(PIECE_ROWS)), [PIECE_ROWS]);
        let rows = fill_rows(2 * PIECE_ROWS + 1);
        assert_eq!(lengths(&rows), [PIECE_ROWS, PIECE_ROWS, 1]);
        let all: Vec<i64> = (0..3).flat_map(|number| rows.piece(number).unwrap().places.clone()).collect();
        assert_eq!(all, (0..=2 * PIECE_ROWS as i64).collect::<Vec<_>>());
    }

    #[test]
    fn truncate_works_in_any_piece() {
        for count in [2 * PIECE_ROWS + 1, 2 * PIECE_ROWS, 2 * PIECE_ROWS - 1, PIECE_ROWS, 5, 0] {
            let mut rows = fill_rows(2 * PIECE_ROWS + 1);
            rows.truncate(count);
            assert_eq!((rows.len(), rows.size()), (count, fill_rows(count).size()));
            rows.push(Place { file: 0, line: -1 }, 1, 0);
            assert_eq!(rows.len(), count + 1);
            assert_eq!(rows.piece(count / PIECE_ROWS).unwrap().places.last(), Some(&-1));
        }
    }
}
