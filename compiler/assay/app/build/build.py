"""`assay build`: build a report of any kind, or reuse a finished build.

The inputs of a build are the files of the runs, the specs, queries, templates and Assay itself, the versions of tools,
and the arguments of the user. A file counts as unchanged if its size, times of change and inode are unchanged; its
content is not read. The cache keeps one build, the latest, for the same arguments.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.app.session.inputs import hash_inputs
from assay.app.session.options import BuildResult, Options, list_report_files
from assay.app.session.outputs import refuse_sources, replace_folder
from assay.app.session.runs import parse_runs
from assay.app.session.session import Session
from assay.app.session.stages import log_stage
from assay.engine.pruning import mark_used
from assay.lang import source_index
from assay.provenance.versions import get_form_tools
from assay.report.charts.converter import start_converters
from assay.runs.model import NamedRun
from assay.util import atomic
from assay.util.checksums import is_sealed, seal
from assay.util.diagnostics import USAGE, AssayError, fail
from assay.util.paths import resolve_path

KIND = "builds"
DRAWINGS = "drawings"
RESULTS = "results.json"
FILES, FACTS = "report", "facts.json"


class _BuildGoneError(Exception):
    """A cached build cannot be copied, or was replaced while it was copied."""


@dataclass(frozen=True, slots=True)
class _BuildKey:
    """The arguments of a build, which determine its place in the cache."""

    session: Session
    name: str
    runs: tuple[NamedRun, ...]
    options: Options

    @property
    def folder(self) -> Path:
        """Return the cache folder of the build, named by the hash of its arguments and of the workspace's path."""
        run_places = [
            [run.id, run.version, run.is_calibration, run.is_named, run.place, str(resolve_path(run.directory))]
            for run in self.runs
        ]
        key_parts = [str(self.session.workspace.root), self.name, run_places, dataclasses.asdict(self.options)]
        key = hashlib.sha256(json.dumps(key_parts).encode()).hexdigest()
        return self.session.store.get_path(KIND, key)

    @property
    def sources(self) -> str:
        """Return the hash of the specs' sources; empty if it is unknown or a file of the specs has changed."""
        system = self.name.partition("/")[0]
        return source_index.read_unchanged_sources(self.session.store.folder, self.session.workspace.root, system) or ""

    def hash_inputs(self) -> str:
        """Return one hash of the inputs, as `hash_inputs` does."""
        tools = {form: get_form_tools(form) for form in self.options.forms}
        texts = [Path(text) for text in (self.options.observations, self.options.texts) if text]
        return hash_inputs(self.session, self.runs, self.options.filters, texts, tools)


@dataclasses.dataclass(frozen=True, slots=True)
class ReportInputs:
    """What a report is built from: runs (`NAME=DIR`), and for a history publications."""

    runs: Sequence[str]
    publications: Sequence[Path] = ()


def build_report(session: Session, name: str, runs: Sequence[str], out: Path, options: Options) -> BuildResult:
    """Build the report `system/name` over runs (`NAME=DIR`), as `build_any_report` does, or copy a cached build.

    Histories are not cached. Raises AssayError.
    """
    # The question needs the package, which a cached build does not load.
    if any((Path(text.rpartition("=")[2]) / RESULTS).is_file() for text in runs) and not session.is_of_runs(name):
        return build_any_report(session, name, ReportInputs(runs), out, options)
    build_key = _BuildKey(session, name, parse_runs(runs, options.calibration), options)
    refuse_sources(session, out, build_key.runs)
    inputs_hash = build_key.hash_inputs() if all(run.is_here for run in build_key.runs) else ""
    return (_restore(build_key, inputs_hash, out) if inputs_hash else None) or _build_and_store(
        build_key, inputs_hash, runs, out
    )


