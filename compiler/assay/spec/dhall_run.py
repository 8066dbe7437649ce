"""Evaluation of scanned sources in a separate process: bounded in time and memory, with an empty environment.

The sources are first written to a private folder, so what is evaluated is exactly what was scanned and
hashed, whatever happens to the files meanwhile, and nothing else is there to be imported.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import math
import posixpath
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.spec.imports import SourceFile
from assay.storage.scratch import folder as temporary

SECONDS = 20.0
MEMORY = 2 << 30
PATIENCE = 4  # how many times as long as its processor time an evaluation may last
# Of many small pieces; the heap of a thread grows by a page and two calls of the system each.
_ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_TOP_PAD_": str(64 << 20)}
_PROGRAM = Path(__file__).with_name("dhall_child.py")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an evaluation: `kind` is value, error, broken, panic, time, memory, crash or absent."""

    kind: str
    value: object = None
    text: str = ""


def available() -> bool:
    """Whether the evaluator (the package `dhall`) is installed."""
    return _packages() is not None


def _packages() -> Path | None:
    try:
        found = importlib.util.find_spec("dhall")
    except (ImportError, ValueError):
        return None
    return Path(found.origin).parent.parent if found and found.origin else None


def _started(packages: Path) -> subprocess.Popen[bytes]:
    """A process that waits for what it is to evaluate; it ends when this one does, as its input ends then."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-I", "-S", str(_PROGRAM), str(packages)]
    return subprocess.Popen(command, env=_ALLOCATOR, stdin=pipe, stdout=pipe, stderr=pipe)


class _Ready:
    """A process that was started before it is known what it is to evaluate; none most of the time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, packages: Path) -> None:
        """Start one, unless there is one."""
        with self._lock:
            self._process = self._process or _started(packages)

    def taken(self) -> subprocess.Popen[bytes] | None:
        """The process, which is the caller's from now on, if there is one."""
        with self._lock:
            found, self._process = self._process, None
            return found

    def end(self) -> None:
        """End the process that nobody has taken."""
        if process := self.taken():
            process.communicate()


_ready = _Ready()
atexit.register(_ready.end)


def get_ready() -> None:
    """Start the evaluator where it is installed, beside the work that is left until it is asked for something."""
    if packages := _packages():
        _ready.start(packages)


@dataclass(frozen=True, slots=True)
class Copy:
    """A private copy of the sources in `folder`."""

    folder: Path

    def evaluate(
        self,
        name: str,
        seconds: float,
        inner: Sequence[str] = (),
        memory: int = MEMORY,
        *,
        expression: str = "",
        forms: Path | None = None,
        writes: int = 0,
    ) -> Outcome:
        """The value of the file `name`; before that, each of the texts `inner` must be an expression.

        `seconds` of processor time are allowed; on a busy machine that may last some times as long.  `expression` is
        evaluated in the file's folder instead of it; `forms` is a folder of normal forms of imports with a hash, into
        which, if it may write so many bytes, the evaluator puts those that are missing.
        """
        packages = _packages()
        if packages is None:
            return Outcome("absent")
        folder, base = posixpath.split(name)
        given = {
            "folder": str((self.folder / folder).absolute()),
            "expression": expression or f'./"{base}"',
            "inner": list(inner),
            "limits": [memory, math.ceil(seconds), writes],
            "forms": str(forms.absolute()) if forms else "",
        }
        with _ready.taken() or _started(packages) as process:
            try:
                out, err = process.communicate(json.dumps(given).encode(), timeout=PATIENCE * seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                return Outcome("time")
            except BaseException:  # nobody waits for it any more
                process.kill()
                raise
        return _outcome(process.returncode, out, err.decode("utf-8", "replace"))

    @contextmanager
    def changed(self, name: str, text: str) -> Iterator[None]:
        """For a moment, the file `name` with another text."""
        path = self.folder / name
        before = path.read_bytes()
        path.write_text(text, encoding="utf-8", newline="")
        try:
            yield
        finally:
            path.write_bytes(before)


@contextmanager
def copied(files: Iterable[SourceFile]) -> Iterator[Copy]:
    """A private copy of the sources, removed at the end."""
    with temporary() as folder:
        for file in files:
            path = Path(folder, file.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
        yield Copy(folder)


def _outcome(status: int, out: bytes, err: str) -> Outcome:
    if status == -signal.SIGINT:  # of whoever interrupts this process, too
        raise KeyboardInterrupt
    if status == -signal.SIGXCPU:
        return Outcome("time")
    if status != 0:
        return Outcome("memory" if "memory allocation" in err else "crash", text=_last_line(err))
    try:
        answer: Mapping[str, object] = json.loads(out)
    except (ValueError, RecursionError):
        return Outcome("crash", text=_last_line(err))
    if "value" in answer or "broken" in answer:
        kind = "value" if "value" in answer else "broken"
        return Outcome(kind, answer[kind])
    return _failure(str(answer["error"]), str(answer["text"]))


def _failure(name: str, text: str) -> Outcome:
    absent = {"ImportError": "absent", "ModuleNotFoundError": "absent"}
    kinds = {"TypeError": "error", "MemoryError": "memory", **absent}
    if name == "TypeError" and not text.startswith("Error("):
        return Outcome("crash", text=text)
    return Outcome(kinds.get(name, "panic"), text=text)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
