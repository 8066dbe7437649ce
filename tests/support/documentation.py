"""Parse the documentation into pages, sections, blocks and tables, and try blocks in a copy of the workspace."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.commands import run_assay

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))))
LANGUAGE_PAGES = tuple(name for name in PAGES if name.startswith("docs/spec-language/"))
PACKAGE_PAGES = tuple(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("compiler/*/README.md")))
ALL_PAGES = (*PAGES, *PACKAGE_PAGES, "CONTRIBUTING.md", "CHANGELOG.md")
OF_THE_SHELL = frozenset("|;&<>$*`~\n")
PLACE = re.compile(r"-- (?P<file>(?:specs|queries|examples|starter|docs)/\S+\.(?:dhall|sql))(?:, (?P<how>.+))?")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text and place."""

    page: str
    section: str
    line: int
    language: str
    text: str

    @property
    def location(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def place(self) -> re.Match[str] | None:
        """Return the file that the block's first line names, and where the block belongs in it."""
        return PLACE.fullmatch(self.text.split("\n", 1)[0])

    @property
    def body(self) -> str:
        """Return the block without the line that names its place."""
        return self.text.split("\n", 1)[1]


@dataclass(frozen=True)
class Table:
    """A table of a page: section, header, rows of cells."""

    page: str
    section: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Page:
    """A parsed page."""

    name: str
    prose: str
    sections: tuple[str, ...]
    blocks: tuple[Block, ...]
    tables: tuple[Table, ...]


def parse_page(name: str) -> Page:
    """Parse a page of the repository; `prose` is its text without fenced blocks."""
    lines = (ROOT / name).read_text(encoding="utf-8").split("\n")
    section, sections, blocks, tables, prose = "", [], [], [], []
    rows: list[tuple[str, ...]] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.startswith("```"):
            end = lines.index("```", number + 1)
            text = "\n".join(lines[number + 1 : end]) + "\n"
            blocks.append(Block(name, section, number + 2, line.removeprefix("```"), text))
            number = end + 1
            continue
        if line.startswith("#"):
            section = line.lstrip("#").strip()
            sections.append(section)
        if line.startswith("|"):
            rows.append(split_cells(line))
        elif rows:
            tables.append(Table(name, section, rows[0], tuple(rows[2:])))
            rows = []
        prose.append(line)
        number += 1
    return Page(name, "\n".join(prose), tuple(sections), tuple(blocks), tuple(tables))


def split_cells(line: str) -> tuple[str, ...]:
    """Return the cells of a table line."""
    return tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1]))


def find_code_spans(text: str) -> list[str]:
    """Return the code spans of a text."""
    return re.findall(r"`([^`]+)`", text)


def list_members(cell: str) -> list[str]:
    """Return the members that a cell names: `a.b` and `c` are `a.b` and `a.c`, members of one parent."""
    first, *siblings = find_code_spans(cell)
    parent = first.rpartition(".")[0]
    return [first, *(f"{parent}.{name}" if parent else name for name in siblings)]


def squeeze_whitespace(text: str) -> str:
    """Replace every run of white space by one blank."""
    return " ".join(text.split())


def format_anchor(heading: str) -> str:
    """Return the anchor of a heading on the web."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def list_commands(block: Block) -> list[str]:
    """Return the commands of a `sh` block; a trailing backslash continues a line."""
    joined = block.text.replace("\\\n", " ")
    return [line for line in joined.split("\n") if line.strip() and not line.startswith("#")]


def list_exchanges(block: Block) -> list[tuple[str, str]]:
    """Yield the commands of a `console` block with their outputs."""
    parts = re.split(r"^\$ ", block.text, flags=re.M)[1:]
    pairs = (part.split("\n", 1) for part in parts)
    return [(command, output) for command, output in pairs]


@dataclass(frozen=True)
class Trial:
    """A copy of the workspace for running commands and adding blocks."""

    root: Path
    tools: Path
    cache: Path

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command with stderr in stdout; a single `assay` command runs in this process."""
        if command.startswith("assay ") and not OF_THE_SHELL.intersection(command):
            result = run_assay("--cache", self.cache, *shlex.split(command)[1:], cwd=self.root, merge_stderr=True)
            return subprocess.CompletedProcess(command, result.status, result.out)
        environment = {**os.environ, "PATH": f"{self.tools}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
        )  # fmt: skip

    def put(self, block: Block) -> None:
        """Insert a block at the place that its first line names; fail if that place does not exist."""
        place = block.place
        assert place, f"{block.location}: the block does not say where it belongs"
        file = self.root / place["file"]
        if place["how"] == "new":
            assert not file.exists(), f"{block.location}: {place['file']} exists"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
            return
        lines = file.read_text(encoding="utf-8").rstrip("\n").split("\n")
        first, last = _find_span(lines, place["how"], block.location)
        lines[first:last] = block.body.rstrip("\n").split("\n") + [""] * block.body.endswith("\n\n")
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _find_span(lines: list[str], markers: str, location: str) -> tuple[int, int]:
    """Return the lines that a block replaces: start and end (exclusive)."""
    if markers == "before the last line":
        return len(lines) - 1, len(lines) - 1
    word, _, text = markers.partition(": ")
    numbers = [number for number, line in enumerate(lines) if line.strip() == text]
    assert numbers, f"{location}: no line reads {text!r}"
    if word.endswith(" the first"):
        numbers = numbers[:1]
    assert len(numbers) == 1, f"{location}: {len(numbers)} lines read {text!r}"
    return {
        "before": (numbers[0], numbers[0]),
        "after": (numbers[0] + 1, numbers[0] + 1),
        "after the first": (numbers[0] + 1, numbers[0] + 1),
        "instead of": (numbers[0], numbers[0] + 1),
    }[word]


def create_trial(folder: Path, cache: Path) -> Trial:
    """Copy everything that definitions consist of; link runs, templates and fonts of the repository.

    The command `assay` there uses `cache`.
    """
    root, tools = folder / "workspace", folder / "tools"
    for name in ("specs", "queries", "golden/specs", "golden/sql", "examples", "starter"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("build"))
    (root / "golden" / "cardano").symlink_to(ROOT / "golden" / "cardano")
    (root / "golden" / "published").symlink_to(ROOT / "golden" / "published")
    (root / "golden" / "cometbft").symlink_to(ROOT / "golden" / "cometbft")
    (root / "golden" / "antelope").symlink_to(ROOT / "golden" / "antelope")
    (root / "templates").symlink_to(ROOT / "templates")
    tools.mkdir()
    _write_tool(
        tools / "assay", f"sys.argv[1:1] = ['--cache', {str(cache)!r}]\nfrom assay.cli.main import main; main()"
    )
    if not shutil.which("duckdb"):  # without DuckDB's shell, use its Python package
        _write_tool(tools / "duckdb", "import sys, duckdb; print(duckdb.sql(sys.stdin.read()))")
    return Trial(root, tools, cache)


def _write_tool(path: Path, program: str) -> None:
    package = str(ROOT / "compiler")
    path.write_text(f"#!{sys.executable}\nimport sys; sys.path.insert(0, {package!r})\n{program}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
