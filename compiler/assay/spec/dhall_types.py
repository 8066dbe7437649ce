"""Types as the evaluator prints them, read just far enough to say in which field two of them differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_OPEN = "{[(<"
_CLOSE = "}])>"
MISSING = "missing"
EXTRA = "extra"
OTHER = "other"
WIDTH = 160  # of a type that is shown on a line


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is missing, extra, or of another type; in `path`, `[]` leads into the items of a list."""

    kind: str
    path: tuple[str, ...]
    expected: str = ""
    found: str = ""

    @property
    def name(self) -> str:
        """The path as it is written in a message: `measure.to`, `fields[].name`."""
        return ".".join(self.path).replace(".[]", "[]")


def differences(expected: str, found: str) -> list[Difference]:
    """Where a found type differs from the expected one, field by field; empty when they are equal."""
    return list(_compare(expected, found, ()))


def _compare(expected: str, found: str, path: tuple[str, ...]) -> Iterator[Difference]:
    expected, found = _bare(expected), _bare(found)
    if expected == found:
        return
    wanted, given = fields(expected), fields(found)
    if wanted is not None and given is not None:
        yield from _compare_fields(wanted, given, path)
        return
    for wrapper in ("List ", "Optional "):
        if expected.startswith(wrapper) and found.startswith(wrapper):
            step = ("[]",) if wrapper == "List " else ()
            yield from _compare(expected[len(wrapper) :], found[len(wrapper) :], (*path, *step))
            return
    yield Difference(OTHER, path, expected, found)


def _compare_fields(wanted: dict[str, str], given: dict[str, str], path: tuple[str, ...]) -> Iterator[Difference]:
    for name in sorted(wanted.keys() | given.keys()):
        if name not in given:
            yield Difference(MISSING, (*path, name), expected=wanted[name])
        elif name not in wanted:
            yield Difference(EXTRA, (*path, name), found=given[name])
        else:
            yield from _compare(wanted[name], given[name], (*path, name))


def fields(text: str) -> dict[str, str] | None:
    """The fields of a record type with their types; nothing when the text is not a record type."""
    text = _bare(text)
    if not (text.startswith("{") and _matching(text) == len(text) - 1):
        return None
    found = {}
    for item in split(text[1:-1], ","):
        name, colon, kind = item.partition(" : ")
        if colon:
            found[name.strip().strip("`")] = kind.strip()
    return found


def variants(text: str) -> list[str] | None:
    """The alternatives of a union type; nothing when the text is not a union type."""
    text = _bare(text)
    if not (text.startswith("<") and _matching(text) == len(text) - 1):
        return None
    return [item.partition(":")[0].strip().strip("`") for item in split(text[1:-1], "|")]


def split(text: str, separator: str) -> list[str]:
    """The parts between separators that are in no bracket and no text literal."""
    parts, start = [], 0
    for index, char in _outside(text):
        if char == separator:
            parts.append(text[start:index])
            start = index + 1
    return [part for part in (*parts, text[start:]) if part.strip()]


def short(text: str, width: int = WIDTH) -> str:
    """A type that fits a line: a record that is too long loses the types of its fields, then fields."""
    text = _bare(text)
    if len(text) <= width:
        return text
    known = fields(text)
    if known is None:
        return _short_function(text, width)
    kept: list[str] = []
    for name in known:
        if sum(len(item) + 2 for item in kept) + len(name) > width - 8:
            return "{ " + ", ".join([*kept, "…"]) + " }"
        kept.append(name)
    return "{ " + ", ".join(kept) + " }"


def short_pair(expected: str, found: str) -> tuple[str, str]:
    """Two types that fit a line each; of two records either both show their fields' types or none does."""
    texts = (_bare(expected), _bare(found))
    if max(map(len, texts)) > WIDTH and all(fields(text) is not None for text in texts):
        shown = [short(text, min(WIDTH, len(text) - 1)) for text in texts]
        return shown[0], shown[1]
    return short(expected), short(found)


def _short_function(text: str, width: int) -> str:
    """A function type with its parameters as they are and its result cut; any other type cut."""
    end = _matching(text[1:]) + 2 if text.startswith("∀(") else 0
    if end and text.startswith(" → ", end) and end < width // 2:
        return f"{text[:end]} → {short(text[end + 3 :], width - end - 3)}"
    return text[: width - 2].rstrip() + " …"


def _bare(text: str) -> str:
    text = text.strip()
    while text.startswith("(") and _matching(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def _matching(text: str) -> int:
    """The index of the bracket that closes the first one."""
    depth, quoted = 0, False
    for index, char in enumerate(text):
        if char == '"' and text[index - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (char in _OPEN) - (char in _CLOSE)
            if depth == 0:
                return index
    return -1


def _outside(text: str) -> Iterator[tuple[int, str]]:
    depth, quoted = 0, False
    for index, char in enumerate(text):
        if char == '"' and text[index - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (char in _OPEN) - (char in _CLOSE)
            if depth == 0:
                yield index, char
