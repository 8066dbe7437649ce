"""What differs between two builds beside their specs: what was chosen for them, and what they were made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from assay.audit.recorded import Content, PublishedContent, RecordedFile, RecordedPublication, RecordedRun
from assay.audit.told import Told

Made = Content | PublishedContent
#: what is chosen, in the order in which it is told; the date, which mostly follows from the data, is told with these
_OPTIONS = ("filters", "summary", "phases", "at", "style", "title", "author")
_DIGITS = 10


def chosen(before: Made, after: Made) -> tuple[Told, ...]:
    """The choices that differ: the report, and the options that decide on its numbers, their form or its title."""
    pairs = [("report", before.report, after.report), ("edition", _edition(before), _edition(after))]
    pairs += [(name, _option(before, name), _option(after, name)) for name in _OPTIONS]
    return tuple(_told(pairs))


def made_of(before: Made, after: Made) -> tuple[Told, ...]:
    """The data and tools that differ: runs or publications by their order, the date, versions, templates."""
    pairs = [*_inputs(before, after), ("date", _option(before, "date"), _option(after, "date"))]
    tools = dict.fromkeys((*before.versions, *after.versions))
    pairs += [(f"version of {name}", before.versions.get(name, ""), after.versions.get(name, "")) for name in tools]
    pairs += [("templates", before.templates[:_DIGITS], after.templates[:_DIGITS])]
    return tuple(_told(pairs))


def _told(pairs: Sequence[tuple[str, str, str]]) -> Iterator[Told]:
    return (Told(name, name, was, now) for name, was, now in pairs if was != now)


def _edition(made: Made) -> str:
    return made.edition if isinstance(made, PublishedContent) else ""


def _option(made: Made, name: str) -> str:
    """An option in words; empty where the build has none of the kind."""
    options = made.options
    found = options.get(name, "") if isinstance(options, Mapping) else getattr(options, name)
    return found if isinstance(found, str) else ", ".join(found)


def _inputs(before: Made, after: Made) -> Iterator[tuple[str, str, str]]:
    """What was read, in pairs: of the runs or publications at each place those whose files are not the same."""
    for number, (was, now) in enumerate(zip_longest(_read(before), _read(after)), start=1):
        if was and now and (was[0], _contents(was)) == (now[0], _contents(now)):
            continue
        same = len(_contents(was) & _contents(now)) if was and now else None
        yield f"{_kind(after if now else before)} {number}", _said(was), _said(now, same)


_Read = tuple[str, Sequence[RecordedFile | RecordedPublication]]


def _read(made: Made) -> list[_Read]:
    if isinstance(made, PublishedContent):
        return [(item.file, (item,)) for item in made.publications]
    return [(_called(run), run.inputs) for run in made.runs]


def _called(run: RecordedRun) -> str:
    return run.label or run.id


def _kind(made: Made) -> str:
    return "publication" if isinstance(made, PublishedContent) else "run"


def _contents(read: _Read) -> frozenset[tuple[str, str]]:
    return frozenset((item.file, item.sha256) for item in read[1])


def _said(read: _Read | None, same: int | None = None) -> str:
    """A run or publication by its name, how many files it has, and how many of these are the same."""
    if read is None:
        return ""
    files = f"{len(read[1])} file{'' if len(read[1]) == 1 else 's'}"
    return f"{read[0]} ({files})" if same is None else f"{read[0]} ({files}, {same} the same)"
