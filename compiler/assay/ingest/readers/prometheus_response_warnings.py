"""What a server says beside the samples of an answer: that some of them may be missing.

`warnings` is of Prometheus' own interface, where some of its stores did not answer; `isPartial` is of servers like it.
"""

from __future__ import annotations

import json
import re

#: within a text the quotes would be escaped, and labels are texts alone
_SAID = re.compile(rb'"warnings"\s*:\s*(?=\[)|"isPartial"\s*:\s*true')
_LONGEST = 2**16  # bytes of all warnings that are read
PARTIAL = "it is partial"


def warnings(text: bytes) -> tuple[str, ...]:
    """The warnings that the text of an answer holds, or a part of one."""
    found: list[str] = []
    for match in _SAID.finditer(text):
        if b"warnings" in match.group():
            found += _listed(text[match.end() : match.end() + _LONGEST])
        else:
            found.append(PARTIAL)
    return tuple(dict.fromkeys(found))


def _listed(text: bytes) -> list[str]:
    try:
        said, _ = json.JSONDecoder().raw_decode(text.decode("utf-8", "replace"))
    except ValueError:
        return ["warnings that cannot be read"]
    return [item for item in said if isinstance(item, str) and item]
