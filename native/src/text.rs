//! Find the end of texts in a line.

/// Whether a byte ends a run of plain bytes in a text: a quote, a backslash or a control character.
#[inline]
pub fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < b' '
}

/// Skip plain bytes from `at` on; return the index of the first special byte, and whether a skipped one is not ASCII.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn skip_plain(bytes: &[u8], mut at: usize) -> (usize, bool) {
    use std::arch::x86_64::*;
    let mut wide = false;
    while at + 16 <= bytes.len() {
        // SAFETY: SSE2 is part of every x86-64; 16 bytes from `at` on are within the slice.
        let (special, high) = unsafe {
            let chunk = _mm_loadu_si128(bytes.as_ptr().add(at).cast());
            let quote = _mm_cmpeq_epi8(chunk, _mm_set1_epi8(b'"' as i8));
            let back = _mm_cmpeq_epi8(chunk, _mm_set1_epi8(b'\\' as i8));
            let control = _mm_cmpeq_epi8(_mm_max_epu8(chunk, _mm_set1_epi8(0x1f)), _mm_set1_epi8(0x1f));
            let all = _mm_or_si128(_mm_or_si128(quote, back), control);
            (_mm_movemask_epi8(all) as u32, _mm_movemask_epi8(chunk) as u32)
        };
        if special != 0 {
            let step = special.trailing_zeros();
            wide |= high & ((1 << step) - 1) != 0;
            return (at + step as usize, wide);
        }
        wide |= high != 0;
        at += 16;
    }
    skip_plain_bytewise(bytes, at, wide)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn skip_plain(bytes: &[u8], at: usize) -> (usize, bool) {
    skip_plain_bytewise(bytes, at, false)
}

fn skip_plain_bytewise(bytes: &[u8], mut at: usize, mut wide: bool) -> (usize, bool) {
    while at < bytes.len() && !is_special(bytes[at]) {
        wide |= bytes[at] >= 0x80;
        at += 1;
    }
    (at, wide)
}
