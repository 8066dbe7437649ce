"""Recognize names of repeats of one version: `v1-1`, `v1-run2`."""

from __future__ import annotations

import re
from collections.abc import Collection

DATE = re.compile(r"[-_.]?\d{4}-?\d\d-?\d\d(?:[-_.T]\d+)*")
REPEAT_WORDS = "run|rep|repeat|repetition|trial|iter|iteration"
#: a separator, perhaps a word, and the number of a repeat at the end of a name; after a dot only behind letters, since
#: 1.1 and 1.2 are versions
_REPEAT = re.compile(rf"(.*?\w)(?:[-_]|(?<=[A-Za-z])\.|[-_.](?:{REPEAT_WORDS})[-_.]?)(\d+)", re.IGNORECASE)


def find_repeats(names: Collection[str]) -> dict[str, str]:
    """Return the version of each name if the names are those of repeats: `v1-1 v1-2 v2-1 v2-2` are of `v1` and `v2`.

    They are if two or more versions have the same two or more numbers, from 0 or 1 on; else the result is empty.
    """
    matches = [_REPEAT.fullmatch(name) for name in names]
    numbers: dict[str, list[int]] = {}
    for match in matches:
        if match is None or DATE.search(match[0]):
            return {}
        numbers.setdefault(match[1], []).append(int(match[2]))
    lists = {tuple(sorted(items)) for items in numbers.values()}
    if len(numbers) < 2 or len(lists) != 1:
        return {}
    (items,) = lists
    is_counted = len(items) > 1 and items in (tuple(range(len(items))), tuple(range(1, len(items) + 1)))
    return {match[0]: match[1] for match in matches if match} if is_counted else {}
