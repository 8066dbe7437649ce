"""JSON documents that people hand in."""

from __future__ import annotations

import json
import re
from typing import Any

_HALF = re.compile(r"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|[c-fC-F][0-9a-fA-F]{2})")


def parsed(text: str, **how: Any) -> Any:
    """What a document says; `how` is as of `json.loads`.

    Raises json.JSONDecodeError, also for half of a surrogate pair, which JSON may write and no text may hold;
    ValueError and RecursionError for numbers beyond what can be meant and documents that nest too deep.
    """
    try:
        found = json.loads(text, **how)
    except ArithmeticError:
        raise ValueError("it has a number beyond all numbers") from None
    half = _HALF.search(text)
    if half and not _is_text(found):
        raise json.JSONDecodeError("half of a surrogate pair, which is no character", text, half.start())
    return found


def _is_text(found: Any) -> bool:
    try:
        json.dumps(found, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True
