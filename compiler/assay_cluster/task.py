"""Define the tasks of workers and their outcomes: plain data, with everything that the results depend on.

A task fills entries of the shared cache. It may run any number of times, also at once: entries are complete or absent,
and depend only on their inputs.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from assay.app.session.session import Session
from assay.provenance.versions import get_versions
from assay.remote.address import is_address
from assay.util.diagnostics import USAGE, AssayError, Diagnostic, Span, fail
from assay.util.escape import escape_text
from assay.util.program import hash_program
from assay_cluster.entry_storage import EntryStorage
from assay_cluster.queue_files import FOREIGN_HINT

READ, COMPUTE, VERIFY = "read", "compute", "verify"
TOKENS_KIND = "clusters"  # of the cache: a file for each build, by which workers recognize the cache
READINGS_KIND = "readings"  # of object storage: outcomes of tasks that read objects


@dataclass(frozen=True, slots=True)
class Requirements:
    """What the machine of a worker must have in common with the coordinator's.

    `versions` are those of Assay and its tools, `program` is the hash of Assay's code, `specs` that of the specs of a
    `system`. `token` is the name of a file in the shared cache. `workspace` and `cache` are the coordinator's folders;
    `cache` is the address of a cache on object storage.
    """

    versions: Mapping[str, str]
    program: str
    system: str
    specs: str
    token: str
    workspace: str
    cache: str


@dataclass(frozen=True, slots=True)
class Task:
    """Work on some hosts of a run.

    `run`, `hosts` (a number) and `size` (bytes of their logs) are for messages; `body` depends on the kind. `seal`
    shows that the coordinator has written the task: its hash with the secret of the build, which is in the cache.
    """

    name: str
    kind: str
    run: str
    hosts: int
    size: int
    requirements: Requirements
    body: Mapping[str, Any]
    seal: str = ""

    def add_seal(self, secret: str) -> Task:
        """Return the task with its seal."""
        return replace(self, seal=self._compute_seal(secret))

    def is_sealed(self, secret: str) -> bool:
        """Return whether the coordinator of a build has written the task as it is."""
        return hmac.compare_digest(self.seal.encode(), self._compute_seal(secret).encode())

    def _compute_seal(self, secret: str) -> str:
        text = json.dumps(asdict(replace(self, name="", seal="")), sort_keys=True)  # a task may run under any name
        return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Return the task as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Task:
        """Return the task of plain data that `to_json` returned."""
        return Task(**{**data, "requirements": Requirements(**data["requirements"])})


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a task: its `problems`, or what the coordinator needs besides the cache (`body`).

    If `is_retryable`, the problems are those of the worker's machine, so that another worker may succeed. `seconds` is
    wall time, `processor_seconds` the processor time of the worker.
    """

    task: str
    worker: str
    seconds: float = 0.0
    processor_seconds: float = 0.0
    body: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Diagnostic, ...] = ()
    status: int = 0
    is_retryable: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Outcome:
        """Return the outcome of plain data that `to_json` returned."""
        return Outcome(**{**data, "problems": tuple(map(_read_problem, data["problems"]))})

    def raise_problems(self) -> None:
        """Raise AssayError if the task failed."""
        if self.problems:
            raise AssayError(self.problems, self.status)


def _read_problem(data: Mapping[str, Any]) -> Diagnostic:
    span = Span(**data["span"]) if data["span"] else None
    related = tuple(Span(**item) for item in data["related"])
    return Diagnostic(**{**data, "span": span, "related": related, "notes": tuple(data["notes"])})


def name_worker() -> str:
    """Return the name of this process among all workers."""
    return f"{socket.gethostname()}-{os.getpid()}"


def hash_reading(task: Task) -> str:
    """Return the hash of what the outcome of reading objects depends on: their versions, the specs, and Assay."""
    required = task.requirements
    text = json.dumps([task.body, required.versions, required.program, required.system, required.specs])
    return hashlib.sha256(text.encode()).hexdigest()