def _restore(build_key: _BuildKey, inputs_hash: str, out: Path) -> BuildResult | None:
    """Copy the cached build into the folder `out`; return None if there is none for these inputs."""
    folder, sources = build_key.folder, build_key.sources
    facts = _read_facts(folder)
    if not sources or (facts.get("made_of"), facts.get("sources")) != (inputs_hash, sources) or not is_sealed(folder):
        return None
    with contextlib.suppress(_BuildGoneError), log_stage("kept", report=build_key.name):
        with replace_folder(out, build_key.session.get_wait_notice(out)) as new_folder:
            _copy_files(folder, new_folder)
            if _read_facts(folder) != facts:  # another process replaced the build meanwhile
                raise _BuildGoneError
        mark_used(folder)
        return BuildResult(out, list_report_files(out, build_key.options.forms), tuple(facts["warnings"]))
    return None


def _read_facts(folder: Path) -> dict[str, Any]:
    """Return the inputs and warnings of a cached build; empty if there is no such build."""
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _copy_files(folder: Path, target: Path) -> None:
    try:
        shutil.copytree(folder / FILES, target, dirs_exist_ok=True, copy_function=shutil.copyfile)
    except OSError:  # the caller builds anew, which reports errors that persist
        raise _BuildGoneError from None


def _start_converters(session: Session) -> None:
    """Start chart converters early if the cache has no drawings, since then all charts have to be drawn."""
    if not session.store.get_path(DRAWINGS, "").exists():
        with contextlib.suppress(AssayError, OSError):  # drawing the charts reports errors
            start_converters(session.get_templates() / "fonts")


def _build_and_store(build_key: _BuildKey, inputs_hash: str, runs: Sequence[str], out: Path) -> BuildResult:
    """Build the report and store the build in the cache, unless the cache cannot be written or inputs changed."""
    _start_converters(build_key.session)
    stored_folders: list[Path] = []

    def store_build(folder: Path) -> None:
        with contextlib.suppress(OSError, AssayError):
            temporary_folder = build_key.session.store.create_folder()
            shutil.copytree(folder, temporary_folder / FILES, copy_function=shutil.copyfile)
            stored_folders.append(temporary_folder)

    session = dataclasses.replace(build_key.session, on_finished=store_build) if inputs_hash else build_key.session
    build_result = build_any_report(session, build_key.name, ReportInputs(runs), out, build_key.options)
    package = session.packages.get(build_key.name.partition("/")[0])
    if stored_folders and package and build_key.sources == package.sources and build_key.hash_inputs() == inputs_hash:
        facts = {"made_of": inputs_hash, "sources": package.sources, "warnings": build_result.warnings}
        with contextlib.suppress(OSError):
            (stored_folders[0] / FACTS).write_text(json.dumps(facts), encoding="utf-8")
            seal(stored_folders[0], build_key.folder.name)
            atomic.install(session.store.folder, stored_folders[0], build_key.folder, replaces_sealed=True)
    return build_result


def build_any_report(session: Session, name: str, inputs: ReportInputs, out: Path, options: Options) -> BuildResult:
    """Build the report `system/name` over runs (`NAME=DIR`), or the history of that name.

    A history is built over publications and builds (`WORKLOAD=DIR`), which the runs are in this case.

    Raises AssayError, also (usage) for publications of a report over runs.
    """
    # Imports are local, so that a build loads only the modules that its kind of report needs.
    if not session.is_of_runs(name):
        from assay.app.build.history import HistoryInputs, build_history, parse_builds

        builds = parse_builds(session, name, inputs.runs)
        return build_history(session, name, HistoryInputs(inputs.publications, builds), out, options)
    if inputs.publications:
        raise fail(
            "report-inputs",
            f"`{name}` is built from runs, not from publications",
            hint="pass --run instead of --publication",
            status=USAGE,
        )
    parsed_runs = parse_runs(inputs.runs, options.calibration)
    refuse_sources(session, out, parsed_runs)
    checked, _ = session.find_report(name)
    if all(run.is_here for run in parsed_runs) and not session.filler:
        package = checked.package
        session.run_hasher.begin([(run.id, run.directory) for run in parsed_runs], package.sources, package.events)
    from assay.app.build.build_runs import build_runs

    return build_runs(session, name, parsed_runs, out, options)
