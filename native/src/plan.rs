//! Which event a line is, and what is kept of it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::columns::{Column, Place, Rows};
use crate::config::{Malformed, Message};
use crate::document::{Document, Early, Kind, Value};
use crate::instant::Clock;
use crate::number;
use crate::shape::{Kept, Shape, Shapes};
use crate::trie::Trie;
use crate::unknown::NO_NAME;

/// The form of a line that is no event, and of one that is a text and no object.
pub const OTHER: i16 = -1;
pub const TEXT: i16 = -2;
/// Bytes of a name that is a list of segments; what is longer the engine does not take apart.
const LONGEST_NAME: usize = 10_000;

/// A line that is not plain: nothing is told of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Odd;

/// A path of the body: its number in bodies that are not wrapped, and in those that are by the first rule, ...
type Paths = Vec<u32>;

/// A rule by which a body is a member of itself: one key is missing, others are there.
#[derive(Debug)]
struct Unwrap {
    absent: u32,
    present: Vec<u32>,
}

/// A place where names stand, and the forms that they tell.
#[derive(Debug)]
struct Table {
    paths: Paths,
    /// the prefix that an unknown name is counted without
    drop: Vec<u8>,
    forms: HashMap<Vec<u8>, i16, BuildHasherDefault<NameHasher>>,
}

/// What a line may not hold that is of a form: anything at a path, or a text.
#[derive(Debug)]
struct Unless {
    paths: Paths,
    equals: Option<Vec<u8>>,
}

#[derive(Debug)]
struct Form {
    event: Option<usize>,
    unless: Vec<Unless>,
}

/// A path that an event reads; `whole`: as integers alone.
#[derive(Debug)]
struct Asked {
    paths: Paths,
    whole: bool,
}

/// Names that tell all that is to be known of a line: those of forms that nothing is kept of.
#[derive(Debug)]
pub struct Names<'p> {
    table: Option<&'p Table>,
    places: Option<(u32, u32)>,
    forms: &'p [Form],
    /// the form of the name that was asked last, if it has one
    form: Option<i16>,
}

impl Early for Names<'_> {
    fn places(&self) -> Option<(u32, u32)> {
        self.places
    }

    #[inline]
    fn is_enough(&mut self, text: &[u8]) -> bool {
        self.form = self.table.and_then(|table| table.forms.get(text).copied());
        let form = self.form.map(|form| &self.forms[form as usize]);
        form.is_some_and(|form| form.event.is_none() && form.unless.is_empty())
    }
}

pub type Line<'p> = Document<'p, Names<'p>>;

#[derive(Debug)]
pub struct Plan {
    pub trie: Trie,
    /// the key of the name of an event, if that stands in the line itself
    name: Vec<u8>,
    /// where the body is, if names stand outside of it, as the instant does
    body: Option<u32>,
    time: u32,
    unwrap: Vec<Unwrap>,
    tables: Vec<Table>,
    forms: Vec<Form>,
    events: Vec<Vec<Asked>>,
}

/// What is known of a plain line.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub form: i16,
    pub instant: i64,
    /// the number of its name, if that is unknown
    pub name: u32,
    wrapped: usize,
}

impl Plan {
    pub fn read(message: &mut Message) -> Result<Self, Malformed> {
        let mut trie = Trie::default();
        let body = message.path()?;
        let outside = message.flag()?;
        let name = message.text()?;
        let time = path(&mut trie, message)?;
        let unwrap = message.list(|message| {
            let absent = path(&mut trie, message)?;
            Ok(Unwrap { absent, present: message.list(|message| path(&mut trie, message))? })
        })?;
        let tables = message.list(|message| {
            let paths = paths(&mut trie, message)?;
            let drop = message.text()?;
            let names = message.list(|message| Ok((message.text()?, small(message)?)))?;
            Ok(Table { paths, drop, forms: names.into_iter().collect() })
        })?;
        let forms = message.list(|message| {
            let event = usize::try_from(message.number()?).ok();
            let unless = message.list(|message| {
                let paths = paths(&mut trie, message)?;
                let present = message.flag()?;
                let equals = message.text()?;
                Ok(Unless { paths, equals: (!present).then_some(equals) })
            })?;
            Ok(Form { event, unless })
        })?;
        let events = message.list(|message| {
            message.list(|message| Ok(Asked { paths: paths(&mut trie, message)?, whole: message.flag()? }))
        })?;
        let body = if outside { trie.node(&body) } else { None };
        let plan = Plan { trie, name, body, time, unwrap, tables, forms, events };
        if plan.is_sound() {
            Ok(plan)
        } else {
            Err(Malformed)
        }
    }

