//! Some files, line by line.

use std::path::PathBuf;
use std::sync::Arc;

use crate::columns::{Column, Place, Rows};
use crate::config::{Malformed, Message};
use crate::document::Value;
use crate::instant::Clock;
use crate::lines::{pieces, Read_};
use crate::plan::{Line, Plan, TEXT};
use crate::shape::Shapes;
use crate::unknown::{Count, Unknown, NO_NAME};

/// Bytes of a file after which it is left to the engine, if so large a part (one of `SHARE`) of them was odd.
const TRIED: usize = 1 << 20;
const SHARE: usize = 4;
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A part of a file.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    begin: u64,
    end: u64,
}

/// The lines of a file that are of one form: how many, the first and the last, and their instants.
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

/// What was done with a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Done {
    #[default]
    Read,
    /// the engine tells its lines apart, or can put on a disk what it holds of it
    Strange,
    /// so much is held of those before it that it is to be read later
    Left,
}

/// What a file came to; nothing is told of one that was not read.
#[derive(Debug, Default)]
pub struct Found {
    pub done: Done,
    pub lines: i64,
    /// by the number of the form, from that of lines which are texts
    pub tallies: Vec<Tally>,
    /// of the names that are unknown
    pub unknown: Vec<Count>,
}

impl Found {
    #[inline]
    fn tally(&mut self, form: i16) -> &mut Tally {
        &mut self.tallies[(form - TEXT) as usize]
    }
}

/// Whether bytes are UTF-8, and none of them may be taken for what separates columns.
fn is_readable(line: &[u8], separator: u8) -> bool {
    !line.contains(&separator) && std::str::from_utf8(line).is_ok()
}

/// Whether a line is no object for sure: it begins with neither a brace nor what may stand ahead of one.
fn is_text(line: &[u8]) -> bool {
    line.first().is_some_and(|first| *first > b' ' && *first != b'{')
}

/// What files came to.
#[derive(Debug)]
pub struct Outcome {
    pub files: Vec<Found>,
    pub events: Vec<Arc<Rows>>,
    pub odd: Arc<Rows>,
    /// the unknown names, by their numbers
    pub names: Vec<Vec<u8>>,
}

/// A line that was read: where it ends, its form, its instant, the number of its name if that is unknown.
struct Plain {
    end: usize,
    form: i16,
    instant: i64,
    name: u32,
}

/// Read the files that a message names, as it says.
pub fn scan(message: &[u8]) -> Result<Outcome, Malformed> {
    let mut message = Message::new(message);
    let longest = message.count_of()?;
    let separator = message.number()? as u8;
    let most = message.count_of()?;
    let parts = message.list(part)?;
    let plan = Plan::read(&mut message)?;
    let mut reader = Reader {
        plan: &plan,
        document: plan.line(),
        clock: Clock::default(),
        shapes: plan.shapes(),
        values: Vec::new(),
        longest,
        separator,
        most,
        left: false,
        rows: plan.rows(),
        odd: Rows::new(vec![Column::text()]),
        unknown: Unknown::default(),
    };
    let mut files = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        files.push(reader.file(file_number(index)?, part));
    }
    let Reader { rows, odd, unknown, .. } = reader;
    let events = rows.into_iter().map(Arc::new).collect();
    Ok(Outcome { files, events, odd: Arc::new(odd), names: unknown.into_names() })
}

/// The number of a file in the rows; a message of more files than these can tell apart is left to the engine.
fn file_number(index: usize) -> Result<i16, Malformed> {
    i16::try_from(index).map_err(|_| Malformed)
}

fn part(message: &mut Message) -> Result<Part, Malformed> {
    let path = path(message.text()?);
    let unsigned = |number: i64| u64::try_from(number).map_err(|_| Malformed);
    Ok(Part { path, begin: unsigned(message.number()?)?, end: unsigned(message.number()?)? })
}

#[cfg(unix)]
fn path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

impl Message<'_> {
    fn count_of(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.number()?).map_err(|_| Malformed)
    }
}

struct Reader<'p> {
    plan: &'p Plan,
    document: Line<'p>,
    clock: Clock,
    shapes: Shapes,
    /// those of a line of a shape
    values: Vec<Value>,
    longest: usize,
    separator: u8,
    /// bytes of rows that may be held
    most: usize,
    /// they are: no more files are read
    left: bool,
    rows: Vec<Rows>,
    odd: Rows,
    unknown: Unknown,
}

/// A file whose lines the engine tells apart.
struct Strange;

impl Found {
    fn of(done: Done) -> Self {
        Found { done, ..Found::default() }
    }
}

