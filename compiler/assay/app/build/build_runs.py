"""`assay build` of a report over runs: prepare, compute, judge, compose, write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.app.build.composed_report import compose_report
from assay.app.build.computed_build import compute_build
from assay.app.build.judged_build import judge_build
from assay.app.build.prepared_report import prepare_report
from assay.app.build.rendering import AssembledReport, write_report
from assay.app.session.options import BuildResult, Options, list_report_files
from assay.app.session.outputs import replace_folder
from assay.app.session.session import Session
from assay.runs.model import NamedRun


def build_runs(session: Session, name: str, runs: Sequence[NamedRun], out: Path, options: Options) -> BuildResult:
    """Build the report `system/name` over runs (the first is the baseline) into the folder `out`.

    Writes the report in the forms of `options`, charts/, results.json, document.json, sql/, provenance.json and
    specs.json; either all of them or none. Raises AssayError.
    """
    with replace_folder(out, session.get_wait_notice(out), session.on_finished) as new_folder:
        warnings = write_report(session, assemble_runs(session, name, runs, options), new_folder, options.forms)
    return BuildResult(out, list_report_files(out, options.forms), warnings)


def assemble_runs(session: Session, name: str, runs: Sequence[NamedRun], options: Options) -> AssembledReport:
    """Compute and judge the report `system/name` over runs, without drawing or writing it. Raises AssayError."""
    prepared = prepare_report(session, name, runs, options)
    computed = compute_build(session, prepared)
    judged = judge_build(session, prepared, computed)
    return compose_report(session, prepared, computed, judged)