    /// Whether all that refers to something else finds it.
    fn is_sound(&self) -> bool {
        let variants = self.unwrap.len() + 1;
        let asked = self.events.iter().flatten().map(|asked| &asked.paths);
        let ruled = self.forms.iter().flat_map(|form| form.unless.iter().map(|rule| &rule.paths));
        let mut paths = self.tables.iter().map(|table| &table.paths).chain(asked).chain(ruled);
        let mut named = self.tables.iter().flat_map(|table| table.forms.values());
        paths.all(|paths| paths.len() == variants)
            && named.all(|form| *form >= 0 && (*form as usize) < self.forms.len())
            && self.forms.iter().all(|form| form.event.is_none_or(|event| event < self.events.len()))
    }

    /// What remembers lines.
    pub fn shapes(&self) -> Shapes {
        Shapes::new(&self.name)
    }

    /// The paths that tell which event a line is.
    fn telling(&self) -> Vec<u32> {
        let ruled = self.forms.iter().flat_map(|form| form.unless.iter().flat_map(|rule| &rule.paths));
        self.tables.iter().flat_map(|table| &table.paths).chain(ruled).copied().collect()
    }

    /// The shape of the line that was read last; nothing where what is kept of another line may not be told by it.
    pub fn shape(&self, document: &Line, line: &[u8], known: Known) -> Option<Shape> {
        let slot = |path: u32| document.slots.iter().position(|slot| slot.leaf == path);
        let event = usize::try_from(known.form).ok().and_then(|form| self.forms[form].event);
        let asked = event.map_or(&[][..], |event| &self.events[event]);
        let kept = asked.iter().map(|asked| match asked.value(document, known.wrapped) {
            None => Kept::Missing,
            Some(value) => match slot(asked.paths[known.wrapped]) {
                Some(index) => Kept::Value(index),
                None => Kept::Same(value.bytes(line).to_vec()),
            },
        });
        let time = slot(self.time)?;
        document
            .shaped
            .then(|| Shape::new(line, &document.slots, (known.form, known.name, time), (event, kept.collect())))
    }

    /// The instant of a line of a shape, whose values these are; what is asked for of it is kept.
    #[inline]
    pub fn keep_shaped(
        &self,
        shape: &Shape,
        line: &[u8],
        values: &[Value],
        place: Place,
        rows: &mut [Rows],
        clock: &mut Clock,
    ) -> Result<i64, Odd> {
        let instant = clock.utc(values[shape.time].bytes(line)).ok_or(Odd)?;
        let Some(event) = shape.event else { return Ok(instant) };
        let asked = self.events[event].iter().zip(&shape.kept);
        let plain = |(asked, kept): (&Asked, &Kept)| match kept {
            Kept::Value(index) => asked.takes(&values[*index], line),
            Kept::Missing | Kept::Same(_) => true,
        };
        if !asked.clone().all(plain) {
            return Err(Odd);
        }
        let piece = rows[event].push(place, shape.form, instant);
        for ((asked, kept), column) in asked.zip(&mut piece.columns) {
            let text = match kept {
                Kept::Missing => None,
                Kept::Same(text) => Some(text.as_slice()),
                Kept::Value(index) => Some(values[*index].bytes(line)),
            };
            asked.push(text, column);
        }
        Ok(instant)
    }

    /// What reads lines.
    pub fn line(&self) -> Line<'_> {
        let table = self.tables.first();
        let places = table.and_then(|table| Some((*table.paths.first()?, self.body?)));
        Document::new(&self.trie, Names { table, places, forms: &self.forms, form: None }, &self.telling())
    }

    pub fn forms(&self) -> usize {
        self.forms.len()
    }

    /// Rows of each event, none yet.
    pub fn rows(&self) -> Vec<Rows> {
        let column = |asked: &Asked| if asked.whole { Column::whole() } else { Column::text() };
        self.events.iter().map(|event| Rows::new(event.iter().map(column).collect())).collect()
    }

    /// What the line is that was read last.
    #[inline]
    pub fn known(&self, document: &Line, line: &[u8], clock: &mut Clock) -> Result<Known, Odd> {
        let said = document.at(self.time).filter(|value| value.kind == Kind::Text && value.bare).ok_or(Odd)?;
        let instant = clock.utc(said.bytes(line)).ok_or(Odd)?;
        let wrapped = self.wrapped(document);
        let form = self.form(document, line, wrapped)?;
        Ok(Known { form, instant, name: NO_NAME, wrapped })
    }

    fn wrapped(&self, document: &Line) -> usize {
        let there = |path: &u32| document.at(*path).is_some();
        let holds = |rule: &Unwrap| !there(&rule.absent) && rule.present.iter().all(there);
        self.unwrap.iter().position(holds).map_or(0, |index| index + 1)
    }

    fn form(&self, document: &Line, line: &[u8], wrapped: usize) -> Result<i16, Odd> {
        if document.enough {
            return document.early.form.ok_or(Odd);
        }
        for table in &self.tables {
            let found = match document.at(table.paths[wrapped]) {
                Some(value) => table.form(value, line)?,
                None => None,
            };
            if let Some(form) = found {
                let ruled = self.forms[form as usize].is_ruled_out(document, line, wrapped)?;
                return Ok(if ruled { OTHER } else { form });
            }
        }
        Ok(OTHER)
    }

    /// The name of the line that was read last, empty if it has none; nothing if some event has that name.
    pub fn unknown_name<'l>(
        &self,
        document: &Line,
        line: &'l [u8],
        known: Known,
    ) -> Result<Option<Cow<'l, [u8]>>, Odd> {
        if known.form != OTHER || document.enough {
            return Ok(None);
        }
        let mut first = None;
        for table in &self.tables {
            let Some(value) = document.at(table.paths[known.wrapped]) else { continue };
            let Some(name) = Table::name(value, line)? else { continue };
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

    /// Keep what is asked for of a line, if it is of an event that is.
    #[inline]
    pub fn keep(&self, document: &Line, line: &[u8], known: Known, place: Place, rows: &mut [Rows]) -> Result<(), Odd> {
        let event = usize::try_from(known.form).ok().and_then(|form| self.forms[form].event);
        let Some(event) = event else { return Ok(()) };
        let asked = &self.events[event];
        if !asked.iter().all(|asked| asked.is_plain(document, line, known.wrapped)) {
            return Err(Odd);
        }
        let piece = rows[event].push(place, known.form, known.instant);
        for (asked, column) in asked.iter().zip(&mut piece.columns) {
            asked.push(asked.value(document, known.wrapped).map(|value| value.bytes(line)), column);
        }
        Ok(())
    }
}

