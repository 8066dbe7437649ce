"""Read the header of a normal form, which says what its specs are, and hash the code that writes normal forms."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from assay.util.program import find_code_folders

FORMAT = 2  # 1 sorted events and summaries by name


def hash_body(body: str) -> str:
    """Return the hash of the body of a normal form."""
    return hashlib.sha256(body.encode()).hexdigest()


def read_header(text: str) -> str:
    """Return the hash of the sources in the header of a normal form.

    Empty when the header is missing or of another format, or when the body does not match its hash.
    """
    *head, body = text.split("\n", 3)
    if len(head) != 3 or head[0] != f"format: {FORMAT}" or head[2] != f"content: {hash_body(body)}":
        return ""
    return head[1].removeprefix("dhall: ").strip() if head[1].startswith("dhall: ") else ""


@functools.cache
def compute_code_version() -> str:
    """Return a hash of the code that evaluates, decodes and resolves packages, for keys of caches."""
    folders = Path(__file__).parent, find_code_folders()["assay_dhall"]
    files = [*sorted(folders[0].rglob("*.py")), *sorted(folders[1].glob("*.py"))]
    contents = (path.read_bytes() for path in files if path.name != "positions.py")
    return hashlib.sha256(b"".join(contents)).hexdigest()[:12]
