//! Determine the event of a line and store its requested values.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::columns::{Column, Place, Rows};
use crate::config::{Malformed, Message};
use crate::document::{Document, Kind, Shortcut, Value};
use crate::instant::Clock;
use crate::number;
use crate::shape::{ColumnSource, Shape, Shapes};
use crate::trie::Trie;
use crate::unknown::NO_NAME;

/// Forms of a line without event, and of a line of text.
pub const OTHER: i16 = -1;
pub const TEXT: i16 = -2;
/// Maximum bytes of a name that is a list of segments; the engine does not split longer ones.
const LONGEST_NAME: usize = 10_000;

/// The line is not plain.
#[derive(Debug, PartialEq, Eq)]
pub struct Odd;

/// Numbers of a path of the body: in a body that is not wrapped, in one that is wrapped by the first rule, ...
type Paths = Vec<u32>;

/// A rule that recognises a wrapped body by an absent and some present paths.
#[derive(Debug)]
struct Unwrap {
    absent: u32,
    present: Vec<u32>,
}

/// A path of event names and the forms that they determine.
#[derive(Debug)]
struct Table {
    paths: Paths,
    /// prefix removed from unknown names
    drop: Vec<u8>,
    forms: HashMap<Vec<u8>, i16, BuildHasherDefault<NameHasher>>,
}

/// A condition that excludes a line from a form: a path has any value, or the value `equals`.
#[derive(Debug)]
struct Exclusion {
    paths: Paths,
    equals: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Form {
    event: Option<usize>,
    exclusions: Vec<Exclusion>,
    /// path of its instants
    time: u32,
}

/// A requested path of an event.
#[derive(Debug)]
struct Field {
    paths: Paths,
    is_integer: bool,
}

/// Skips the body of lines whose name determines a form without stored values.
#[derive(Debug)]
pub struct SkipBody<'p> {
    table: Option<&'p Table>,
    paths: Option<(u32, u32)>,
    forms: &'p [Form],
    /// form of the last name
    form: Option<i16>,
}

impl Shortcut for SkipBody<'_> {
    fn paths(&self) -> Option<(u32, u32)> {
        self.paths
    }

    #[inline]
    fn can_skip(&mut self, text: &[u8]) -> bool {
        self.form = self.table.and_then(|table| table.forms.get(text).copied());
        let form = self.form.map(|form| &self.forms[form as usize]);
        form.is_some_and(|form| form.event.is_none() && form.exclusions.is_empty())
    }
}

pub type Line<'p> = Document<'p, SkipBody<'p>>;

#[derive(Debug)]
pub struct Plan {
    pub trie: Trie,
    /// key of the event name at the top level of the line, or empty
    name: Vec<u8>,
    /// node of the body if names and instant are outside of it
    body: Option<u32>,
    /// path of the instant of lines without a form
    time: u32,
    /// ns by which instants without a zone are ahead of UTC, if the source has a zone
    pub offset: Option<i64>,
    unwrap: Vec<Unwrap>,
    tables: Vec<Table>,
    forms: Vec<Form>,
    events: Vec<Vec<Field>>,
}

/// Form, instant and name of a plain line.
#[derive(Clone, Copy, Debug)]
pub struct LineInfo {
    pub form: i16,
    pub instant: i64,
    /// number of its name if no event declares it, else `NO_NAME`
    pub name: u32,
    wrapping: usize,
}

impl Plan {
    /// Decode a plan from a message.
    pub fn read(message: &mut Message) -> Result<Self, Malformed> {
        let mut trie = Trie::default();
        let body = message.path()?;
        let is_outside = message.flag()?;
        let name = message.text()?;
        let time = read_path(&mut trie, message)?;
        let offset = message.list(Message::number)?.first().copied();
        let unwrap = message.list(|message| {
            let absent = read_path(&mut trie, message)?;
            Ok(Unwrap { absent, present: message.list(|message| read_path(&mut trie, message))? })
        })?;
        let tables = message.list(|message| {
            let paths = read_paths(&mut trie, message)?;
            let drop = message.text()?;
            let names = message.list(|message| Ok((message.text()?, read_i16(message)?)))?;
            Ok(Table { paths, drop, forms: names.into_iter().collect() })
        })?;
        let forms = message.list(|message| {
            let event = usize::try_from(message.number()?).ok();
            let exclusions = message.list(|message| {
                let paths = read_paths(&mut trie, message)?;
                let present = message.flag()?;
                let equals = message.text()?;
                Ok(Exclusion { paths, equals: (!present).then_some(equals) })
            })?;
            Ok(Form { event, exclusions, time: read_path(&mut trie, message)? })
        })?;
        let events = message.list(|message| {
            message.list(|message| Ok(Field { paths: read_paths(&mut trie, message)?, is_integer: message.flag()? }))
        })?;
        let body = if is_outside { trie.node(&body) } else { None };
        let plan = Plan { trie, name, body, time, offset, unwrap, tables, forms, events };
        if plan.is_consistent() {
            Ok(plan)
        } else {
            Err(Malformed)
        }
    }

