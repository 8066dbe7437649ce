"""Find messages with a list in brackets of another length from line to line, such as `extrinsics (2): [a, b]`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

_ITEM = r"[^\[\](){}=:;,\s]+(?: [^\[\](){}=:;,\s]+)?"
#: a list of words in brackets, but no list of members such as `[READ: Count=5, Max=9]`
LIST = rf"\[(?:{_ITEM}(?:, ?{_ITEM})*)?\]"
_LIST = re.compile(LIST)
_MIN_LENGTHS = 3  # of the lists of lines that are alike otherwise
_LONGEST_KEY = 20  # words


def find_varying_lists(messages: Sequence[str]) -> Collection[int]:
    """Return which messages have a list whose length varies among those that are alike otherwise."""
    lengths: dict[tuple[str, ...], set[int]] = defaultdict(set)
    indices: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, message in enumerate(messages):
        if lists := _LIST.findall(message):
            words = _LIST.sub("[]", message).split()[:_LONGEST_KEY]
            key = tuple(word for word in words if not any(map(str.isdigit, word)))
            lengths[key].add(sum(text.count(",") for text in lists))
            indices[key].append(index)
    return {index for key, group in indices.items() if len(lengths[key]) >= _MIN_LENGTHS for index in group}
