"""Read what lines have in place of a number, such as `nan`, as no value."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay_propose.message_parts import NO_NUMBER
from assay_propose.text_templates import Template

_NUMBER = re.compile(r"[+-]?\.?\d\S*")
_PLACE = re.compile(r"(?:\{\?[^{}]+\?\})+\{\?(\{\w+\})\?\}")  # as `_write_place` writes it
_OPTIONAL = re.compile(r"\{\?.*?\?\}")


def drop_no_numbers(templates: Sequence[Template]) -> list[Template]:
    """Return templates without values such as `nan` among numbers; their patterns allow these words."""
    values: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for template in templates:
        for name, value in template.values:
            values[template.pattern, name][value] = None
    words = {place: [text for text in texts if NO_NUMBER.fullmatch(text)] for place, texts in values.items()}
    dropped = {
        (pattern, name): texts
        for (pattern, name), texts in words.items()
        if 0 < len(texts) < len(values[pattern, name])
        and all(text in texts or _NUMBER.fullmatch(text) for text in values[pattern, name])
        and f"{{{name}}}" in _OPTIONAL.sub("", pattern)
    }
    patterns = {template.pattern: template.pattern for template in templates}
    for (pattern, name), texts in dropped.items():
        patterns[pattern] = patterns[pattern].replace(f"{{{name}}}", _write_place(name, texts))
    return [
        replace(item, pattern=patterns[item.pattern],
                values=tuple((name, value) for name, value in item.values
                             if value not in dropped.get((item.pattern, name), ())))
        for item in templates
    ]  # fmt: skip


def _write_place(name: str, texts: Iterable[str]) -> str:
    """Return the place of a number or of one of these words, which match first."""
    words = "".join(f"{{?{text}?}}" for text in sorted(texts, key=lambda text: (-len(text), text)))
    return f"{words}{{?{{{name}}}?}}"


def restore_places(pattern: str) -> str:
    """Return a pattern with plain places, as if all lines had numbers."""
    return _PLACE.sub(r"\1", pattern)
