"""Write `provenance.json`: all inputs and tool versions of a build.

`content` has no paths of this machine, and `hash` is its hash. `places` has the paths of the runs, `forms` the output
forms of the report (left out if the only form is PDF).
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.ingest.run_constants import find_constant_file
from assay.lang import plain_data
from assay.lang.checked_package import CheckedPackage
from assay.lang.model.filters import FilterSource
from assay.lang.model.package import Package
from assay.lang.model.report import Report
from assay.provenance.read import FORMAT, hash_content
from assay.provenance.versions import get_form_tools, get_versions
from assay.report.output_forms import DEFAULT_FORMS
from assay.util import checksums

if TYPE_CHECKING:
    from assay.report.run_results import Choices, RunFigures

File = tuple[str, int, str]
"""Name of an input file relative to its run's directory, bytes, sha256."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a run: its place, logs, documents of constants, and malformed lines by host.

    `resources` are the costs of reading it.
    """

    run: str
    place: str
    files: tuple[File, ...]
    documents: tuple[File, ...]
    quarantined: tuple[tuple[str, int], ...]
    resources: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CutRuns:
    """How runs were cut into phases.

    `grains` maps each grain to its instant; `runs` maps each run to its instants (name, ns, source) and its phases.
    """

    grains: Mapping[str, str]
    runs: Mapping[str, tuple[tuple[tuple[str, int, str], ...], tuple[RunFigures, ...]]]


def add_forms(document: Mapping[str, object], forms: Sequence[str]) -> dict[str, object]:
    """Return a provenance with the output forms of the report, each with the versions of its own tools."""
    if tuple(forms) == DEFAULT_FORMS:
        return dict(document)
    return {
        "format": document["format"],
        "hash": document["hash"],
        "forms": {form: get_form_tools(form) for form in forms},
        **document,
    }


def list_documents(
    package: Package, constants: Mapping[str, object], directory: Path, raw_names: Collection[str] = ()
) -> tuple[File, ...]:
    """Return the files that the constants of a run were read from, by name; `constants` are those that were read.

    Raw files, whose names are `raw_names`, are left out, since a provenance has their hashes already.
    """
    read = [item for source in package.sources for item in source.constants if item.name in constants]
    files = (find_constant_file(item, directory) for item in read)
    names = {file.relative_to(directory).as_posix() for file in files if file}
    return tuple(hash_input_file(directory, name) for name in sorted(names - {*raw_names}))


def hash_input_file(directory: Path, name: str) -> File:
    """Return the name, size and hash of an input file.  Raises OSError."""
    path = directory / name
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "no regular file", str(path))
    with path.open("rb") as stream:
        return name, path.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest()


def build_publications_provenance(
    report: str,
    edition: str,
    options: Mapping[str, str],
    files: Sequence[tuple[Path, str]],
    specs: str,
    definition: str,
    templates: Path,
    builds: Sequence[tuple[Path, str, str]] = (),
) -> dict[str, object]:
    """Return the provenance of a report of publications, each a file and the name of its edition.

    `builds` are those of a history: results.json, workload and day. `edition` is empty for a history. For a report that
    is built again from its publication, the first file, it is that publication's edition.
    """
    read = [(hash_input_file(path.parent, path.name), name) for path, name in files]
    content: dict[str, object] = {
        "report": report,
        "edition": edition,
        "options": dict(options),
        "versions": get_versions(),
        "specs": specs,
        "outline": definition,
        "templates": hash_templates(templates),
        "publications": [
            {"file": name, "bytes": size, "sha256": digest, "edition": form} for (name, size, digest), form in read
        ],
    }
    places = {"publications": [str(path) for path, _ in files]}
    if builds:
        content["builds"] = [
            {**_describe_file(hash_input_file(path.parent, path.name)), "workload": workload, "day": day}
            for path, workload, day in builds
        ]
        places["builds"] = [str(path.parent) for path, _, _ in builds]
    return {"format": FORMAT, "hash": hash_content(content), "content": content, "places": places}


def hash_outline(report: Report, prose: Mapping[str, str]) -> str:
    """Return the hash of a report's definition (its contents, order and titles) and of its prose by file."""
    plain = plain_data.to_plain_data(report)
    return hash_content({"report": plain, "prose": dict(prose)} if prose else plain)


def hash_judgement(package: Package, report: Report, metrics: Sequence[str]) -> str:
    """Return the hash of what decides on intervals and verdicts, apart from the definitions of the metrics.

    It covers the judgement of the report, the margins of its metrics, and time and cluster of their grains.
    """
    judged = [metric for metric in package.metrics if metric.id in metrics]
    grain_names = {metric.grain for metric in judged}
    return hash_content(
        {
            "judgement": plain_data.to_plain_data(report.judgement),
            "margins": {metric.id: plain_data.to_plain_data(metric.margin) for metric in judged if metric.margin},
            "grains": {
                grain.name: [grain.time, grain.cluster] for grain in package.grains if grain.name in grain_names
            },
        }
    )


