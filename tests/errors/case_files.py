"""Cases of the error tests: a YAML file each, with an edit of a workspace, a command, and its output.

    workspace: shipped              # a name in `tests.errors.workspaces`
    edit:                           # changes of the workspace, in this order
    - file: specs/cardano/grains/block.dhall
      old: of = event.name
      new: of = "block_forgd"
    command: check --system cardano
    status: 1
    stderr: |
      error[unknown-event]: ...

An edit replaces the first `old` by `new`, appends a text (`append`), writes a file (`content`), removes a file or
folder (`remove: true`), or puts a symbolic link in its place (`link: TARGET`).  Without `stdout` none is expected.
If a failing command names the folder `out`, the folder holds an earlier report, which must not change.
`pytest tests/errors --accept` rewrites `status`, `stdout` and `stderr`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.workspaces import edit_file

FOLDER = Path(__file__).parent / "cases"
_ANSWER = re.compile(r"^status: .*", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """The exit status of a command, and its output with the paths of this machine replaced by names."""

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Case:
    """A case: the workspace where it starts, the edits, the command line, and the expected answer."""

    workspace: str
    edits: Sequence[Mapping[str, Any]]
    command: str
    answer: Answer


def list_cases() -> list[str]:
    """Return the names of all cases, `TOPIC/CASE`, sorted."""
    return sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.yaml"))


def read_case(name: str) -> Case:
    """Read a case."""
    data = yaml.safe_load(_get_path(name).read_text(encoding="utf-8"))
    answer = Answer(data.get("status", 0), data.get("stdout", ""), data.get("stderr", ""))
    return Case(data["workspace"], data.get("edit", ()), data["command"], answer)


def accept_answer(name: str, answer: Answer) -> None:
    """Write an answer into the file of a case, in the place of the expected one; at the end of a new case."""
    texts = {"stdout": answer.stdout, "stderr": answer.stderr}
    lines = [f"{key}: {_format_text(text)}\n" for key, text in texts.items() if text or key == "stderr"]
    answer_text = f"status: {answer.status}\n{''.join(lines)}"
    text = _get_path(name).read_text(encoding="utf-8")
    _get_path(name).write_text(_ANSWER.sub("", text) + answer_text, encoding="utf-8")


@contextmanager
def apply_edits(place: Path, edits: Sequence[Mapping[str, Any]], backup: Path) -> Iterator[None]:
    """Make edits in a folder; undo them at the end, and remove what is new there."""
    before = set(place.rglob("*"))
    backup.mkdir()
    saved_contents = []
    try:
        for number, edit in enumerate(edits):
            file = place / edit["file"]
            assert file.parent.resolve().is_relative_to(place.resolve()), f"{file} is outside of the workspace"
            saved_contents.append((file, _move(file, backup / str(number))))
            _apply_edit(file, saved_contents[-1][1], edit)
        yield
    finally:
        for file, copy in reversed(saved_contents):
            _remove(file)
            _move(copy, file)
        for path in sorted(set(place.rglob("*")) - before):
            _remove(path)


def _apply_edit(file: Path, former: Path, edit: Mapping[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    match edit:
        case {"old": old, "new": new}:
            shutil.copy(former, file)
            edit_file(file, old, new)
        case {"append": text}:
            file.write_bytes(former.read_bytes() + text.encode())
        case {"content": text}:
            file.write_text(text, encoding="utf-8")
        case {"link": target}:
            file.symlink_to(target)
        case _:
            assert edit.get("remove"), f"unknown edit: {edit}"


def _move(path: Path, target: Path) -> Path:
    """Move a file, folder or link, where there is one."""
    if path.exists() or path.is_symlink():
        shutil.move(path, target)
    return target


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _format_text(text: str) -> str:
    """Format a text as a YAML scalar: a literal block where there are lines."""
    if not text:
        return "''"
    chomping = "" if text.endswith("\n") else "-"
    lines = "".join(f"  {line}" if line.strip("\n") else line for line in text.splitlines(keepends=True))
    return f"|2{chomping}\n{lines}".removesuffix("\n") if text[0] == " " else f"|{chomping}\n{lines}".removesuffix("\n")


def _get_path(name: str) -> Path:
    return FOLDER / f"{name}.yaml"