    /// Whether all references are valid.
    fn is_consistent(&self) -> bool {
        let variants = self.unwrap.len() + 1;
        let fields = self.events.iter().flatten().map(|field| &field.paths);
        let exclusions = self.forms.iter().flat_map(|form| form.exclusions.iter().map(|exclusion| &exclusion.paths));
        let mut paths = self.tables.iter().map(|table| &table.paths).chain(fields).chain(exclusions);
        let mut forms = self.tables.iter().flat_map(|table| table.forms.values());
        paths.all(|paths| paths.len() == variants)
            && forms.all(|form| *form >= 0 && (*form as usize) < self.forms.len())
            && self.forms.iter().all(|form| form.event.is_none_or(|event| event < self.events.len()))
    }

    /// Create an empty set of shapes.
    pub fn create_shapes(&self) -> Shapes {
        Shapes::new(&self.name)
    }

    /// List the paths whose values determine the event of a line.
    fn list_event_paths(&self) -> Vec<u32> {
        let exclusions =
            self.forms.iter().flat_map(|form| form.exclusions.iter().flat_map(|exclusion| &exclusion.paths));
        self.tables.iter().flat_map(|table| &table.paths).chain(exclusions).copied().collect()
    }

    /// Derive a shape from the last line, or `None` if it does not determine the values of similar lines.
    pub fn derive_shape(&self, document: &Line, line: &[u8], info: LineInfo) -> Option<Shape> {
        let slot = |path: u32| document.slots.iter().position(|slot| slot.leaf == path);
        let event = usize::try_from(info.form).ok().and_then(|form| self.forms[form].event);
        let fields = event.map_or(&[][..], |event| &self.events[event]);
        let columns = fields.iter().map(|field| match field.value(document, info.wrapping) {
            None => ColumnSource::Missing,
            Some(value) => match slot(field.paths[info.wrapping]) {
                Some(index) => ColumnSource::Slot(index),
                None => ColumnSource::Constant(value.bytes(line).to_vec()),
            },
        });
        let time = slot(self.time_of(info.form))?;
        document
            .has_shape
            .then(|| Shape::new(line, &document.slots, (info.form, info.name, time), (event, columns.collect())))
    }

    /// Store the requested values of a line with a shape; return its instant.
    #[inline]
    pub fn store_shaped(
        &self,
        shape: &Shape,
        line: &[u8],
        values: &[Value],
        place: Place,
        rows: &mut [Rows],
        clock: &mut Clock,
    ) -> Result<i64, Odd> {
        let instant = clock.parse(values[shape.time].bytes(line)).ok_or(Odd)?;
        let Some(event) = shape.event else { return Ok(instant) };
        let fields = self.events[event].iter().zip(&shape.columns);
        let is_plain = |(field, source): (&Field, &ColumnSource)| match source {
            ColumnSource::Slot(index) => field.accepts(&values[*index], line),
            ColumnSource::Missing | ColumnSource::Constant(_) => true,
        };
        if !fields.clone().all(is_plain) {
            return Err(Odd);
        }
        let piece = rows[event].push(place, shape.form, instant);
        for ((field, source), column) in fields.zip(&mut piece.columns) {
            let text = match source {
                ColumnSource::Missing => None,
                ColumnSource::Constant(text) => Some(text.as_slice()),
                ColumnSource::Slot(index) => Some(values[*index].bytes(line)),
            };
            field.push(text, column);
        }
        Ok(instant)
    }

