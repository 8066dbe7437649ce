//! Scan files line by line.

use std::path::PathBuf;
use std::sync::Arc;

use crate::columns::{Column, Place, Rows};
use crate::config::{Malformed, Message};
use crate::document::Value;
use crate::instant::Clock;
use crate::lines::{read_pieces, ReadStatus};
use crate::plan::{Line, Plan, TEXT};
use crate::shape::{find_next_line, Shapes};
use crate::unknown::{Count, Unknown, NO_NAME};

/// A file is left to the engine if, after this many bytes, one in `ODD_SHARE` of them is in odd lines.
const TRIAL_BYTES: usize = 1 << 20;
const ODD_SHARE: usize = 4;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A part of a file.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    begin: u64,
    end: u64,
}

/// Number of lines of a form in a file, and line and instant of the first and the last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub rows: i64,
    pub first: i64,
    pub first_ns: i64,
    pub last: i64,
    pub last_ns: i64,
}

impl Tally {
    #[inline]
    fn add(&mut self, line: i64, instant: i64) {
        if self.rows == 0 {
            (self.first, self.first_ns) = (line, instant);
        }
        (self.last, self.last_ns) = (line, instant);
        self.rows += 1;
    }
}

/// Status of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileStatus {
    #[default]
    Read,
    /// the engine must separate its lines, or can spill its rows to disk
    Strange,
    /// not read yet, since the rows of earlier files reach the limit
    Deferred,
}

/// Result of a file; empty unless its status is `Read`.
#[derive(Debug, Default)]
pub struct FileResult {
    pub status: FileStatus,
    pub lines: i64,
    /// by form, starting with `TEXT`
    pub tallies: Vec<Tally>,
    /// counts of unknown names
    pub unknown: Vec<Count>,
}

impl FileResult {
    #[inline]
    fn tally(&mut self, form: i16) -> &mut Tally {
        &mut self.tallies[(form - TEXT) as usize]
    }
}

/// Whether a line is UTF-8 and does not contain the column separator of the engine.
fn is_readable(line: &[u8], separator: u8) -> bool {
    !line.contains(&separator) && std::str::from_utf8(line).is_ok()
}

/// Whether a line cannot be an object: it begins neither with a brace nor with a blank.
fn is_text(line: &[u8]) -> bool {
    line.first().is_some_and(|first| *first > b' ' && *first != b'{')
}

/// Result of a scan.
#[derive(Debug)]
pub struct Outcome {
    pub files: Vec<FileResult>,
    pub events: Vec<Arc<Rows>>,
    pub odd: Arc<Rows>,
    /// unknown names in the order of their numbers
    pub names: Vec<Vec<u8>>,
}

/// A plain line: the begin of the next line, form, instant, and the number of its name if no event declares it.
struct Plain {
    next: usize,
    form: i16,
    instant: i64,
    name: u32,
}

/// Scan the files of a request message.
pub fn scan(message: &[u8]) -> Result<Outcome, Malformed> {
    let mut message = Message::new(message);
    let max_line = message.size()?;
    let separator = message.number()? as u8;
    let max_bytes = message.size()?;
    let parts = message.list(read_part)?;
    let plan = Plan::read(&mut message)?;
    let mut reader = Reader {
        plan: &plan,
        document: plan.create_reader(),
        clock: Clock::new(plan.offset),
        shapes: plan.create_shapes(),
        values: Vec::new(),
        max_line,
        separator,
        max_bytes,
        is_full: false,
        rows: plan.create_rows(),
        odd: Rows::new(vec![Column::text()]),
        unknown: Unknown::default(),
    };
    let mut files = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        files.push(reader.read_file(file_number(index)?, part));
    }
    let Reader { rows, odd, unknown, .. } = reader;
    let events = rows.into_iter().map(Arc::new).collect();
    Ok(Outcome { files, events, odd: Arc::new(odd), names: unknown.into_names() })
}

/// Convert the index of a file to its number in rows; fail if there are too many files.
fn file_number(index: usize) -> Result<i16, Malformed> {
    i16::try_from(index).map_err(|_| Malformed)
}

fn read_part(message: &mut Message) -> Result<Part, Malformed> {
    let path = to_path(message.text()?);
    let unsigned = |number: i64| u64::try_from(number).map_err(|_| Malformed);
    Ok(Part { path, begin: unsigned(message.number()?)?, end: unsigned(message.number()?)? })
}

#[cfg(unix)]
fn to_path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn to_path(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

impl Message<'_> {
    fn size(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.number()?).map_err(|_| Malformed)
    }
}

struct Reader<'p> {
    plan: &'p Plan,
    document: Line<'p>,
    clock: Clock,
    shapes: Shapes,
    /// values of the last line that matched a shape
    values: Vec<Value>,
    max_line: usize,
    separator: u8,
    /// maximum size of all rows in bytes
    max_bytes: usize,
    /// the limit is reached and no more files are read
    is_full: bool,
    rows: Vec<Rows>,
    odd: Rows,
    unknown: Unknown,
}

/// The engine must separate the lines of the file.
struct Strange;

impl FileResult {
    fn with_status(status: FileStatus) -> Self {
        FileResult { status, ..FileResult::default() }
    }
}