def hash_templates(folder: Path) -> str:
    """Return the hash of the names and contents of all template files that are not hidden, fonts included."""
    files = ((path.relative_to(folder), path) for path in sorted(folder.rglob("*")) if path.is_file())
    hashes = {
        name.as_posix(): checksums.hash_file(path)
        for name, path in files
        if not any(part[0] == "." for part in name.parts)
    }
    return hash_content(hashes)


def _label_runs(report: Report, runs: Sequence[RunFigures]) -> Sequence[str]:
    from assay.report.run_results import label_runs  # imports sqlglot, which a cached build does not need

    return label_runs(report, runs)


def build_provenance(
    checked: CheckedPackage,
    report: Report,
    metrics: Sequence[str],
    choices: Choices,
    runs: Sequence[RunFigures],
    inputs: Sequence[Inputs],
    templates: Path,
    prose: Mapping[str, str] | None = None,
    cut: CutRuns | None = None,
    claims: Sequence[object] = (),
    calibration: Sequence[RunFigures] = (),
) -> dict[str, object]:
    """Return the provenance of a build as plain data: everything that is needed to build it again.

    `inputs` are those of the runs, then of the calibration runs. `prose` is text by file, `cut` how runs were cut into
    phases, `claims` the claims of documents with their results, as plain data.
    """
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
            **({"margin": choices.margin} if choices.margin else {}),
            **({"repeats": True} if choices.measures_noise else {}),
            **({"columns": list(choices.columns)} if choices.columns else {}),
            **({"details": list(choices.details)} if choices.details else {}),
            **({"by": choices.by} if choices.by else {}),
            **({"edition": choices.edition} if choices.edition else {}),
            **_describe_filter_files(choices.filter_files),
        },
        "versions": get_versions(),
        "specs": checked.sources,
        "definitions": {name: checked.definitions[name] for name in sorted(metrics)},
        "outline": hash_outline(report, prose or {}),
        "templates": hash_templates(templates),
        "runs": _describe_runs(report, runs, inputs[: len(runs)]),
    }
    if cut:
        content["cut_by"] = dict(sorted(cut.grains.items()))
        content["phases"] = {run.id: _describe_phases(*cut.runs[run.id]) for run in runs}
    content |= {"claims": list(claims)} if claims else {}
    if report.judgement and len(runs) > 1:
        content["judgement"] = hash_judgement(checked.package, report, metrics)
    if calibration:
        content["calibration"] = _describe_runs(report, calibration, inputs[len(runs) :])
    return {
        "format": FORMAT,
        "hash": hash_content(content),
        "content": content,
        "places": {item.run: item.place for item in inputs},
        "resources": {item.run: dict(item.resources) for item in inputs},
    }


def _describe_filter_files(files: Sequence[FilterSource]) -> dict[str, object]:
    described_files = [{**asdict(item), "filters": list(item.filters)} for item in files]
    return {"filter_files": described_files} if described_files else {}


def _describe_runs(report: Report, runs: Sequence[RunFigures], inputs: Sequence[Inputs]) -> list[dict[str, object]]:
    return [_describe_run(*item) for item in zip(runs, _label_runs(report, runs), inputs, strict=True)]


def _describe_run(run: RunFigures, label: str, inputs: Inputs) -> dict[str, object]:
    return {
        "id": run.id,
        "label": label,
        "files": [_describe_file(item) for item in inputs.files],
        "documents": [_describe_file(item) for item in inputs.documents],
        "quarantined": [{"host": host, "lines": lines} for host, lines in inputs.quarantined],
        "filters": _describe_filters(run),
        **({"version": run.version} if run.version else {}),
        **({"named": True} if run.is_named else {}),
    }


def _describe_filters(run: RunFigures) -> list[dict[str, object]]:
    return [
        {"filter": item.filter, "argument": item.argument, "grain": item.grain, "rejected": item.rejected,
         "rows": item.rows}
        for item in run.results.filters
    ]  # fmt: skip


def _describe_phases(instants: Sequence[tuple[str, int, str]], phases: Sequence[RunFigures]) -> dict[str, object]:
    described_instants = [dict(zip(("instant", "t_ns", "set_by"), item, strict=True)) for item in instants]
    described_phases = [
        {
            "phase": run.phase.name,
            "since_ns": run.phase.since,
            "until_ns": run.phase.until,
            "filters": _describe_filters(run),
        }
        for run in phases
        if run.phase
    ]
    return {"instants": described_instants, "phases": described_phases}


def _describe_file(item: File) -> dict[str, object]:
    return dict(zip(("file", "bytes", "sha256"), item, strict=True))


def format_provenance(document: Mapping[str, object], checked: CheckedPackage) -> dict[str, str]:
    """Return what the report prints of its provenance: label -> text."""
    tools = get_versions()
    return {
        "Provenance": str(document["hash"]),
        "Specs": checked.sources,
        "Assay": tools.pop("assay"),
        **tools,
    }
