"""Compare two builds apart from their specs: options, data, tools, and the bytes of their files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from assay.diff.changes import ReportedChange
from assay.provenance.read import Content, PublishedContent, RecordedRun
from assay.util.escape import escape_text

BuildContent = Content | PublishedContent
#: options in the order of the output; the date mostly follows from the data, so it is reported with the data
_OPTIONS = (
    "repeats",
    "filters",
    "summary",
    "phases",
    "at",
    "margin",
    "style",
    "columns",
    "details",
    "by",
    "title",
    "author",
)
_DIGITS = 10
EXCERPT_LENGTH = 120
BEFORE = 40


def compare_choices(before: BuildContent, after: BuildContent) -> tuple[ReportedChange, ...]:
    """Return the choices that differ: the report, and the options for its numbers, form and title."""
    pairs = [("report", before.report, after.report), ("edition", _get_edition(before), _get_edition(after))]
    pairs += [(name, _get_option(before, name), _get_option(after, name)) for name in _OPTIONS]
    return tuple(report_changes(pairs))


def compare_data(before: BuildContent, after: BuildContent) -> tuple[ReportedChange, ...]:
    """Return the data and tools that differ: runs or publications in order, the date, versions, templates."""
    pairs = [*_compare_inputs(before, after), ("date", _get_option(before, "date"), _get_option(after, "date"))]
    tools = dict.fromkeys((*before.versions, *after.versions))
    pairs += [(f"version of {name}", before.versions.get(name, ""), after.versions.get(name, "")) for name in tools]
    pairs += [("templates", before.templates[:_DIGITS], after.templates[:_DIGITS])]
    return tuple(report_changes(pairs))


def report_changes(pairs: Sequence[tuple[str, str, str]]) -> Iterator[ReportedChange]:
    """Yield a change for each (name, before, after) whose values differ."""
    return (ReportedChange(name, name, was, now) for name, was, now in pairs if was != now)


def _get_edition(content: BuildContent) -> str:
    return content.edition if isinstance(content, PublishedContent) else content.options.edition


def _get_option(content: BuildContent, name: str) -> str:
    """Return an option as text; empty if the build has no such option."""
    options = content.options
    value = options.get(name, "") if isinstance(options, Mapping) else getattr(options, name)
    if isinstance(value, bool):
        return "yes" if value else ""
    return value if isinstance(value, str) else ", ".join(value)


def _compare_inputs(before: BuildContent, after: BuildContent) -> Iterator[tuple[str, str, str]]:
    """Yield the inputs that differ: runs by position (the first is the baseline), publications by name."""
    for number, (was, now) in enumerate(zip_longest(_get_runs(before), _get_runs(after)), start=1):
        if was and now and (was.label, _hash_files(was)) == (now.label, _hash_files(now)):
            continue
        same = len(_hash_files(was) & _hash_files(now)) if was and now else None
        yield f"run {number}", describe_run(was), describe_run(now, same)
    old, new = _hash_publications(before), _hash_publications(after)
    yield (
        "publications",
        ", ".join(name for name in old if name not in new),
        ", ".join(name for name in new if name not in old),
    )
    yield from ((name, old[name], new[name]) for name in old if name in new)


def _get_runs(content: BuildContent) -> Sequence[RecordedRun]:
    return () if isinstance(content, PublishedContent) else content.all_runs


def _hash_publications(content: BuildContent) -> dict[str, str]:
    """Return the first digits of the hash of each publication by its name."""
    return (
        {item.file: item.sha256[:_DIGITS] for item in content.publications}
        if isinstance(content, PublishedContent)
        else {}
    )


def _hash_files(run: RecordedRun) -> frozenset[tuple[str, str]]:
    return frozenset((item.file, item.sha256) for item in run.inputs)


def describe_run(run: RecordedRun | None, same: int | None = None) -> str:
    """Describe a run by its label, its number of files, and how many of these are the same."""
    if run is None:
        return ""
    number = len(run.inputs)
    files = f"{number} file{'' if number == 1 else 's'}"
    return f"{run.label} ({files})" if same is None else f"{run.label} ({files}, {same} the same)"


def compare_folders(old: Path, new: Path) -> dict[str, tuple[str, ...]]:
    """Return the differences of every file that a build writes, by file name; empty for equal bytes.

    `new` is a fresh build. Entries of `old` that `new` does not have were not written by a build and are ignored.
    """
    names = {
        *_list_files(new),
        *(name for entry in new.iterdir() for name in _list_files(old / entry.name, entry.name)),
    }
    return {name: tuple(_compare_file(old / name, new / name, name)) for name in sorted(names)}


def _list_files(folder: Path, above: str = "") -> Iterator[str]:
    """Yield the names of the files of a folder, below `above`; of a file `above` itself."""
    if folder.is_file():
        yield above
    for path in folder.rglob("*") if folder.is_dir() else ():
        if path.is_file():
            yield (Path(above) / path.relative_to(folder)).as_posix()


def _compare_file(old: Path, new: Path, name: str) -> Iterator[str]:
    if not old.is_file():
        yield f"file {name} is missing"
    elif not new.is_file():
        yield f"file {name} is no longer built"
    else:
        try:
            before = old.read_bytes()
        except OSError as error:
            yield f"file {name} cannot be read ({error.strerror})"
            return
        if before != (after := new.read_bytes()):
            yield f"file {name} differs"
            yield from _find_first_difference(before, after, name)


def _find_first_difference(old: bytes, new: bytes, name: str) -> Iterator[str]:
    """Yield the first line that differs, before and after; nothing if either file is not text."""
    try:
        lines = zip_longest(old.decode().split("\n"), new.decode().split("\n"))
    except UnicodeDecodeError:
        return
    number, before, after = next((n, a, b) for n, (a, b) in enumerate(lines, start=1) if a != b)
    column = next((i for i, (a, b) in enumerate(zip(before or "", after or "", strict=False)) if a != b), 0)
    column = column or min(len(before or ""), len(after or ""))
    yield f"  {name}:{number}: - {_cut_line(before, column)}"
    yield f"  {name}:{number}: + {_cut_line(after, column)}"


def _cut_line(line: str | None, column: int) -> str:
    """Return the part of a line around a column."""
    if line is None:
        return "(end of text)"
    start = max(0, column - BEFORE) if len(line) > EXCERPT_LENGTH else 0
    excerpt = escape_text(line[start : start + EXCERPT_LENGTH])
    return ("…" if start else "") + excerpt + ("…" if start + EXCERPT_LENGTH < len(line) else "")
