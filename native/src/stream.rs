//! Rows handed over by the C data interface of Apache Arrow (https://arrow.apache.org/docs/format/CDataInterface.html),
//! a batch for each piece: `file`, `place`, `form`, `t_ns`, then the columns as `c1`, `c2`, ...

use std::ffi::{c_char, c_int, c_void, CString};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use crate::columns::{Column, Piece, Rows, Valid};

#[repr(C)]
pub struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private: *mut c_void,
}

#[repr(C)]
pub struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private: *mut c_void,
}

#[repr(C)]
pub struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    pub release: Option<unsafe extern "C" fn(*mut Stream)>,
    private: *mut c_void,
}

const NULLABLE: i64 = 2;

/// What a schema owns, beside its children.
struct Described {
    _format: CString,
    _name: CString,
    children: Vec<*mut Schema>,
}

/// What an array owns, beside its children: its buffers are those of the rows.
struct Held {
    _rows: Arc<Rows>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
}

struct Source {
    rows: Arc<Rows>,
    /// the number of the piece that comes next
    next: usize,
}

/// A stream of all rows.
pub fn stream(rows: Arc<Rows>) -> Stream {
    Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private: Box::into_raw(Box::new(Source { rows, next: 0 })).cast(),
    }
}

fn schema(format: &str, name: &str, children: Vec<Schema>) -> Schema {
    let text = |text: &str| CString::new(text).unwrap_or_default();
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut described = Box::new(Described { _format: text(format), _name: text(name), children });
    Schema {
        format: described._format.as_ptr(),
        name: described._name.as_ptr(),
        metadata: null(),
        flags: NULLABLE,
        n_children: described.children.len() as i64,
        children: described.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private: Box::into_raw(described).cast(),
    }
}

fn array(rows: &Arc<Rows>, length: usize, missing: i64, buffers: Vec<*const c_void>, children: Vec<Array>) -> Array {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut held = Box::new(Held { _rows: Arc::clone(rows), buffers, children });
    Array {
        length: length as i64,
        null_count: missing,
        offset: 0,
        n_buffers: held.buffers.len() as i64,
        n_children: held.children.len() as i64,
        buffers: held.buffers.as_mut_ptr(),
        children: held.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_array),
        private: Box::into_raw(held).cast(),
    }
}

fn described(piece: &Piece) -> Schema {
    let mut children = vec![
        schema("s", "file", vec![]),
        schema("l", "place", vec![]),
        schema("s", "form", vec![]),
        schema("l", "t_ns", vec![]),
    ];
    for (index, column) in piece.columns.iter().enumerate() {
        let format = match column {
            Column::Whole { .. } => "l",
            Column::Text { .. } => "U",
        };
        children.push(schema(format, &format!("c{}", index + 1), vec![]));
    }
    schema("+s", "", children)
}

fn batch(rows: &Arc<Rows>, piece: &Piece) -> Array {
    let length = piece.len();
    let full = |buffer: *const c_void| array(rows, length, 0, vec![null(), buffer], vec![]);
    let mut children = vec![
        full(piece.files.as_ptr().cast()),
        full(piece.places.as_ptr().cast()),
        full(piece.forms.as_ptr().cast()),
        full(piece.instants.as_ptr().cast()),
    ];
    for column in &piece.columns {
        children.push(match column {
            Column::Whole { values, valid } => {
                array(rows, length, valid.missing, vec![bits(valid), values.as_ptr().cast()], vec![])
            }
            Column::Text { ends, bytes, valid } => {
                let buffers = vec![bits(valid), ends.as_ptr().cast(), bytes.as_ptr().cast()];
                array(rows, length, valid.missing, buffers, vec![])
            }
        });
    }
    array(rows, length, 0, vec![null()], children)
}

fn bits(valid: &Valid) -> *const c_void {
    if valid.missing > 0 {
        valid.bits.as_ptr().cast()
    } else {
        null()
    }
}

fn ended() -> Array {
    Array {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: null_mut(),
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private: null_mut(),
    }
}

