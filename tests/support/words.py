"""Write the page of all words of the spec language from their examples in docs/spec-language/words/.

An example is a case, such as `value "X.over" (X.over a b) U.none [ "3.5" ]`, whose samples `assay test` compares; or
what stands below a comment: `-- WORDS => METRICS`, whose samples are in the examples of the package,
`-- WORDS => REPORT: PREFIX`, with the lines of a report that begin so, or `-- WORDS => test`, with the answer of
`assay test`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.lang.workspace import find_workspace, load_package
from assay_dhall import Evaluator, FolderPolicy, Node, normalize, print_node
from assay_dhall.syntax import Apply, Pi, RecordType
from tests.support.commands import run_assay
from tests.support.documentation import ROOT

FOLDER = ROOT / "docs" / "spec-language" / "words"
SPECS = FOLDER / "specs" / "words"
PAGE = FOLDER.parent / "words.md"
SCHEMA = ROOT / "specs" / "schema"
#: letter of a group -> its name in `S`
LETTERS = {
    "S": "", "S.source": "source", "U": "unit", "X": "x", "E": "event", "G": "grain", "M": "metric", "R": "report",
    "P": "phase", "Q": "example", "B": "block", "O": "observation",
}  # fmt: skip
_CASE = re.compile(r'^(?:in)? +[\[,] (?:value|holds|unit|read|absent) "([\w.]+)" (.*)$')
_MARK = re.compile(r"^ *(?:\[ )?-- ((?:[A-Z][\w.]*\.\w+(?:, )?)+) => (.+)$")
_BEFORE, _AFTER = ("--run", "runs/before"), ("--run", "runs/after")
#: what examples name as the report that prints their output -> the command of `assay`; the page shows it
_COMMANDS = {
    "groups": (
        *("build", "words/groups", "--run", "small:before=runs/before", "--run", "small:after=runs/after"),
        *("--run", "large:after=runs/after"),
    ),
    "filtered": ("build", "words/comparison", *_BEFORE, "--filter-file", "filters.json"),
    "published": ("regenerate", "published.json"),
    "history": ("build", "words/history", "--publication", "published.json"),
    "releases": ("build", "words/releases", *_BEFORE, *_AFTER, "--run", "runs/last"),
    "hosts": ("build", "words/hosts", "--run", "runs/hosts"),
}
#: the commands of all other reports
_COMMANDS_OF_RUNS = {
    **{name: ("build", f"words/{name}", *_BEFORE) for name in ("phases", "ends")},
    **{
        name: ("build", f"words/{name}", *_BEFORE, *_AFTER)
        for name in ("comparison", "sentences", "course", "tables", "figures")
    },
}
#: the report whose output is the findings on a run that lacks records
_INCOMPLETE = "hosts"
_LONG = 12  # words of an output
_FIELDS = 2  # of a record whose types are printed
_PARTS = frozenset(("concat", "leaf", "many", "token"))  # words of `X` that others consist of


@dataclass(frozen=True, slots=True)
class Example:
    """The words that an example shows, its text, what it yields; `is_block` if it is more than a value."""

    words: tuple[str, ...]
    text: str
    output: str
    is_block: bool = False


def read_types() -> dict[str, Node]:
    """Return the type of each word of the schema, functions and values."""
    evaluator = Evaluator(FolderPolicy([SCHEMA.parent]))
    package = normalize(evaluator.evaluate_file(SCHEMA / "package.dhall").type)
    assert isinstance(package, RecordType)
    groups = {letter: package if not name else package.fields[name] for letter, name in LETTERS.items()}
    return {
        f"{letter}.{name}": node
        for letter, group in groups.items()
        if isinstance(group, RecordType)
        for name, node in group.fields.items()
        if name[0].islower() and not (letter == "S" and isinstance(node, RecordType)) and name not in _PARTS
    }


def read_type_names() -> dict[str, dict[str, str]]:
    """Return the names of each record type of the schema by its normal form, by the file that has it."""
    evaluator = Evaluator(FolderPolicy([SCHEMA.parent]))
    names: dict[str, dict[str, str]] = {}
    for path in sorted(SCHEMA.glob("*.dhall")):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"^let ([A-Z]\w+) =", text, re.M):
            source = text[: text.rindex("\nin  {")] + f"\nin  {name}\n"
            names.setdefault(_evaluate_type(evaluator, source), {}).setdefault(path.stem, name)
    return names


def _evaluate_type(evaluator: Evaluator, source: str) -> str:
    """Return the normal form of the record type that a text of the schema ends with, or of its member `Type`."""
    path = SCHEMA / "package.dhall"
    evaluation = evaluator.evaluate_text(source, str(path))
    node = normalize(evaluation.value)
    member = getattr(node, "fields", {}).get("Type")
    return print_node(member if member is not None and not isinstance(node, RecordType) else node)


def format_type(node: Node, names: Mapping[str, Mapping[str, str]], file: str) -> str:
    """Format a type with the names of record types, first those of a file: `(a : Expression) → Expression`."""
    if choices := names.get(print_node(node)):
        return choices.get(file) or next(iter(choices.values()))
    if isinstance(node, Pi):
        domain = format_type(node.domain, names, file)
        # a name of one letter says nothing
        parameter = f"({node.name} : {domain})" if len(node.name) > 1 or " → " in domain else domain
        return f"{parameter} → {format_type(node.body, names, file)}"
    if isinstance(node, RecordType) and len(node.fields) > _FIELDS:  # the example shows their types
        return f"{{ {', '.join(node.fields)} }}"
    if isinstance(node, RecordType):
        fields = ", ".join(f"{name} : {format_type(item, names, file)}" for name, item in node.fields.items())
        return f"{{ {fields} }}"
    if isinstance(node, Apply):
        argument = format_type(node.argument, names, file)
        is_compound = " " in argument and not argument.startswith("{")
        return f"{print_node(node.function)} {f'({argument})' if is_compound else argument}"
    return print_node(node)


def _read_entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of cases, each with its text: it ends before the next entry of its list."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if match := _CASE.match(line):
            yield match[1], match[2]
            assert re.match(r" +[\],]", lines[number + 1]), f"a case takes one line: {line}"


def _split_argument(text: str) -> tuple[str, str]:
    """Return the first argument of a text without its parentheses, and the rest."""
    if not text.startswith("("):
        first, _, rest = text.partition(" ")
        return first, rest
    depth = 0
    for index, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return text[1:index], text[index + 1 :].strip()
    raise AssertionError(f"no end of the argument: {text}")


def _read_blocks(text: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield the words, the text and the goal of what stands below each comment, up to an empty line or a comment."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if match := _MARK.match(line):
            block = [lines[number + 1]]
            for following in lines[number + 2 :]:
                is_closed = following.strip() in ("]", "}") and _indent(following) <= _indent(block[0])
                if not following or is_closed or _MARK.match(following):
                    break
                block.append(following)
            yield tuple(match[1].split(", ")), "\n".join(block), match[2]


def _indent(line: str) -> int:
    """Return the number of blanks before a line."""
    return len(line) - len(line.lstrip())


def _format_value(text: str) -> str:
    """Format the expression of the value of a field: `X.natural 5` is 5."""
    text = {"X.yes": "true", "X.no": "false"}.get(text, text)
    return re.sub(r"^X\.(?:text|natural|real|quantity|integer) \+?", "", text)


def read_examples(cache: Path, folder: Path) -> list[Example]:
    """Return the examples of all words; build reports below a folder."""
    package = load_package(find_workspace(FOLDER), "words", cache).package
    samples = {item.metric: item.samples for example in package.examples for item in example.expect}
    symbols = {metric.id: metric.unit.symbol for metric in package.metrics}

    def format_samples(metric: str) -> str:
        text = ", ".join(samples[metric]) or "no row"
        return f"{text} {symbols[metric]}".strip()

    printed: dict[str, list[str]] = {}
    examples: list[Example] = []
    for path in sorted(SPECS.glob("*.dhall")):
        text = path.read_text(encoding="utf-8")
        for word, arguments in _read_entries(text):
            example, rest = _split_argument(arguments)
            is_field = path.stem == "fields"
            if path.stem == "units":
                example, rest = f"{_split_argument(rest)[0]}, in {example}", ""
            output = (
                (_format_value(_split_argument(rest)[0]) if rest else "no value") if is_field else format_samples(word)
            )
            examples.append(Example((word,), example, output))
        for words, block, goal in _read_blocks(text):
            report, colon, prefix = goal.partition(": ")
            if goal == "test":
                output = run_assay("--cache", cache, "test", cwd=FOLDER).out.splitlines()[-1].strip()
            elif colon:
                if report not in printed:
                    printed[report] = _build_report(report, cache, folder)
                command = f"$ assay {' '.join(_COMMANDS[report])}\n" if report in _COMMANDS else ""
                output = command + _find_lines(printed[report], prefix)
            else:
                output = "\n".join(f"{metric}: {format_samples(metric)}" for metric in goal.split(", "))
            examples.append(Example(words, block, output, is_block=True))
    return examples


def _build_report(report: str, cache: Path, folder: Path) -> list[str]:
    """Build a report of the examples as Markdown; return its lines."""
    out = folder / report
    result = run_assay("--cache", cache, *(_COMMANDS | _COMMANDS_OF_RUNS)[report], "-o", out, "--to", "md", cwd=FOLDER)
    assert (result.status, "warning" in result.err) == (0, report == _INCOMPLETE), result.err
    return (out / "report.md").read_text(encoding="utf-8").splitlines()


def _find_lines(lines: Sequence[str], prefix: str) -> str:
    """Return the lines that begin so, of tables those of the last table that has any, below its header."""
    numbers = [number for number, line in enumerate(lines) if line.startswith(prefix)]
    assert numbers, f"no line begins with {prefix!r}"
    if not prefix.startswith("|"):
        return "\n".join(lines[number] for number in numbers)
    start = numbers[-1]
    while lines[start - 1].startswith("|"):
        start -= 1
    return "\n".join((lines[start], *(lines[number] for number in numbers if number > start)))


_TITLES = {
    "S": "Package", "S.source": "Sources", "U": "Units", "X": "Expressions", "E": "Events", "G": "Grains and instants",
    "M": "Metrics", "R": "Reports", "P": "Phases", "Q": "Examples", "B": "Blocks",
    "O": "Observations",
}  # fmt: skip
_FILES = {
    letter: {"": "package", "unit": "units", "x": "expression"}.get(name, name) for letter, name in LETTERS.items()
}
_INTRO = """# All words

