"""Find rows of numbers below a header of columns, such as `r b swpd free`, `# Time UID %usr`, `#Fields: date time`."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from assay.lang.line_pattern import parse_pattern
from assay_propose.names import NameSpace, make_identifier
from assay_propose.text_layout import TextLayout
from assay_propose.text_templates import Template

_MARK = re.compile(r"#\s*(?:Fields:)?\s*")  # of a header, such as that of extended logs of the W3C
_GAPS = re.compile(r"\S(?:  +|\t)\S")  # between the words of a header without a mark
_NAME = re.compile(r"[A-Za-z%][^\s={}\"]*:?")
GAP = re.compile(r" {2,}|\t+")
TITLE = re.compile(r"[A-Za-z%][^={}\"|]*")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?%?")
_MIN_ROWS, _MIN_COLUMNS, _MIN_NUMBERS = 5, 3, 2
_MIN_TITLES = 2  # of several words, with gaps between them
_MIN_SHARE = 0.3  # of the cells of a row that are numbers
_PERCENT = re.compile(r"(?<![\d.])%")

Header = tuple[str, ...]


def find_headers(lines: Sequence[str], layout: TextLayout | None) -> list[Header]:
    """Return the names of columns of the messages of a text, of each table that has several rows below its header.

    A header may have names of what stands before a message, too, such as an instant.
    """
    messages = {line.position: line.message.split() for line in layout.lines} if layout else {}
    counts: Counter[Header] = Counter()
    header: list[str] = []
    is_whole = False
    for position, line in enumerate(lines):
        if words := _read_header(line if position not in messages else " ".join(messages[position]), line):
            header, is_whole = words, position not in messages
        elif header and position in messages and _is_row(messages[position]):
            cells = line.split() if is_whole else messages[position]
            if len(cells) == len(header):
                counts[tuple(header[-len(messages[position]) :])] += 1
    headers = [header for header, count in counts.items() if count >= _MIN_ROWS]
    sizes = Counter(map(len, headers))
    return [header for header in headers if sizes[len(header)] == 1]


def _read_header(text: str, line: str) -> list[str]:
    """Return the names of columns of a line; nothing for other lines."""
    mark = _MARK.match(text)
    if not (mark or _GAPS.search(line.strip())):
        return []
    words = text[mark.end() if mark else 0 :].split()
    is_header = len(words) >= _MIN_COLUMNS and len({*words}) == len(words) and all(map(_NAME.fullmatch, words))
    if is_header or not mark:
        return words if is_header else []
    titles = GAP.split(line.partition("#")[2].strip())  # `# Size          Latency (us)`
    return titles if len({*titles}) == len(titles) >= _MIN_TITLES and all(map(TITLE.fullmatch, titles)) else []


def _is_row(cells: Sequence[str]) -> bool:
    count = sum(bool(_NUMBER.fullmatch(cell)) for cell in cells)
    return count >= max(_MIN_NUMBERS, _MIN_SHARE * len(cells))


def find_rows_below(
    messages: Sequence[str], headers: Collection[Header], used_names: Collection[str]
) -> Mapping[int, Template]:
    """Return the templates of messages that are rows below a header, and of headers, by their index."""
    by_size = {len(header): header for header in headers}
    cells = [message.split() for message in messages]
    rows: dict[Header, list[int]] = defaultdict(list)
    titles: list[int] = []
    for index, (message, words) in enumerate(zip(messages, cells, strict=True)):
        header = by_size.get(len(words))
        if header and (tuple(words) == header or _MARK.match(message)):
            titles.append(index)
        elif header and _is_row(words):
            rows[header].append(index)
    templates = {index: Template(messages[index], (), tuple(cells[index])) for index in titles}
    for header, indices in rows.items():
        names = _name_columns(header, used_names)
        pattern = " ".join(f"{{{name}}}" for name in names)
        expression = re.compile(parse_pattern(pattern).build_expression(()))
        of_table = {*indices, *titles}
        if not any(expression.search(text) for index, text in enumerate(messages) if index not in of_table):
            templates |= {index: Template(pattern, tuple(zip(names, cells[index], strict=True)), ())
                          for index in indices}  # fmt: skip
    return templates


def _name_columns(header: Header, used_names: Collection[str]) -> list[str]:
    unique = NameSpace(used_names)
    return [unique.add(make_identifier(_PERCENT.sub(" percent ", word), "value")) for word in header]
