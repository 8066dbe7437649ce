"""What differs between two builds beside their specs: what was chosen for them, and what they were made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from assay.diff.changes import ReportedChange
from assay.provenance.read import Content, PublishedContent, RecordedRun

Made = Content | PublishedContent
#: what is chosen, in the order in which it is told; the date, which mostly follows from the data, is told with these
_OPTIONS = ("filters", "summary", "phases", "at", "style", "title", "author")
_DIGITS = 10


def chosen(before: Made, after: Made) -> tuple[ReportedChange, ...]:
    """The choices that differ: the report, and the options that decide on its numbers, their form or its title."""
    pairs = [("report", before.report, after.report), ("edition", _edition(before), _edition(after))]
    pairs += [(name, _option(before, name), _option(after, name)) for name in _OPTIONS]
    return tuple(report_changes(pairs))


def made_of(before: Made, after: Made) -> tuple[ReportedChange, ...]:
    """The data and tools that differ: runs or publications by their order, the date, versions, templates."""
    pairs = [*_inputs(before, after), ("date", _option(before, "date"), _option(after, "date"))]
    tools = dict.fromkeys((*before.versions, *after.versions))
    pairs += [(f"version of {name}", before.versions.get(name, ""), after.versions.get(name, "")) for name in tools]
    pairs += [("templates", before.templates[:_DIGITS], after.templates[:_DIGITS])]
    return tuple(report_changes(pairs))


def report_changes(pairs: Sequence[tuple[str, str, str]]) -> Iterator[ReportedChange]:
    return (ReportedChange(name, name, was, now) for name, was, now in pairs if was != now)


def _edition(made: Made) -> str:
    return made.edition if isinstance(made, PublishedContent) else ""


def _option(made: Made, name: str) -> str:
    """An option in words; empty where the build has none of the kind."""
    options = made.options
    found = options.get(name, "") if isinstance(options, Mapping) else getattr(options, name)
    return found if isinstance(found, str) else ", ".join(found)


def _inputs(before: Made, after: Made) -> Iterator[tuple[str, str, str]]:
    """What was read and is not the same: runs by their places, the first being the baseline, publications by name."""
    for number, (was, now) in enumerate(zip_longest(_runs(before), _runs(after)), start=1):
        if was and now and (was.label, _contents(was)) == (now.label, _contents(now)):
            continue
        same = len(_contents(was) & _contents(now)) if was and now else None
        yield f"run {number}", describe_run(was), describe_run(now, same)
    old, new = _publications(before), _publications(after)
    yield (
        "publications",
        ", ".join(name for name in old if name not in new),
        ", ".join(name for name in new if name not in old),
    )
    yield from ((name, old[name], new[name]) for name in old if name in new)


def _runs(made: Made) -> Sequence[RecordedRun]:
    return () if isinstance(made, PublishedContent) else made.runs


def _publications(made: Made) -> dict[str, str]:
    """The start of the hash of each publication's content, by its name."""
    return (
        {item.file: item.sha256[:_DIGITS] for item in made.publications} if isinstance(made, PublishedContent) else {}
    )


def _contents(run: RecordedRun) -> frozenset[tuple[str, str]]:
    return frozenset((item.file, item.sha256) for item in run.inputs)


def describe_run(run: RecordedRun | None, same: int | None = None) -> str:
    """A run by its name, how many files it has, and how many of these are the same."""
    if run is None:
        return ""
    number = len(run.inputs)
    files = f"{number} file{'' if number == 1 else 's'}"
    return f"{run.label} ({files})" if same is None else f"{run.label} ({files}, {same} the same)"
