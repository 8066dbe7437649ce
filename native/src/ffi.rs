//! C interface. A panic, which would be a bug, becomes a null pointer or a negative number.

use std::ffi::c_int;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::slice;
use std::sync::Arc;

use crate::plan::TEXT;
use crate::scan::{scan, Outcome};
use crate::stream::{create_stream, Stream};

/// Outcome of a scan with its encoded numbers and names.
pub struct ScanResult {
    outcome: Outcome,
    numbers: Vec<i64>,
    names: Vec<u8>,
}

/// Incremented with every change of the messages.
const VERSION: c_int = 6;

#[no_mangle]
pub extern "C" fn assay_scan_version() -> c_int {
    VERSION
}

/// Scan files; return null when the message is malformed.
///
/// # Safety
/// `message` points to `size` bytes.
#[no_mangle]
pub unsafe extern "C" fn assay_scan(message: *const u8, size: usize) -> *mut ScanResult {
    let message = slice::from_raw_parts(message, size);
    let result = catch_unwind(|| {
        let outcome = scan(message).ok()?;
        let (numbers, names) = (encode_numbers(&outcome), encode_names(&outcome));
        Some(Box::into_raw(Box::new(ScanResult { outcome, numbers, names })))
    });
    result.ok().flatten().unwrap_or(null_mut())
}

/// Return the outcome as numbers, and their count in `size`: number of odd lines; number of events, and rows of each;
/// for each file its status, lines, number of forms with lines, and for each form its number, lines, first line and
/// instant, last line and instant; number of unknown names, and for each its number, lines and first line.
///
/// # Safety
/// `result` is from `assay_scan`; the numbers are valid until it is freed.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_numbers(result: *const ScanResult, size: *mut usize) -> *const i64 {
    let numbers = &(*result).numbers;
    *size = numbers.len();
    numbers.as_ptr()
}

/// Return unknown names in the order of their numbers, each after its length in 64 bits, and the byte count in `size`.
///
/// # Safety
/// `result` is from `assay_scan`; the names are valid until it is freed.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_names(result: *const ScanResult, size: *mut usize) -> *const u8 {
    let names = &(*result).names;
    *size = names.len();
    names.as_ptr()
}

/// Create a stream of the rows of an event, or of the odd lines for -1; return 0 on success.
///
/// # Safety
/// `result` is from `assay_scan`; `out` points to memory for a stream.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_stream(result: *const ScanResult, event: i64, out: *mut Stream) -> c_int {
    let outcome = &(*result).outcome;
    let rows = match usize::try_from(event) {
        Ok(event) => outcome.events.get(event),
        Err(_) => Some(&outcome.odd),
    };
    let Some(rows) = rows.map(Arc::clone) else { return -1 };
    match catch_unwind(AssertUnwindSafe(|| create_stream(rows))) {
        Ok(created) => {
            out.write(created);
            0
        }
        Err(_) => -1,
    }
}

/// Release a stream unless its consumer has released it.
///
/// # Safety
/// `stream` was filled by `assay_scan_stream`.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_release(stream: *mut Stream) {
    if let Some(release) = (*stream).release {
        release(stream);
    }
}

/// Free an outcome; existing streams share ownership of their rows.
///
/// # Safety
/// `result` is from `assay_scan`, and not used after.
#[no_mangle]
pub unsafe extern "C" fn assay_scan_free(result: *mut ScanResult) {
    drop(Box::from_raw(result));
}

fn encode_numbers(outcome: &Outcome) -> Vec<i64> {
    let mut numbers = vec![outcome.odd.len() as i64, outcome.events.len() as i64];
    numbers.extend(outcome.events.iter().map(|rows| rows.len() as i64));
    for file in &outcome.files {
        let forms: Vec<_> = (i64::from(TEXT)..).zip(&file.tallies).filter(|(_, tally)| tally.rows > 0).collect();
        numbers.extend([file.status as i64, file.lines, forms.len() as i64]);
        for (form, tally) in forms {
            numbers.extend([form, tally.rows, tally.first, tally.first_ns, tally.last, tally.last_ns]);
        }
        numbers.push(file.unknown.len() as i64);
        for count in &file.unknown {
            numbers.extend([i64::from(count.name), count.rows, count.first]);
        }
    }
    numbers
}

fn encode_names(outcome: &Outcome) -> Vec<u8> {
    let mut names = Vec::new();
    for name in &outcome.names {
        names.extend((name.len() as i64).to_le_bytes());
        names.extend(name);
    }
    names
}