impl Asked {
    /// What stands at the path, unless it is null.
    #[inline]
    fn value<'d>(&self, document: &'d Line, wrapped: usize) -> Option<&'d Value> {
        document.at(self.paths[wrapped]).filter(|value| value.kind != Kind::Null)
    }

    /// Whether what stands at the path can be kept as it stands.
    #[inline]
    fn is_plain(&self, document: &Line, line: &[u8], wrapped: usize) -> bool {
        self.value(document, wrapped).is_none_or(|value| self.takes(value, line))
    }

    /// Whether a value can be kept as it stands.
    #[inline]
    fn takes(&self, value: &Value, line: &[u8]) -> bool {
        if self.whole {
            let may = value.kind == Kind::Whole || (value.kind == Kind::Text && value.bare);
            may && number::integer(value.bytes(line)).is_some()
        } else {
            value.text(line).is_some()
        }
    }

    /// Add a value that can be kept to its column.
    #[inline]
    fn push(&self, text: Option<&[u8]>, column: &mut Column) {
        if self.whole {
            column.push_whole(text.and_then(number::integer));
        } else {
            column.push_text(text);
        }
    }
}

impl Table {
    /// The form that a name tells, if any.
    fn form(&self, value: &Value, line: &[u8]) -> Result<Option<i16>, Odd> {
        Ok(Table::name(value, line)?.and_then(|name| self.forms.get(&*name).copied()))
    }

    /// The name that a value is, if it is not null.
    fn name<'l>(value: &Value, line: &'l [u8]) -> Result<Option<Cow<'l, [u8]>>, Odd> {
        match value.kind {
            Kind::Null => return Ok(None),
            Kind::Object => return Err(Odd),
            Kind::List => return joined(value.bytes(line)).map(|name| Some(Cow::Owned(name))),
            Kind::Text | Kind::Whole | Kind::Real | Kind::Word => {}
        }
        let name = value.text(line).filter(|name| !name.starts_with(b"[")).ok_or(Odd)?;
        Ok(Some(Cow::Borrowed(name)))
    }
}

impl Form {
    fn is_ruled_out(&self, document: &Line, line: &[u8], wrapped: usize) -> Result<bool, Odd> {
        let mut ruled = false;
        for rule in &self.unless {
            let Some(value) = document.at(rule.paths[wrapped]) else { continue };
            ruled |= match &rule.equals {
                None => true,
                Some(_) if value.kind == Kind::Null => false,
                Some(equals) => value.text(line).ok_or(Odd)? == equals.as_slice(),
            };
        }
        Ok(ruled)
    }
}

/// A list of texts, joined with dots.
fn joined(list: &[u8]) -> Result<Vec<u8>, Odd> {
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

fn path(trie: &mut Trie, message: &mut Message) -> Result<u32, Malformed> {
    let keys = message.path()?;
    if keys.is_empty() {
        return Err(Malformed);
    }
    trie.path(&keys).ok_or(Malformed)
}

fn paths(trie: &mut Trie, message: &mut Message) -> Result<Paths, Malformed> {
    message.list(|message| path(trie, message))
}

fn small(message: &mut Message) -> Result<i16, Malformed> {
    i16::try_from(message.number()?).map_err(|_| Malformed)
}

/// FNV-1a: names are short, and nobody chooses them to collide: those that are known come from the specs.
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
