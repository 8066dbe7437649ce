//! Files in pieces of whole lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes that are read at a time: they stay in the processor's caches while their lines are taken apart.
const CHUNK: usize = 1 << 18;

/// What became of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Read_ {
    Whole,
    /// it has fewer bytes than it had, or a line that is too long
    Not,
}

/// Give the lines of a part of a file to `each`, as pieces that end in a line feed (which the last line of a file is
/// given where it has none).  Stops where `each` says so.
pub fn pieces(
    path: &Path,
    begin: u64,
    end: u64,
    longest: usize,
    mut each: impl FnMut(&[u8]) -> bool,
) -> io::Result<Read_> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(begin))?;
    let mut left = end.saturating_sub(begin);
    let mut buffer = vec![0; CHUNK];
    let mut held = 0;
    while left > 0 {
        if held == buffer.len() {
            if held > longest {
                return Ok(Read_::Not);
            }
            buffer.resize(held * 2, 0);
        }
        let room = (buffer.len() - held).min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = match file.read(&mut buffer[held..held + room]) {
            Ok(0) => return Ok(Read_::Not),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        left -= read as u64;
        let filled = held + read;
        if let Some(last) = buffer[held..filled].iter().rposition(|byte| *byte == b'\n') {
            let whole = held + last + 1;
            if !each(&buffer[..whole]) {
                return Ok(Read_::Not);
            }
            buffer.copy_within(whole..filled, 0);
            held = filled - whole;
        } else {
            held = filled;
        }
    }
    if held > 0 {
        buffer.truncate(held);
        buffer.push(b'\n');
        if !each(&buffer) {
            return Ok(Read_::Not);
        }
    }
    Ok(Read_::Whole)
}