    /// Create a reader of lines.
    pub fn create_reader(&self) -> Line<'_> {
        let table = self.tables.first();
        let paths = table.and_then(|table| Some((*table.paths.first()?, self.body?)));
        let shortcut = SkipBody { table, paths, forms: &self.forms, form: None };
        Document::new(&self.trie, shortcut, &self.list_event_paths())
    }

    /// Number of forms.
    pub fn form_count(&self) -> usize {
        self.forms.len()
    }

    /// Create empty rows for each event.
    pub fn create_rows(&self) -> Vec<Rows> {
        let column = |field: &Field| if field.is_integer { Column::integer() } else { Column::text() };
        self.events.iter().map(|event| Rows::new(event.iter().map(column).collect())).collect()
    }

    /// Determine form and instant of the last line.
    #[inline]
    pub fn classify(&self, document: &Line, line: &[u8], clock: &mut Clock) -> Result<LineInfo, Odd> {
        let wrapping = self.find_wrapping(document);
        let form = self.find_form(document, line, wrapping)?;
        let value = document.at(self.time_of(form));
        let time = value.filter(|value| value.kind == Kind::Text && value.bare).ok_or(Odd)?;
        let instant = clock.parse(time.bytes(line)).ok_or(Odd)?;
        Ok(LineInfo { form, instant, name: NO_NAME, wrapping })
    }

    /// Path of the instants of a form.
    #[inline]
    fn time_of(&self, form: i16) -> u32 {
        usize::try_from(form).map_or(self.time, |index| self.forms[index].time)
    }

    /// Return the index of the matching rule plus one, or 0.
    fn find_wrapping(&self, document: &Line) -> usize {
        let is_present = |path: &u32| document.at(*path).is_some();
        let matches = |rule: &Unwrap| !is_present(&rule.absent) && rule.present.iter().all(is_present);
        self.unwrap.iter().position(matches).map_or(0, |index| index + 1)
    }

    fn find_form(&self, document: &Line, line: &[u8], wrapping: usize) -> Result<i16, Odd> {
        if document.skips_member {
            return document.shortcut.form.ok_or(Odd);
        }
        for table in &self.tables {
            let form = match document.at(table.paths[wrapping]) {
                Some(value) => table.find_form(value, line)?,
                None => None,
            };
            if let Some(form) = form {
                let is_excluded = self.forms[form as usize].is_excluded(document, line, wrapping)?;
                return Ok(if is_excluded { OTHER } else { form });
            }
        }
        Ok(OTHER)
    }

    /// Return the name of the last line, possibly empty, or `None` if some event declares it.
    pub fn find_unknown_name<'l>(
        &self,
        document: &Line,
        line: &'l [u8],
        info: LineInfo,
    ) -> Result<Option<Cow<'l, [u8]>>, Odd> {
        if info.form != OTHER || document.skips_member {
            return Ok(None);
        }
        let mut first = None;
        for table in &self.tables {
            let Some(value) = document.at(table.paths[info.wrapping]) else { continue };
            let Some(name) = Table::read_name(value, line)? else { continue };
            if table.forms.contains_key(&*name) {
                return Ok(None);
            }
            first.get_or_insert_with(|| match name.strip_prefix(table.drop.as_slice()) {
                Some(rest) => Cow::Owned(rest.to_vec()),
                None => name,
            });
        }
        Ok(Some(first.unwrap_or_default()))
    }

    /// Store the requested values of a line, if its form has an event.
    #[inline]
    pub fn store(
        &self,
        document: &Line,
        line: &[u8],
        info: LineInfo,
        place: Place,
        rows: &mut [Rows],
    ) -> Result<(), Odd> {
        let event = usize::try_from(info.form).ok().and_then(|form| self.forms[form].event);
        let Some(event) = event else { return Ok(()) };
        let fields = &self.events[event];
        if !fields.iter().all(|field| field.is_plain(document, line, info.wrapping)) {
            return Err(Odd);
        }
        let piece = rows[event].push(place, info.form, info.instant);
        for (field, column) in fields.iter().zip(&mut piece.columns) {
            field.push(field.value(document, info.wrapping).map(|value| value.bytes(line)), column);
        }
        Ok(())
    }
}

