"""Name the numbers of lines below titles of columns, such as `Function  Best Rate MB/s  Avg time`, by these titles.

Between two titles there are several blanks or a tab, so that a title may have several words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay_propose.column_headers import GAP, TITLE
from assay_propose.names import NameSpace, make_identifier
from assay_propose.text_templates import Template

_RULE = re.compile(r"[-=_+ \t]+")  # a line below the titles
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)
_CAPTURE = re.compile(r"\{(\w+)\}")
_MIN_TITLES = 3

Titles = tuple[str, ...]


def find_titled_rows(lines: Sequence[str]) -> dict[str, Titles]:
    """Return the rows below titles of columns, as messages: a text and a number below each further title."""
    readings: tuple[Titles, ...] = ()
    rows: dict[str, Titles] = {}
    for line in lines:
        words = line.split()
        if others := _read_titles(line):
            readings = others
        elif titles := next((titles for titles in readings if _is_row(words, len(titles) - 1)), ()):
            rows[" ".join(words)] = titles[1:]
        elif words and not _RULE.fullmatch(line):
            readings = ()
    return rows


def _read_titles(line: str) -> tuple[Titles, ...]:
    """Return the titles of a line, and its words, if each of them may be one; nothing for other lines."""
    cells, words = tuple(GAP.split(line.strip())), tuple(line.split())
    return (cells, words)[: 2 if _are_titles(words) else 1] if _are_titles(cells) else ()


def _are_titles(cells: Titles) -> bool:
    return len(cells) >= _MIN_TITLES and len({*cells}) == len(cells) and all(map(TITLE.fullmatch, cells))


def _is_row(words: Sequence[str], size: int) -> bool:
    """Return whether a text and then numbers of this count make up a line."""
    texts = words[:-size]
    return len(words) > size and not any(map(_NUMBER.fullmatch, texts)) and all(map(_NUMBER.fullmatch, words[-size:]))


def name_by_titles(
    templates: Sequence[Template], messages: Sequence[str], titled_rows: Mapping[str, Titles]
) -> list[Template]:
    """Return the templates of messages, with the names of the titles that all lines of a pattern have above them."""
    titles_by_pattern: dict[str, set[Titles]] = {}
    for template, message in zip(templates, messages, strict=True):
        titles_by_pattern.setdefault(template.pattern, set()).add(titled_rows.get(" ".join(message.split()), ()))
    return [
        _rename(template, *titles) if len(titles := titles_by_pattern[template.pattern]) == 1 else template
        for template in templates
    ]


def _rename(template: Template, titles: Titles) -> Template:
    words = template.pattern.split(" ")
    if not titles or len(words) <= len(titles) or len([*template.values]) > len(titles):
        return template
    names = dict(_iter_names(words[-len(titles) :], titles))
    renamed = [_CAPTURE.sub(lambda match: f"{{{names.get(match[1], match[1])}}}", word) for word in words]
    values = tuple((names.get(name, name), value) for name, value in template.values)
    return replace(template, pattern=" ".join(renamed), values=values)


def _iter_names(words: Sequence[str], titles: Titles) -> Iterator[tuple[str, str]]:
    """Yield the name of each word that is a capture, with that of its title."""
    unique = NameSpace(())
    for word, title in zip(words, titles, strict=True):
        name = unique.add(make_identifier(title.replace("%", " percent "), "value"))
        if match := _CAPTURE.fullmatch(word):
            yield match[1], name
