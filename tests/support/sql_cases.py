"""Cases of SQL in files, in the format of sqlglot's fixtures.

Blank lines separate cases. A case is lines `-- option: value`, the statement up to a `;` at the end of a line, and
the expected lines below it. A paragraph of comments without a statement is a heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CASE = re.compile(r"(?P<options>(?:-- \w+: .*\n)*)(?P<sql>.*?);\n(?P<expected>.*)", re.DOTALL)
_OPTION = re.compile(r"-- (\w+): (.*)\n")


@dataclass(frozen=True, slots=True)
class SqlCase:
    """A statement, its options by name, and the expected lines."""

    options: dict[str, str]
    sql: str
    expected: str

    def __str__(self) -> str:
        """Return the id of the test: the title, else the statement in one line."""
        return self.options.get("title", " ".join(self.sql.split()))


def parse_cases(text: str) -> Iterator[SqlCase]:
    """Yield the cases of a file's text. Raise ValueError for a paragraph that is neither a case nor comments."""
    for paragraph in re.split(r"\n{2,}", text.strip("\n")):
        if match := _CASE.fullmatch(paragraph):
            yield SqlCase(dict(_OPTION.findall(match["options"])), match["sql"], match["expected"])
        elif not all(line.startswith("-- ") for line in paragraph.splitlines()):
            raise ValueError(f"no case of SQL: {paragraph}")


def read_cases(path: Path) -> list[SqlCase]:
    """Read the cases of a file; fail if it has none."""
    cases = list(parse_cases(path.read_text(encoding="utf-8")))
    if not cases:
        raise ValueError(f"{path} holds no case")
    return cases
