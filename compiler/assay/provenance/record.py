"""Write `provenance.json`: all inputs and tool versions of a build.

`content` names no place of this machine, and `hash` is of it alone; `places` tells where the runs were, `forms`
(left out where it is a PDF alone) in which forms the report was written.
"""

from __future__ import annotations

import errno
import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from assay.lang import normal_form
from assay.lang.model.article import Article
from assay.lang.model.package import Package
from assay.lang.model.report import Report
from assay.lang.normal_form import CheckedPackage
from assay.provenance.read import FORMAT, content_hash
from assay.report.output_forms import TOOLS as FORM_TOOLS
from assay.report.output_forms import USUAL, VEGA_LITE
from assay.report.run_results import Choices, RunFigures, labels
from assay.util import checksums

TOOLS = ("duckdb", "sqlglot", "typst", "vl-convert-python")


def versions() -> dict[str, str]:
    """Versions of Assay and of the tools that shape its output.

    Python's is not among them: no output may depend on it.
    """
    return {**{name: _version(name) for name in ("assay", *TOOLS)}, "vega-lite": VEGA_LITE}


def form_tools(form: str) -> dict[str, str]:
    """The versions of the tools that only one form of a report needs."""
    return {name: _version(name) for name in FORM_TOOLS[form]}


@functools.cache
def _version(name: str) -> str:
    """The version of a package that is installed."""
    return metadata.version(name)


File = tuple[str, int, str]
"""Name of an input file from its run's directory, bytes, sha256."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The input files of a run: where it is, its logs, the documents of its constants, what was quarantined, and what
    reading it comes to."""

    run: str
    place: str
    files: tuple[File, ...]
    documents: tuple[File, ...]
    quarantined: tuple[tuple[str, int], ...]
    resources: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CutRuns:
    """How runs were cut by phases: the instant of each grain; by run, the instants (name, ns, what told it) and the
    phases as the report has them."""

    grains: Mapping[str, str]
    runs: Mapping[str, tuple[tuple[tuple[str, int, str], ...], tuple[RunFigures, ...]]]


def in_forms(made: Mapping[str, object], forms: Sequence[str]) -> dict[str, object]:
    """A provenance with the forms that the report takes, each with the versions of the tools that only it needs."""
    if tuple(forms) == USUAL:
        return dict(made)
    return {"format": made["format"], "hash": made["hash"], "forms": {form: form_tools(form) for form in forms}, **made}


def documents(package: Package, constants: Mapping[str, object], directory: Path) -> tuple[File, ...]:
    """The files of a run that its constants were read from, by name; `constants` are those that were read."""
    read = [item for source in package.sources for item in source.constants if item.name in constants]
    named = (next((name for name in item.files if (directory / name).is_file()), "") for item in read)
    return tuple(file_of(directory, name) for name in sorted({*named} - {""}))


def file_of(directory: Path, name: str) -> File:
    """An input file as it is now.  Raises OSError."""
    place = directory / name
    if place.exists() and not place.is_file():
        raise OSError(errno.EINVAL, "no regular file", str(place))
    with place.open("rb") as stream:
        return name, place.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest()


def of_publications(
    report: str,
    edition: str,
    options: Mapping[str, str],
    files: Sequence[tuple[Path, str]],
    specs: str,
    definition: str,
    templates: Path,
) -> dict[str, object]:
    """The provenance of what is made of publications, each a file and the name of its edition.

    `edition` is empty for a history; for a report made again, whose first file is the publication, it is that one's.
    """
    read = [(file_of(path.parent, path.name), name) for path, name in files]
    content: dict[str, object] = {
        "report": report,
        "edition": edition,
        "options": dict(options),
        "versions": versions(),
        "specs": specs,
        "outline": definition,
        "templates": templates_hash(templates),
        "publications": [
            {"file": name, "bytes": size, "sha256": digest, "edition": form} for (name, size, digest), form in read
        ],
    }
    places = {"publications": [str(path) for path, _ in files]}
    return {"format": FORMAT, "hash": content_hash(content), "content": content, "places": places}