impl Field {
    /// Return the value at the path unless it is null.
    #[inline]
    fn value<'d>(&self, document: &'d Line, wrapping: usize) -> Option<&'d Value> {
        document.at(self.paths[wrapping]).filter(|value| value.kind != Kind::Null)
    }

    /// Whether the value at the path can be stored unchanged.
    #[inline]
    fn is_plain(&self, document: &Line, line: &[u8], wrapping: usize) -> bool {
        self.value(document, wrapping).is_none_or(|value| self.accepts(value, line))
    }

    /// Whether a value can be stored unchanged.
    #[inline]
    fn accepts(&self, value: &Value, line: &[u8]) -> bool {
        if self.is_integer {
            let has_kind = value.kind == Kind::Integer || (value.kind == Kind::Text && value.bare);
            has_kind && number::parse_integer(value.bytes(line)).is_some()
        } else {
            value.text(line).is_some()
        }
    }

    /// Add an accepted value to its column.
    #[inline]
    fn push(&self, text: Option<&[u8]>, column: &mut Column) {
        if self.is_integer {
            column.push_integer(text.and_then(number::parse_integer));
        } else {
            column.push_text(text);
        }
    }
}

impl Table {
    /// Return the form that a name determines, if any.
    fn find_form(&self, value: &Value, line: &[u8]) -> Result<Option<i16>, Odd> {
        Ok(Table::read_name(value, line)?.and_then(|name| self.forms.get(&*name).copied()))
    }

    /// Read a name from a value; `None` for null.
    fn read_name<'l>(value: &Value, line: &'l [u8]) -> Result<Option<Cow<'l, [u8]>>, Odd> {
        match value.kind {
            Kind::Null => return Ok(None),
            Kind::Object => return Err(Odd),
            Kind::List => return join_segments(value.bytes(line)).map(|name| Some(Cow::Owned(name))),
            Kind::Text | Kind::Integer | Kind::Real | Kind::Bool => {}
        }
        let name = value.text(line).filter(|name| !name.starts_with(b"[")).ok_or(Odd)?;
        Ok(Some(Cow::Borrowed(name)))
    }
}

impl Form {
    fn is_excluded(&self, document: &Line, line: &[u8], wrapping: usize) -> Result<bool, Odd> {
        let mut is_excluded = false;
        for exclusion in &self.exclusions {
            let Some(value) = document.at(exclusion.paths[wrapping]) else { continue };
            is_excluded |= match &exclusion.equals {
                None => true,
                Some(_) if value.kind == Kind::Null => false,
                Some(equals) => value.text(line).ok_or(Odd)? == equals.as_slice(),
            };
        }
        Ok(is_excluded)
    }
}

/// Join a list of texts with dots.
fn join_segments(list: &[u8]) -> Result<Vec<u8>, Odd> {
    if list.len() >= LONGEST_NAME {
        return Err(Odd);
    }
    let mut name = Vec::new();
    let mut rest = list.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).ok_or(Odd)?;
    loop {
        let text = rest.strip_prefix(b"\"").ok_or(Odd)?;
        let end = text.iter().position(|byte| matches!(byte, b'"' | b'\\')).ok_or(Odd)?;
        if text[end] != b'"' {
            return Err(Odd);
        }
        name.extend_from_slice(&text[..end]);
        rest = &text[end + 1..];
        if rest.is_empty() {
            return Ok(name);
        }
        rest = rest.strip_prefix(b",").ok_or(Odd)?;
        name.push(b'.');
    }
}

/// Read a path and add it to the trie.
fn read_path(trie: &mut Trie, message: &mut Message) -> Result<u32, Malformed> {
    let keys = message.path()?;
    if keys.is_empty() {
        return Err(Malformed);
    }
    trie.path(&keys).ok_or(Malformed)
}

fn read_paths(trie: &mut Trie, message: &mut Message) -> Result<Paths, Malformed> {
    message.list(|message| read_path(trie, message))
}

fn read_i16(message: &mut Message) -> Result<i16, Malformed> {
    i16::try_from(message.number()?).map_err(|_| Malformed)
}

/// Multiplicative hash for short names; they come from the specs, so collisions are not an attack.
#[derive(Debug)]
pub struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        NameHasher(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for NameHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.add(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        }
        let mut last = [0; 8];
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last) ^ (rest.len() as u64) << 56);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

impl NameHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}
