//! Export rows through the C data interface of Apache Arrow (https://arrow.apache.org/docs/format/CDataInterface.html),
//! one batch per piece with `file`, `place`, `form`, `t_ns`, and columns `c1`, `c2`, ...

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

/// Memory owned by a schema.
struct SchemaOwner {
    _format: CString,
    _name: CString,
    children: Vec<*mut Schema>,
}

/// Memory owned by an array; its buffers belong to the shared rows.
struct ArrayOwner {
    _rows: Arc<Rows>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut Array>,
}

struct Source {
    rows: Arc<Rows>,
    /// number of the next piece
    next: usize,
}

/// Create a stream of all rows.
pub fn create_stream(rows: Arc<Rows>) -> Stream {
    Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private: Box::into_raw(Box::new(Source { rows, next: 0 })).cast(),
    }
}

fn create_schema(format: &str, name: &str, children: Vec<Schema>) -> Schema {
    let text = |text: &str| CString::new(text).unwrap_or_default();
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut owner = Box::new(SchemaOwner { _format: text(format), _name: text(name), children });
    Schema {
        format: owner._format.as_ptr(),
        name: owner._name.as_ptr(),
        metadata: null(),
        flags: NULLABLE,
        n_children: owner.children.len() as i64,
        children: owner.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_schema),
        private: Box::into_raw(owner).cast(),
    }
}

fn create_array(
    rows: &Arc<Rows>,
    length: usize,
    missing: i64,
    buffers: Vec<*const c_void>,
    children: Vec<Array>,
) -> Array {
    let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut owner = Box::new(ArrayOwner { _rows: Arc::clone(rows), buffers, children });
    Array {
        length: length as i64,
        null_count: missing,
        offset: 0,
        n_buffers: owner.buffers.len() as i64,
        n_children: owner.children.len() as i64,
        buffers: owner.buffers.as_mut_ptr(),
        children: owner.children.as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(release_array),
        private: Box::into_raw(owner).cast(),
    }
}

fn describe_piece(piece: &Piece) -> Schema {
    let mut children = vec![
        create_schema("s", "file", vec![]),
        create_schema("l", "place", vec![]),
        create_schema("s", "form", vec![]),
        create_schema("l", "t_ns", vec![]),
    ];
    for (index, column) in piece.columns.iter().enumerate() {
        let format = match column {
            Column::Integer { .. } => "l",
            Column::Text { .. } => "U",
        };
        children.push(create_schema(format, &format!("c{}", index + 1), vec![]));
    }
    create_schema("+s", "", children)
}

fn create_batch(rows: &Arc<Rows>, piece: &Piece) -> Array {
    let length = piece.len();
    let full = |buffer: *const c_void| create_array(rows, length, 0, vec![null(), buffer], vec![]);
    let mut children = vec![
        full(piece.files.as_ptr().cast()),
        full(piece.places.as_ptr().cast()),
        full(piece.forms.as_ptr().cast()),
        full(piece.instants.as_ptr().cast()),
    ];
    for column in &piece.columns {
        children.push(match column {
            Column::Integer { values, valid } => {
                create_array(rows, length, valid.missing, vec![validity_buffer(valid), values.as_ptr().cast()], vec![])
            }
            Column::Text { ends, bytes, valid } => {
                let buffers = vec![validity_buffer(valid), ends.as_ptr().cast(), bytes.as_ptr().cast()];
                create_array(rows, length, valid.missing, buffers, vec![])
            }
        });
    }
    create_array(rows, length, 0, vec![null()], children)
}

fn validity_buffer(valid: &Valid) -> *const c_void {
    if valid.missing > 0 {
        valid.bits.as_ptr().cast()
    } else {
        null()
    }
}

fn end_of_stream() -> Array {
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

// SAFETY of the functions below: the consumer follows the interface, so pointers are those that it received, and released
// objects are not used.

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    let source = &*(*stream).private.cast::<Source>();
    source.rows.piece(0).map_or(-1, |piece| {
        out.write(describe_piece(piece));
        0
    })
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    let source = &mut *(*stream).private.cast::<Source>();
    let piece = source.rows.piece(source.next).filter(|piece| piece.len() > 0);
    source.next += 1;
    out.write(piece.map_or_else(end_of_stream, |piece| create_batch(&source.rows, piece)));
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
    let owner = Box::from_raw((*schema).private.cast::<SchemaOwner>());
    for child in &owner.children {
        if let Some(release) = (**child).release {
            release(*child);
        }
        drop(Box::from_raw(*child)); // also if its content was moved out and is released by the consumer
    }
    (*schema).release = None;
}

unsafe extern "C" fn release_array(array: *mut Array) {
    let owner = Box::from_raw((*array).private.cast::<ArrayOwner>());
    for child in &owner.children {
        if let Some(release) = (**child).release {
            release(*child);
        }
        drop(Box::from_raw(*child)); // also if its content was moved out and is released by the consumer
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

    /// System allocator that counts live bytes per thread, since tests run in parallel.
    struct CountingAllocator;

    thread_local! {
        static LIVE: Cell<i64> = const { Cell::new(0) };
    }

    fn add(bytes: i64) {
        let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
    }

    // SAFETY: all calls are forwarded to the system allocator.
    unsafe impl GlobalAlloc for CountingAllocator {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            add(layout.size() as i64);
            System.alloc(layout)
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            add(-(layout.size() as i64));
            System.dealloc(pointer, layout);
        }
    }

    #[global_allocator]
    static ALLOCATOR: CountingAllocator = CountingAllocator;

    fn live() -> i64 {
        LIVE.with(Cell::get)
    }

    fn create_rows(count: i64) -> Arc<Rows> {
        let mut rows = Rows::new(vec![Column::integer(), Column::text()]);
        for line in 0..count {
            let piece = rows.push(Place { file: 0, line }, 1, line);
            piece.columns[0].push_integer((line % 3 != 0).then_some(line));
            piece.columns[1].push_text(Some(b"ab"));
        }
        Arc::new(rows)
    }

    /// Consume a stream, moving one child out of each schema and array; return the number of batches.
    fn consume(rows: Arc<Rows>) -> usize {
        let mut source = create_stream(rows);
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
    fn released_streams_leak_no_memory() {
        let before = live();
        assert_eq!(consume(create_rows(20_000)), 3);
        assert_eq!(consume(create_rows(0)), 0);
        assert_eq!(live(), before);
        let rows = create_rows(1);
        assert!(live() > before, "allocations are counted");
        drop(rows);
        assert_eq!(live(), before);
    }
}
