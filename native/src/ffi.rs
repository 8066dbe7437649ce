//! What other programs call.  A panic, which would be a bug, comes out as a null or a negative number.

use std::ffi::c_int;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::slice;
use std::sync::Arc;

use crate::plan::TEXT;
use crate::scan::{scan, Outcome};
use crate::stream::{stream, Stream};

/// What files came to, and what is told of that as numbers.
pub struct Told {
    outcome: Outcome,
    numbers: Vec<i64>,
    names: Vec<u8>,
}

/// Raised with every change of the messages.
const VERSION: c_int = 5;

#[no_mangle]
pub extern "C" fn assay_scan_version() -> c_int {
    VERSION
}

/// Read files; null when the message is malformed.
///
/// # Safety
/// `message` points to `size` bytes.
#[no_mangle]
pub unsafe extern "C" fn assay_scan(message: *const u8, size: usize) -> *mut Told {
    let message = slice::from_raw_parts(message, size);
    let told = catch_unwind(|| {
        let outcome = scan(message).ok()?;
        let (numbers, names) = (numbers(&outcome), names(&outcome));
        Some(Box::into_raw(Box::new(Told { outcome, numbers, names })))
    });
    told.ok().flatten().unwrap_or(null_mut())
}

/// The numbers that tell what files came to, and how many they are (in `size`): the odd lines; the events and of each
/// the rows; of each file what was done with it, its lines, how many forms it has lines of, and of each of these the
/// number, the lines, the first and its instant, the last and its instant; how many unknown names it has, and of each
/// the number, the lines and the first.
///
/// # Safety
/// `told` is from `assay_scan`; the numbers are there until it is freed.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_numbers(told: *const Told, size: *mut usize) -> *const i64 {
    let numbers = &(*told).numbers;
    *size = numbers.len();
    numbers.as_ptr()
}

/// The unknown names by their numbers, each behind its length in 64 bits, and how many bytes they are (in `size`).
///
/// # Safety
/// `told` is from `assay_scan`; the names are there until it is freed.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_names(told: *const Told, size: *mut usize) -> *const u8 {
    let names = &(*told).names;
    *size = names.len();
    names.as_ptr()
}

/// Begin a stream of the rows of an event, or (-1) of the odd lines; 0 when that was done.
///
/// # Safety
/// `told` is from `assay_scan`; `out` is room for a stream.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_stream(told: *const Told, event: i64, out: *mut Stream) -> c_int {
    let outcome = &(*told).outcome;
    let rows = match usize::try_from(event) {
        Ok(event) => outcome.events.get(event),
        Err(_) => Some(&outcome.odd),
    };
    let Some(rows) = rows.map(Arc::clone) else { return -1 };
    match catch_unwind(AssertUnwindSafe(|| stream(rows))) {
        Ok(made) => {
            out.write(made);
            0
        }
        Err(_) => -1,
    }
}

/// Release a stream, unless whoever it was given to did.
///
/// # Safety
/// `stream` was filled by `assay_scan_stream`.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_release(stream: *mut Stream) {
    if let Some(release) = (*stream).release {
        release(stream);
    }
}

/// Let go of what files came to; streams that are there still keep their rows.
///
/// # Safety
/// `told` is from `assay_scan`, and not used after.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_free(told: *mut Told) {
    drop(Box::from_raw(told));
}

fn numbers(outcome: &Outcome) -> Vec<i64> {
    let mut found = vec![outcome.odd.len() as i64, outcome.events.len() as i64];
    found.extend(outcome.events.iter().map(|rows| rows.len() as i64));
    for file in &outcome.files {
        let some: Vec<_> = (i64::from(TEXT)..).zip(&file.tallies).filter(|(_, tally)| tally.rows > 0).collect();
        found.extend([file.done as i64, file.lines, some.len() as i64]);
        for (form, tally) in some {
            found.extend([form, tally.rows, tally.first, tally.first_ns, tally.last, tally.last_ns]);
        }
        found.push(file.unknown.len() as i64);
        for count in &file.unknown {
            found.extend([i64::from(count.name), count.rows, count.first]);
        }
    }
    found
}

fn names(outcome: &Outcome) -> Vec<u8> {
    let mut found = Vec::new();
    for name in &outcome.names {
        found.extend((name.len() as i64).to_le_bytes());
        found.extend(name);
    }
    found
}
