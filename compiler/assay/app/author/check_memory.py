"""Remember what `assay check` proved, so that it is not proved again for the same inputs.

A system has one entry in the cache: the outcomes of its checks, by the hash of all inputs, and the SQL statements that
passed, by the hash of all that their run depends on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from assay.app.session.session import Session
from assay.engine.result_cache import Store, read_sealed_text
from assay.lang import source_index
from assay.util.checksums import seal_text
from assay.util.paths import resolve_path
from assay.util.program import hash_program

SqlMemory = Mapping[str, tuple[tuple[str, str], ...]]
"""The columns of the tables of statements that passed, by the hash of each statement."""

KIND = "checks"  # folder of the cache
MAX_OUTCOMES, MAX_STATEMENTS = 20, 20_000


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What `assay check` prints of a system without problems: counts of definitions, and metrics without a report."""

    counts: Mapping[str, int]
    unshown_metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckMemory:
    """What former checks of a system proved; the latest come last."""

    outcomes: Mapping[str, CheckOutcome] = field(default_factory=dict)
    passed: SqlMemory = field(default_factory=dict)

    def add(self, inputs: str, outcome: CheckOutcome, passed: SqlMemory) -> CheckMemory:
        """Return this memory with another check."""
        outcomes = {key: item for key, item in self.outcomes.items() if key != inputs} | {inputs: outcome}
        statements = {key: item for key, item in self.passed.items() if key not in passed} | dict(passed)
        return CheckMemory(dict([*outcomes.items()][-MAX_OUTCOMES:]), dict([*statements.items()][-MAX_STATEMENTS:]))


def read_memory(store: Store, system: str) -> CheckMemory:
    """Return what former checks of a system proved: nothing if Assay or the engine has changed since."""
    try:
        content = json.loads(read_sealed_text(_get_path(store, system)) or "{}")
        outcomes = {key: CheckOutcome(counts, tuple(unshown)) for key, (counts, unshown) in content["outcomes"].items()}
        passed = {key: tuple((name, kind) for name, kind in columns) for key, columns in content["passed"].items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return CheckMemory()
    return CheckMemory(outcomes, passed)


def write_memory(store: Store, system: str, memory: CheckMemory) -> None:
    """Write what checks of a system proved. Raises AssayError if the cache cannot be written."""
    outcomes = {key: [item.counts, item.unshown_metrics] for key, item in memory.outcomes.items()}
    text = json.dumps({"outcomes": outcomes, "passed": memory.passed}, separators=(",", ":"))
    path = _get_path(store, system)
    store.put(KIND, path.name, seal_text(path.name, text))


def _get_path(store: Store, system: str) -> Path:
    key = json.dumps([system, hash_program(), version("duckdb")])
    return store.get_path(KIND, f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.sealed")


def find_unchanged_sources(session: Session, system: str) -> str:
    """Return the hash of a system's specs if they are those of the last command; empty if they have changed."""
    return source_index.read_unchanged_sources(session.store.folder, session.workspace.root, system) or ""


def hash_inputs(session: Session, system: str, sources: str) -> str:
    """Return the hash of the inputs of a check, besides the code: specs, prose, names of chart templates.

    Raises AssayError `template` for a link out of the workspace.
    """
    folder = session.workspace.specs / system
    texts = {
        path.relative_to(folder).as_posix(): [str(resolve_path(path)), hashlib.sha256(path.read_bytes()).hexdigest()]
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".dhall"
    }
    charts = sorted(path.name for path in (session.get_templates() / "charts").glob("*"))
    content = json.dumps([sources, str(resolve_path(session.workspace.root)), texts, charts], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]