impl Reader<'_> {
    fn file(&mut self, index: i16, part: &Part) -> Found {
        if self.left {
            return Found::of(Done::Left);
        }
        let before: Vec<usize> = self.rows.iter().map(Rows::len).collect();
        let odd = self.odd.len();
        let tallies = vec![Tally::default(); self.plan.forms() + usize::from(TEXT.unsigned_abs())];
        let mut found = Found { tallies, ..Found::default() };
        let (mut seen, mut aside) = (0, 0);
        let read = pieces(&part.path, part.begin, part.end, self.longest, |piece| {
            seen += piece.len();
            match self.piece(index, piece, &mut found) {
                Ok(more) => aside += more,
                Err(Strange) => return false,
            }
            self.left = self.size() > self.most;
            !self.left && (seen < TRIED || aside < seen / SHARE)
        });
        found.unknown = self.unknown.take_counts();
        if !matches!(read, Ok(Read_::Whole)) {
            // Of the first file too much would be held later, too.
            self.left &= odd > 0 || before.iter().any(|rows| *rows > 0);
            for (rows, before) in self.rows.iter_mut().zip(before) {
                rows.truncate(before);
            }
            self.odd.truncate(odd);
            return Found::of(if self.left { Done::Left } else { Done::Strange });
        }
        found
    }

    /// Bytes of rows that are held, about.
    fn size(&self) -> usize {
        self.odd.size() + self.rows.iter().map(Rows::size).sum::<usize>()
    }

    /// Read the lines of a piece of a file; how many bytes of them are odd.
    fn piece(&mut self, file: i16, piece: &[u8], found: &mut Found) -> Result<usize, Strange> {
        let mut at = 0;
        let mut odd = 0;
        while at < piece.len() {
            let rest = &piece[at..];
            let place = Place { file, line: found.lines };
            match self.line(rest, place)? {
                Some(plain) => {
                    found.tally(plain.form).add(place.line, plain.instant);
                    if plain.name != NO_NAME {
                        self.unknown.count(plain.name, place.line);
                    }
                    at += plain.end + 1;
                }
                None => {
                    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len() - 1);
                    let line = &rest[..end];
                    if !self.may_be_told(line, place) {
                        return Err(Strange);
                    }
                    if is_text(line) {
                        found.tally(TEXT).add(place.line, 0);
                    } else {
                        self.odd.push(place, 0, 0).columns[0].push_text(Some(line));
                        odd += end + 1;
                    }
                    at += end + 1;
                }
            }
            found.lines += 1;
        }
        Ok(odd)
    }

    /// What a line is, when it is plain.
    #[inline]
    fn line(&mut self, rest: &[u8], place: Place) -> Result<Option<Plain>, Strange> {
        let Some((shape, matched)) = self.shapes.find(rest, &mut self.values) else {
            return self.line_of_no_shape(rest, place);
        };
        let line = &rest[..matched.end];
        if matched.end >= self.longest {
            return Ok(None);
        }
        if matched.wide && !is_readable(line, self.separator) {
            return Err(Strange);
        }
        let kept = self.plan.keep_shaped(shape, line, &self.values, place, &mut self.rows, &mut self.clock);
        Ok(kept.ok().map(|instant| Plain { end: matched.end, form: shape.form, instant, name: shape.name }))
    }

    fn line_of_no_shape(&mut self, rest: &[u8], place: Place) -> Result<Option<Plain>, Strange> {
        let Some(end) = self.document.read(rest) else { return Ok(None) };
        if rest.get(end) != Some(&b'\n') || end >= self.longest {
            return Ok(None);
        }
        let line = &rest[..end];
        if self.document.wide && !is_readable(line, self.separator) {
            return Err(Strange);
        }
        let known = self.plan.known(&self.document, line, &mut self.clock);
        let kept = known.and_then(|mut known| {
            let name = self.plan.unknown_name(&self.document, line, known)?;
            known.name = name.map_or(NO_NAME, |name| self.unknown.number(&name));
            self.plan.keep(&self.document, line, known, place, &mut self.rows)?;
            Ok(known)
        });
        let Ok(known) = kept else { return Ok(None) };
        if self.shapes.may_learn() && !self.document.wide {
            if let Some(shape) = self.plan.shape(&self.document, line, known) {
                self.shapes.learn(rest, shape);
            }
        }
        Ok(Some(Plain { end, form: known.form, instant: known.instant, name: known.name }))
    }

    /// Whether a line that is not plain is one by itself, whoever reads its file.
    fn may_be_told(&self, line: &[u8], place: Place) -> bool {
        let told = !line.iter().any(|byte| matches!(byte, b'\r' | 0)) && line.len() < self.longest;
        let marked = place.line == 0 && line.starts_with(MARK);
        told && !marked && is_readable(line, self.separator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_files_than_rows_can_number_are_refused() {
        assert_eq!(file_number(32_767).ok(), Some(32_767));
        assert!(file_number(32_768).is_err());
    }
}
