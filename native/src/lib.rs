//! What a log of JSON lines holds, read at the speed of the memory.
//!
//! The engine's SQL is what says how a line is read; it reads every line, however strange.  This reads the plain ones,
//! which nearly all are: strict JSON in ASCII or UTF-8, each key that is asked for once, numbers as the engine writes
//! them, an instant in UTC.  Of these it takes what the SQL would.  A line that is not plain is *odd* and handed on as
//! it is; a file with bytes that decide how its lines are told apart is *strange* and not read at all.
//!
//! bytes -> `lines` (a file in pieces of whole lines) -> `document` (one line, checked, values at the asked paths)
//! -> `instant`, `plan` (which event a line is) -> `columns` (what is kept) -> `stream` (handed over as Arrow).

pub mod columns;
pub mod config;
pub mod document;
pub mod ffi;
pub mod instant;
pub mod lines;
pub mod number;
pub mod plan;
pub mod scan;
pub mod shape;
pub mod stream;
pub mod text;
pub mod trie;
pub mod unknown;
