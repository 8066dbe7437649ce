//! Scan logs of JSON lines at memory speed.
//!
//! The engine's SQL defines how a line is read, and it can read every line. The scanner reads *plain* lines, which are
//! nearly all: strict JSON in ASCII or UTF-8, without duplicates of requested keys, with numbers as the engine prints
//! them and an instant in ISO 8601. It extracts from them what the SQL would. A line that is not plain is *odd* and passed on
//! unchanged; a file with bytes that affect how lines are separated is *strange* and not read at all.
//!
//! bytes -> `lines` (pieces of complete lines) -> `document` (one line, validated, values at requested paths)
//! -> `instant`, `plan` (the event of a line) -> `columns` (stored values) -> `stream` (Arrow batches).

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