def create_requirements(session: Session, storage: EntryStorage, system: str, specs: str) -> Requirements:
    """Return what workers need for a build, and put a file into the cache by which they recognize it: its secret."""
    workspace, cache = str(session.workspace.root.absolute()), _get_cache_place(session)
    token = secrets.token_hex(16)
    storage.put_text((TOKENS_KIND, token), secrets.token_hex(32))
    return Requirements(get_versions(), hash_program(), system, specs, token, workspace, cache)


def read_secret(required: Requirements, storage: EntryStorage) -> str | None:
    """Return the secret of a build from the cache; None if this is not its cache."""
    is_token = re.fullmatch(r"[0-9a-f]{32}", required.token)
    return storage.read_text((TOKENS_KIND, required.token)) if is_token else None


def check_task(task: Task, session: Session, storage: EntryStorage) -> None:
    """Check that this machine has what a task requires, and that it is a task of its build.

    A build names the files of its runs and of the cache only. Raises AssayError, with the status of usage if the
    machine lacks something.
    """
    check_requirements(task.requirements, session, storage)
    secret = read_secret(task.requirements, storage)
    if not secret or not task.is_sealed(secret):
        raise fail("queue-file", f"the coordinator of the build has not written this task: {escape_text(task.name)}",
                   hint=FOREIGN_HINT)  # fmt: skip


def _get_cache_place(session: Session) -> str:
    """Return the address of the cache, or its folder."""
    return session.storage or str(session.store.folder.absolute())


def check_requirements(required: Requirements, session: Session, storage: EntryStorage) -> None:
    """Check that this machine has what a task requires. Raises AssayError (usage) that says how to mend it."""
    if problems := [*_list_version_problems(required), *_list_cache_problems(required, session, storage)]:
        raise AssayError(problems, USAGE)
    is_known = required.system in session.workspace.list_systems()
    specs = session.load_package(required.system).sources if is_known else ""
    if specs != required.specs:
        raise fail(
            "other-specs",
            f"the specs of `{required.system}` are not those of the build",
            expected=f"specs with the hash {required.specs[:16]}, as in {required.workspace}",
            found=f"{specs[:16] or 'none'} in {session.workspace.root}",
            hint="start the worker in the workspace of the build, or in a copy of the same commit",
            status=USAGE,
        )


def _list_version_problems(required: Requirements) -> Sequence[Diagnostic]:
    versions = get_versions()
    problems = [
        Diagnostic(
            "other-version",
            f"this worker has another version of {name} than the build",
            expected=f"{name} {version}",
            found=f"{name} {versions.get(name, 'is missing')}",
            hint=f"install Assay {required.versions['assay']} with its pinned packages on all machines",
        )
        for name, version in required.versions.items()
        if versions.get(name) != version
    ]
    if problems or required.program == hash_program():
        return problems
    hint = "install the same build of Assay on all machines, or update the checkout to the same commit"
    message = "this worker has other code of Assay than the build"
    expected, actual = f"code with the hash {required.program[:16]}", hash_program()[:16]
    return [Diagnostic("other-version", message, expected=expected, found=actual, hint=hint)]


def _list_cache_problems(required: Requirements, session: Session, storage: EntryStorage) -> Sequence[Diagnostic]:
    is_same = is_address(required.cache) is bool(storage.address)
    if is_same and read_secret(required, storage) is not None:
        return []
    hint = "pass --cache DIR to both: a folder that all machines share"
    if is_address(required.cache):
        hint = f"pass --cache {required.cache} to the worker"
    message = "the cache of this worker is not the cache of the build"
    expected, actual = f"{required.cache} of the coordinator", _get_cache_place(session)
    return [Diagnostic("other-cache", message, expected=expected, found=actual, hint=hint)]


def encode(data: Mapping[str, Any]) -> bytes:
    """Return plain data as JSON. Raises TypeError for other data."""
    return json.dumps(data).encode()
