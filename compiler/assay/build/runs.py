"""Runs as the user names them: `DIR` or `NAME=DIR`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.spec.diagnostics import USAGE, fail


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run's directory, and the id that results have for it."""

    id: str
    directory: Path


def named_runs(texts: Sequence[str]) -> tuple[NamedRun, ...]:
    """The runs of a command line, in order.

    Without a name the directory's is taken; where two are the same, with the names of the folders above until they
    differ.  AssayError (usage) when names clash.
    """
    given = [_parted(text) for text in texts]
    depths = [1] * len(given)
    for _ in range(8):
        names = [name or _tail(path, depth) for (name, path), depth in zip(given, depths, strict=True)]
        clashing = {name for name, times in Counter(names).items() if times > 1}
        if not clashing:
            break
        depths = [
            depth + (name in clashing and not given_name)
            for name, depth, (given_name, _) in zip(names, depths, given, strict=True)
        ]
    else:
        raise fail(
            "run-name",
            f"two runs are called `{sorted(clashing)[0]}`",
            status=USAGE,
            hint="name them: --run NAME=DIR",
        )
    return tuple(NamedRun(name, path) for name, (_, path) in zip(names, given, strict=True))


def _parted(text: str) -> tuple[str, Path]:
    name, equals, directory = text.partition("=")
    if not text or (equals and not Path(text).exists()):
        if not name or not directory:
            raise fail("run-name", f"`{text}` names no run", expected="NAME=DIR or DIR", found=text, status=USAGE)
        return name, Path(directory)
    return "", Path(text)


def _tail(path: Path, depth: int) -> str:
    parts = [part for part in path.absolute().resolve().parts if part not in ("/", "")]
    return "-".join(parts[-depth:]) or "run"