Each word with its type, an example and what it yields. The examples are a workspace, `docs/spec-language/words/`,
which `assay test` runs. This page is generated from it, and from the types of the schema.

Expressions are those of a table with three rows, whose columns are `n`, `a`, `b`, `name` and `ok`:

```text
{rows}
```

What an expression yields are its values on the rows that have one; what a condition yields are the `n` of the rows for
which it holds. Lines of reports are those of builds over the runs `before` and `after`, or of the command above them.
A field (`E`) is read from this record:

```json
{record}
```
"""


def format_page(examples: Sequence[Example]) -> str:
    """Return the page of all words."""
    types, names = read_types(), read_type_names()
    by_word: dict[str, Example] = {}
    for example in examples:
        for word in example.words:
            by_word.setdefault(word, example)
    rows = (FOLDER / "runs" / "before" / "rows.csv").read_text(encoding="utf-8").strip()
    record = (FOLDER / "runs" / "before" / "log.jsonl").read_text(encoding="utf-8").split("\n")[0]
    parts = [_INTRO.format(rows=rows, record=record)]
    first_by_output: dict[str, Example] = {}  # long outputs are printed once
    for letter, title in _TITLES.items():
        words = {word: types[word] for word in types if word.rpartition(".")[0] == letter}
        formatted = {word: format_type(node, names, _FILES[letter]) for word, node in words.items()}
        blocks = dict.fromkeys(by_word[word] for word in words if by_word[word].is_block)
        described = [block for block in blocks if block.words[0].rpartition(".")[0] == letter]
        parts.append(f"## {title}\n")
        if rows := [
            _format_row(word, text, by_word) for word, text in formatted.items() if by_word[word] not in described
        ]:
            parts.append("\n".join(("| name | type | example | yields |", "|---|---|---|---|", *rows)) + "\n")
        parts += [
            _format_block(block, formatted, first_by_output.setdefault(block.output, block)) for block in described
        ]
    return "\n".join(parts)


def _format_row(word: str, kind: str, by_word: Mapping[str, Example]) -> str:
    """Format the row of a word."""
    example = by_word[word]
    cells = (
        (f"[below](#{_format_anchor(example)})", "")
        if example.is_block
        else (f"`{example.text}`", f"`{example.output}`")
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in (f"`{word}`", f"`{kind}`", *cells)) + " |"


def _format_heading(example: Example) -> str:
    return ", ".join(example.words)


def _format_anchor(example: Example) -> str:
    return _format_heading(example).replace(", ", "-").replace(".", "").lower()


def _format_block(example: Example, types: Mapping[str, str], first: Example) -> str:
    """Format an example of several lines, with the types of its words.

    The output is a link if it is long and the same as that of the first example with it.
    """
    if len(example.words) == 1:
        lines = f"`{types[example.words[0]]}`"
    else:
        lines = "\n".join(f"* `{word}` : `{types[word]}`" for word in example.words if word in types)
    is_said = first is not example and len(example.output.split()) > _LONG
    output = (
        f"It yields the same as [{_format_heading(first)}](#{_format_anchor(first)})."
        if is_said
        else f"```text\n{example.output}\n```"
    )
    return f"### {_format_heading(example)}\n\n{lines}\n\n```dhall\n{example.text.rstrip()}\n```\n\n{output}\n"