// SAFETY of all that follows: it is called by a consumer that keeps to the interface, so pointers are those that were
// given to it, and nothing is asked of what was released.

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    let source = &*(*stream).private.cast::<Source>();
    source.rows.piece(0).map_or(-1, |piece| {
        out.write(described(piece));
        0
    })
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    let source = &mut *(*stream).private.cast::<Source>();
    let piece = source.rows.piece(source.next).filter(|piece| piece.len() > 0);
    source.next += 1;
    out.write(piece.map_or_else(ended, |piece| batch(&source.rows, piece)));
    0
}

unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    drop(Box::from_raw((*stream).private.cast::<Source>()));
    (*stream).release = None;
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    let described = Box::from_raw((*schema).private.cast::<Described>());
    for child in &described.children {
        if let Some(release) = (**child).release {
            release(*child);
        }
        drop(Box::from_raw(*child)); // also of one that was moved out, and is released elsewhere
    }
    (*schema).release = None;
}

unsafe extern "C" fn release_array(array: *mut Array) {
    let held = Box::from_raw((*array).private.cast::<Held>());
    for child in &held.children {
        if let Some(release) = (**child).release {
            release(*child);
        }
        drop(Box::from_raw(*child)); // also of one that was moved out, and is released elsewhere
    }
    (*array).release = None;
}

#[cfg(test)]
mod tests {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;
    use std::mem::MaybeUninit;

    use super::*;
    use crate::columns::Place;

    /// The allocator of the system, which counts the bytes that each thread holds: tests run side by side.
    struct Counting;

    thread_local! {
        static LIVE: Cell<i64> = const { Cell::new(0) };
    }

    fn add(bytes: i64) {
        let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
    }

    // SAFETY: the system's allocator does all of it.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            add(layout.size() as i64);
            System.alloc(layout)
        }

        unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
            add(-(layout.size() as i64));
            System.dealloc(place, layout);
        }
    }

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    fn live() -> i64 {
        LIVE.with(Cell::get)
    }

    fn rows(count: i64) -> Arc<Rows> {
        let mut found = Rows::new(vec![Column::whole(), Column::text()]);
        for line in 0..count {
            let piece = found.push(Place { file: 0, line }, 1, line);
            piece.columns[0].push_whole((line % 3 != 0).then_some(line));
            piece.columns[1].push_text(Some(b"ab"));
        }
        Arc::new(found)
    }

    /// Take all that a stream has, as a consumer does that moves one child out of what it was given; how many batches.
    fn consume(rows: Arc<Rows>) -> usize {
        let mut source = stream(rows);
        let mut batches = 0;
        unsafe {
            let mut schema = MaybeUninit::<Schema>::uninit();
            assert_eq!((source.get_schema.unwrap())(&mut source, schema.as_mut_ptr()), 0);
            let schema = schema.assume_init_mut();
            assert_eq!(schema.n_children, 6);
            let mut moved = std::ptr::read(*schema.children);
            (**schema.children).release = None;
            (schema.release.unwrap())(schema);
            assert!(schema.release.is_none());
            (moved.release.unwrap())(&mut moved);
            loop {
                let mut array = MaybeUninit::<Array>::uninit();
                assert_eq!((source.get_next.unwrap())(&mut source, array.as_mut_ptr()), 0);
                let array = array.assume_init_mut();
                let Some(release) = array.release else { break };
                batches += 1;
                let mut moved = std::ptr::read(*array.children);
                (**array.children).release = None;
                release(array);
                assert!(array.release.is_none());
                (moved.release.unwrap())(&mut moved);
            }
            (source.release.unwrap())(&mut source);
        }
        batches
    }

    #[test]
    fn released_streams_hold_no_memory() {
        let before = live();
        assert_eq!(consume(rows(20_000)), 3);
        assert_eq!(consume(rows(0)), 0);
        assert_eq!(live(), before);
        let held = rows(1);
        assert!(live() > before, "the allocator counts");
        drop(held);
        assert_eq!(live(), before);
    }
}