impl Reader<'_> {
    /// Read a file; drop its rows if it cannot be read to its end.
    fn read_file(&mut self, index: i16, part: &Part) -> FileResult {
        if self.is_full {
            return FileResult::with_status(FileStatus::Deferred);
        }
        let counts: Vec<usize> = self.rows.iter().map(Rows::len).collect();
        let odd_count = self.odd.len();
        let tallies = vec![Tally::default(); self.plan.form_count() + usize::from(TEXT.unsigned_abs())];
        let mut result = FileResult { tallies, ..FileResult::default() };
        let (mut bytes, mut odd_bytes) = (0, 0);
        let status = read_pieces(&part.path, part.begin, part.end, self.max_line, |piece| {
            bytes += piece.len();
            match self.read_piece(index, piece, &mut result) {
                Ok(odd) => odd_bytes += odd,
                Err(Strange) => return false,
            }
            self.is_full = self.size() > self.max_bytes;
            !self.is_full && (bytes < TRIAL_BYTES || odd_bytes < bytes / ODD_SHARE)
        });
        result.unknown = self.unknown.take_counts();
        if !matches!(status, Ok(ReadStatus::Complete)) {
            // A first file that exceeds the limit would do so again later.
            self.is_full &= odd_count > 0 || counts.iter().any(|count| *count > 0);
            for (rows, count) in self.rows.iter_mut().zip(counts) {
                rows.truncate(count);
            }
            self.odd.truncate(odd_count);
            let status = if self.is_full { FileStatus::Deferred } else { FileStatus::Strange };
            return FileResult::with_status(status);
        }
        result
    }

    /// Approximate size of all rows in bytes.
    fn size(&self) -> usize {
        self.odd.size() + self.rows.iter().map(Rows::size).sum::<usize>()
    }

    /// Read the lines of a piece of a file; return the bytes of odd lines.
    fn read_piece(&mut self, file: i16, piece: &[u8], result: &mut FileResult) -> Result<usize, Strange> {
        let mut at = 0;
        let mut odd_bytes = 0;
        while at < piece.len() {
            let rest = &piece[at..];
            let place = Place { file, line: result.lines };
            match self.read_line(rest, place)? {
                Some(plain) => {
                    result.tally(plain.form).add(place.line, plain.instant);
                    if plain.name != NO_NAME {
                        self.unknown.count(plain.name, place.line);
                    }
                    at += plain.next;
                }
                None => {
                    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len() - 1);
                    let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
                    if end >= self.max_line || !self.is_separable(line, place) {
                        return Err(Strange);
                    }
                    if is_text(line) {
                        result.tally(TEXT).add(place.line, 0);
                    } else {
                        self.odd.push(place, 0, 0).columns[0].push_text(Some(line));
                        odd_bytes += end + 1;
                    }
                    at += end + 1;
                }
            }
            result.lines += 1;
        }
        Ok(odd_bytes)
    }

    /// Read a line; return `None` if it is odd.
    #[inline]
    fn read_line(&mut self, rest: &[u8], place: Place) -> Result<Option<Plain>, Strange> {
        let Some((shape, matched)) = self.shapes.find(rest, &mut self.values) else {
            return self.read_unshaped_line(rest, place);
        };
        let line = &rest[..matched.end];
        if matched.next > self.max_line {
            return Ok(None);
        }
        if matched.wide && !is_readable(line, self.separator) {
            return Err(Strange);
        }
        let instant = self.plan.store_shaped(shape, line, &self.values, place, &mut self.rows, &mut self.clock);
        Ok(instant.ok().map(|instant| Plain { next: matched.next, form: shape.form, instant, name: shape.name }))
    }

    fn read_unshaped_line(&mut self, rest: &[u8], place: Place) -> Result<Option<Plain>, Strange> {
        let Some(end) = self.document.read(rest) else { return Ok(None) };
        let Some(next) = find_next_line(rest, end).filter(|next| *next <= self.max_line) else { return Ok(None) };
        let line = &rest[..end];
        if self.document.wide && !is_readable(line, self.separator) {
            return Err(Strange);
        }
        let info = self.plan.classify(&self.document, line, &mut self.clock);
        let stored = info.and_then(|mut info| {
            let name = self.plan.find_unknown_name(&self.document, line, info)?;
            info.name = name.map_or(NO_NAME, |name| self.unknown.number(&name));
            self.plan.store(&self.document, line, info, place, &mut self.rows)?;
            Ok(info)
        });
        let Ok(info) = stored else { return Ok(None) };
        if self.shapes.may_learn() && !self.document.wide {
            if let Some(shape) = self.plan.derive_shape(&self.document, line, info) {
                self.shapes.learn(rest, shape);
            }
        }
        Ok(Some(Plain { next, form: info.form, instant: info.instant, name: info.name }))
    }

    /// Whether the engine would separate an odd line in the same way.
    fn is_separable(&self, line: &[u8], place: Place) -> bool {
        let is_single = !line.iter().any(|byte| matches!(byte, b'\r' | 0));
        let has_mark = place.line == 0 && line.starts_with(BYTE_ORDER_MARK);
        is_single && !has_mark && is_readable(line, self.separator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_files_are_rejected() {
        assert_eq!(file_number(32_767).ok(), Some(32_767));
        assert!(file_number(32_768).is_err());
    }
}
