"""What lines and columns of figures are called that several labels tell apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

Key = tuple[object, ...]
NONE = "none"


def names(labels: Sequence[str], first: str, keys: Iterable[Key], reserved: Sequence[str] = ()) -> dict[Key, str]:
    """A name for each key (values of the labels, in their order), no two alike.

    It is the value of the label `first`; where several keys agree in that, their values of the labels in which these
    differ follow.  A name that is `reserved` has its label ahead.
    """
    place = labels.index(first)
    alike: dict[str, list[Key]] = {}
    for key in dict.fromkeys(keys):
        alike.setdefault(format_value(key[place]), []).append(key)
    found: dict[Key, str] = {}
    for name, group in alike.items():
        others = [at for at in range(len(labels)) if at != place and len({key[at] for key in group}) > 1]
        own = f"{first} {name}" if name in reserved and not others else name
        found |= {key: ", ".join([own, *(format_value(key[at]) for at in others)]) for key in group}
    return found if len(set(found.values())) == len(found) else {key: _in_full(labels, key) for key in found}


def format_value(value: object) -> str:
    return str(value) or NONE


def _in_full(labels: Sequence[str], key: Key) -> str:
    return ", ".join(
        f"{name} {json.dumps(str(value), ensure_ascii=False)}" for name, value in zip(labels, key, strict=True)
    )
