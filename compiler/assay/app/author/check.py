"""Check the specs of a system (`assay check`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.app.author.check_memory import (
    CheckOutcome,
    find_unchanged_sources,
    hash_inputs,
    read_memory,
    write_memory,
)
from assay.app.session.session import Session
from assay.lang import workspace
from assay.lang.normal_form_header import read_header
from assay.util.diagnostics import USAGE, fail
from assay.util.paths import resolve_path


@dataclass(frozen=True, slots=True)
class SystemCheck:
    """The result of checking a system.

    `counts` is the number of definitions of each kind. `is_committed` is set if there is a normal form, `is_current` if
    it matches the specs, `has_normal_forms` if the workspace has some of any system. No report has `unshown_metrics`.
    """

    system: str
    counts: Mapping[str, int]
    is_committed: bool
    is_current: bool
    has_normal_forms: bool
    unshown_metrics: tuple[str, ...] = ()


def check_system(session: Session, system: str, accept: bool) -> SystemCheck:
    """Check all specs of a system, run its SQL on empty tables and check its prose.

    What was checked before is not checked again. With `accept`, also write the normal form. Raises AssayError with
    every problem, and (usage) if `accept` is set and the workspace is the shipped one.
    """
    if accept:
        _refuse_shipped_workspace(session)
    outcome, sources = _check_changes(session, system)
    if accept:
        from assay.app.author.accept import compile_system_sql, write_accepted_files  # imports what builds reports

        checked = session.load_package(system)
        write_accepted_files(session, checked, compile_system_sql(session, checked))
    normal_form_path = session.workspace.get_normal_form_path(system)
    is_committed = normal_form_path.is_file()
    accepted_sources = read_header(normal_form_path.read_text(encoding="utf-8")) if is_committed else ""
    return SystemCheck(
        system,
        outcome.counts,
        is_committed,
        accepted_sources == sources,
        normal_form_path.parent.is_dir(),
        outcome.unshown_metrics,
    )


def _check_changes(session: Session, system: str) -> tuple[CheckOutcome, str]:
    """Check what has changed since the last check of a system; return the outcome and the hash of the sources."""
    memory = read_memory(session.store, system)
    sources = find_unchanged_sources(session, system)
    if sources and (outcome := memory.outcomes.get(hash_inputs(session, system, sources))):
        return outcome, sources
    from assay.app.author.full_check import check_package  # imports the engine and what builds reports

    checked = session.load_package(system)
    inputs = hash_inputs(session, system, checked.sources)
    outcome, passed = check_package(session, checked, memory.passed)
    write_memory(session.store, system, memory.add(inputs, outcome, passed))
    return outcome, checked.sources


def _refuse_shipped_workspace(session: Session) -> None:
    """Raise AssayError (usage) if the workspace is the shipped one and is used from outside of its folder."""
    root = resolve_path(session.workspace.root)
    is_shipped = root == resolve_path(workspace.get_shipped_workspace().root)
    if is_shipped and not resolve_path(Path.cwd()).is_relative_to(root):
        raise fail(
            "no-workspace",
            "there is no workspace to write normal forms into",
            notes=session.list_workspace_notes(),
            hint="create a workspace with `assay init DIR`",
            status=USAGE,
        )