def outline(report: Report | Article, prose: Mapping[str, str]) -> str:
    """Hash of a report's definition: what it shows, in which order and under which titles, and its prose by file."""
    plain = normal_form.to_plain_data(report)
    return content_hash({"report": plain, "prose": dict(prose)} if prose else plain)


def templates_hash(folder: Path) -> str:
    """Hash of the templates: the names and contents of all files, fonts among them, that are not hidden."""
    files = ((path.relative_to(folder), path) for path in sorted(folder.rglob("*")) if path.is_file())
    seen = {
        name.as_posix(): checksums.hash_file(path)
        for name, path in files
        if not any(part[0] == "." for part in name.parts)
    }
    return content_hash(seen)


def _labels(report: Report | Article, runs: Sequence[RunFigures]) -> Sequence[str]:
    if isinstance(report, Article):
        from assay.report.article import labels_of  # loads what only articles are made with

        return labels_of(report, runs)
    return labels(report, runs)


def provenance(
    checked: CheckedPackage,
    report: Report | Article,
    metrics: Sequence[str],
    choices: Choices,
    runs: Sequence[RunFigures],
    inputs: Sequence[Inputs],
    templates: Path,
    prose: Mapping[str, str] | None = None,
    cut: CutRuns | None = None,
    claims: Sequence[object] = (),
) -> dict[str, object]:
    """The provenance of a build as plain data: all that it takes to make it again; `prose` is text by file, `cut` how
    runs were cut by phases.

    `claims` are what documents say of it, beside what was found, as plain data.
    """
    named = _labels(report, runs)
    content: dict[str, object] = {
        "report": f"{checked.package.system}/{report.name}",
        "options": {
            "style": choices.style,
            "summary": choices.summary,
            "filters": list(choices.filters),
            "date": choices.date,
            "title": choices.title,
            "author": choices.author,
            **({"at": list(choices.at)} if choices.at else {}),
            **({"phases": list(choices.phases)} if choices.phases else {}),
        },
        "versions": versions(),
        "specs": checked.sources,
        "definitions": {name: checked.definitions[name] for name in sorted(metrics)},
        "outline": outline(report, prose or {}),
        "templates": templates_hash(templates),
        "runs": [_run(*item) for item in zip(runs, named, inputs, strict=True)],
    }
    if cut:
        content["cut_by"] = dict(sorted(cut.grains.items()))
        content["phases"] = {run.id: _phases(*cut.runs[run.id]) for run in runs}
    content |= {"claims": list(claims)} if claims else {}
    return {
        "format": FORMAT,
        "hash": content_hash(content),
        "content": content,
        "places": {item.run: item.place for item in inputs},
        "resources": {item.run: dict(item.resources) for item in inputs},
    }


def _run(run: RunFigures, label: str, inputs: Inputs) -> dict[str, object]:
    return {
        "id": run.id,
        "label": label,
        "files": [_file(item) for item in inputs.files],
        "documents": [_file(item) for item in inputs.documents],
        "quarantined": [{"host": host, "lines": lines} for host, lines in inputs.quarantined],
        "filters": _filters(run),
    }


def _filters(run: RunFigures) -> list[dict[str, object]]:
    return [
        {"filter": item.filter, "argument": item.argument, "grain": item.grain, "rejected": item.rejected,
         "rows": item.rows}
        for item in run.results.filters
    ]  # fmt: skip


def _phases(instants: Sequence[tuple[str, int, str]], phases: Sequence[RunFigures]) -> dict[str, object]:
    told = [dict(zip(("instant", "t_ns", "told_by"), item, strict=True)) for item in instants]
    found = [
        {"phase": run.phase.name, "since_ns": run.phase.since, "until_ns": run.phase.until, "filters": _filters(run)}
        for run in phases
        if run.phase
    ]
    return {"instants": told, "phases": found}


def _file(item: File) -> dict[str, object]:
    return dict(zip(("file", "bytes", "sha256"), item, strict=True))


def printed(found: Mapping[str, object], checked: CheckedPackage) -> dict[str, str]:
    """What the report prints of its provenance: label -> text."""
    tools = versions()
    return {
        "Provenance": str(found["hash"]),
        "Specs": checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }
