//! Read files in pieces of complete lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes per read; small enough to stay in the processor's caches while lines are scanned.
const CHUNK: usize = 1 << 18;

/// Whether a part of a file was read to its end.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadStatus {
    Complete,
    /// the file has shrunk, has a line that is too long, or `each` stopped reading
    Incomplete,
}

/// Pass the lines of a part of a file to `each` in pieces that end in a line feed; one is added after the last line if
/// missing. Stop when `each` returns false.
pub fn read_pieces(
    path: &Path,
    begin: u64,
    end: u64,
    max_line: usize,
    mut each: impl FnMut(&[u8]) -> bool,
) -> io::Result<ReadStatus> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(begin))?;
    let mut remaining = end.saturating_sub(begin);
    let mut buffer = vec![0; CHUNK];
    let mut buffered = 0;
    while remaining > 0 {
        if buffered == buffer.len() {
            if buffered > max_line {
                return Ok(ReadStatus::Incomplete);
            }
            buffer.resize(buffered * 2, 0);
        }
        let room = (buffer.len() - buffered).min(usize::try_from(remaining).unwrap_or(usize::MAX));
        let read = match file.read(&mut buffer[buffered..buffered + room]) {
            Ok(0) => return Ok(ReadStatus::Incomplete),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        remaining -= read as u64;
        let filled = buffered + read;
        if let Some(last) = buffer[buffered..filled].iter().rposition(|byte| *byte == b'\n') {
            let complete = buffered + last + 1;
            if !each(&buffer[..complete]) {
                return Ok(ReadStatus::Incomplete);
            }
            buffer.copy_within(complete..filled, 0);
            buffered = filled - complete;
        } else {
            buffered = filled;
        }
    }
    if buffered > 0 {
        buffer.truncate(buffered);
        buffer.push(b'\n');
        if !each(&buffer) {
            return Ok(ReadStatus::Incomplete);
        }
    }
    Ok(ReadStatus::Complete)
}
